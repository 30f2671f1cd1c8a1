"""The versions of a live memory as a replay goes on from them, each at the first step that had it."""

from __future__ import annotations

from dataclasses import replace

from contextlab.core.compaction import CompactResult, Snapshot
from contextlab.core.items import IN_CONTEXT, LEFT_OUT, Item, Reason, Verdict
from contextlab.core.projection import Fate
from contextlab.core.replaying.continued import Beginning
from contextlab.core.replaying.fires import Fire
from contextlab.core.spans import Painted
from contextlab.services.compaction.shown import jobs_of
from contextlab.services.live.memory import read_version, result_of
from contextlab.store.models import LiveVersion, MemoryVersion, View


def memories_of(view: View) -> list[Beginning]:
    """The versions that came into force, in order; not the empty one that a session begins with."""
    rows = LiveVersion.objects.filter(memory__view=view, memory__version__gt=1, step__lte=view.session.steps)
    rows = rows.select_related(
        "memory__compaction__run", "memory__restored__compaction", "memory__parent__live"
    )
    last: dict[int, LiveVersion] = {row.step: row for row in rows.order_by("memory__version")}
    return [_beginning(view, row) for row in last.values()]


def _beginning(view: View, row: LiveVersion) -> Beginning:
    version = row.memory
    items, places, _ = read_version(view.session, version)
    fates = _fates(version)
    shown = tuple(_placed(item, places.get(item.id)) for item in items)
    snapshot = Snapshot(shown, version.summary, _result(row))
    due = _due(row)
    inside = set(places.values())
    return Beginning(
        row.step, row.upto, snapshot, "" if due is not None else _name(row),
        {at: what for at, what in fates.items() if what[0] in LEFT_OUT and at not in inside},
        _tokens_before(row), due,
        {at: Fate(*what) for at, what in fates.items() if at in inside and _is_short(what)},
    )  # fmt: skip


def _placed(item: Item, place: int | None) -> Item:
    """An item under the id that replays know: its position, where the log has it."""
    return replace(item, id=f"made {item.id}" if place is None else str(place))


def _is_short(what: Painted) -> bool:
    return what[0] in IN_CONTEXT and what[0] not in (Verdict.KEPT, Verdict.PINNED)


def _fates(version: MemoryVersion) -> dict[int, Painted]:
    """What the compactions that led to a version did to items of the log."""
    found: dict[int, Painted] = {}
    for job in jobs_of(version):
        for first, last, verdict, reason in job.fates:
            what = Verdict(verdict), Reason(reason) if reason else None
            found |= dict.fromkeys(range(first, last + 1), what)
    return found


def _result(row: LiveVersion) -> CompactResult | None:
    """What it goes on from; of the agent's own compactions the summary is all that is known."""
    version = row.memory
    if row.log_compaction is not None:
        return CompactResult(summary=version.summary or "", method="")
    return result_of(version)


def _tokens_before(row: LiveVersion) -> int | None:
    """Of the memory that the compaction read; None where that is not known."""
    job = row.memory.compaction
    return job.tokens_before if job is not None and row.memory.restored_id is None else None


def _name(row: LiveVersion) -> str:
    version = row.memory
    if row.log_compaction is not None:
        return f"the agent's own compaction {row.log_compaction}"
    if version.restored is not None:
        return f"version {version.restored.version} again (version {version.version})"
    return f"compact now (version {version.version})"


def _due(row: LiveVersion) -> Fire | None:
    """The figures of the decision that asked for it; None for what a person or the agent did."""
    job = row.memory.compaction
    told = job.run.params.get("decision") if job is not None and row.memory.restored_id is None else None
    if not told:
        return None
    return Fire(row.step, told.get("rule") or "", told.get("estimate"), told.get("threshold"))
