"""The versions of a live memory as a replay goes on from them, and its policies, each at the first step that had it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from contextlab.core.compaction import CompactResult, Snapshot
from contextlab.core.items import IN_CONTEXT, LEFT_OUT, Item, Reason, Verdict
from contextlab.core.policy import Policy, parse_policy
from contextlab.core.projection import Fate
from contextlab.core.replaying.continued import SUMMARISED, Beginning
from contextlab.core.replaying.fires import Fire
from contextlab.core.spans import Painted
from contextlab.services.compaction.stored import read_version, result_of
from contextlab.store.models import CompactionJob, LiveVersion, PolicyChange, View

Odd = dict[int, Painted]
"""Positions that neither simply stand in a memory nor simply in its summary: dropped, or with a shorter text."""


def memories_of(view: View) -> list[Beginning]:
    """The versions that came into force, in order; not the empty one that a session begins with."""
    rows = LiveVersion.objects.filter(memory__view=view).order_by("memory__version")
    rows = rows.select_related("memory__compaction__run", "memory__restored__compaction")
    known = {row.memory_id: row for row in rows.defer("memory__compaction__raw_reply")}
    last = {
        row.step: row for row in known.values() if row.memory.version > 1 and row.step <= view.session.steps
    }
    wanted = {row.memory_id for row in last.values()}
    odd: Odd = {}
    found: list[Beginning] = []
    for row in known.values():
        odd = _odd_after(odd, row, known)
        if row.memory_id in wanted:
            found.append(_beginning(view, row, odd))
    return found


def policies_of(view: View) -> list[tuple[int, Policy]]:
    """The policies of a live session, each with the first step under it; raises PolicyError."""
    changes = list(PolicyChange.objects.filter(view=view).order_by("id"))
    if not changes:
        return [(1, parse_policy(view.policy or {}))]
    found = [(1, parse_policy(changes[0].before))]
    found += [(change.step, parse_policy(change.policy)) for change in changes]
    return [
        one for one, after in zip(found, [*found[1:], None], strict=True) if not after or after[0] > one[0]
    ]


def _beginning(view: View, row: LiveVersion, odd: Odd) -> Beginning:
    version = row.memory
    items, places, _ = read_version(view.session, version)
    shown = tuple(_placed(item, places.get(item.id)) for item in items)
    snapshot = Snapshot(shown, version.summary, _result(row))
    due = _due(row)
    inside = set(places.values())
    return Beginning(
        row.step, row.upto, snapshot, "" if due is not None else _name(row),
        {at: what for at, what in odd.items() if what[0] in LEFT_OUT and at not in inside},
        _tokens_before(row), due,
        {at: Fate(*what) for at, what in odd.items() if at in inside and what[0] in IN_CONTEXT},
    )  # fmt: skip


def _odd_after(odd: Odd, row: LiveVersion, known: Mapping[int, LiveVersion]) -> Odd:
    """The odd fates behind a version; those before it are given."""
    version = row.memory
    if version.restored_id is None:
        return odd if version.compaction is None else _with_fates(odd, version.compaction.fates)
    jobs: list[CompactionJob] = []
    at = known.get(version.restored_id)
    while at is not None:
        before = at.memory
        if before.compaction is not None and before.restored_id is None:
            jobs.append(before.compaction)
        at = known.get(before.restored_id or before.parent_id or 0)
    found: Odd = {}
    for job in reversed(jobs):
        found = _with_fates(found, job.fates)
    return found


def _with_fates(odd: Odd, fates: Iterable[Sequence[Any]]) -> Odd:
    """What one more compaction did to items of the log."""
    found = dict(odd)
    for first, last, verdict, reason in fates:
        what = Verdict(verdict), Reason(reason) if reason else None
        places = range(first, last + 1)
        if what == SUMMARISED or what[0] in (Verdict.KEPT, Verdict.PINNED):
            for place in places if what == SUMMARISED else ():
                found.pop(place, None)
        else:
            found |= dict.fromkeys(places, what)
    return found


def _placed(item: Item, place: int | None) -> Item:
    """An item under the id that replays know: its position, where the log has it."""
    return replace(item, id=f"made {item.id}" if place is None else str(place))


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
