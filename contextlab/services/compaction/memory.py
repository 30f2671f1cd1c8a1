"""The memory that a compaction reads: of a view of the log before a step, or of a branch; and how memories are kept."""

from __future__ import annotations

import json
from collections.abc import Collection, Container, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import zstandard
from django.db.models import QuerySet

from contextlab.core.codec import item_fields, read_items
from contextlab.core.committing.compacting import read_result_answer
from contextlab.core.compaction import CompactResult, Snapshot
from contextlab.core.items import KIND_CODE, Item, Kind, Reason, Verdict
from contextlab.core.projecting.stand_ins import cleared_text
from contextlab.core.projection import last_index
from contextlab.queries import fates
from contextlab.queries.fates import Fate
from contextlab.queries.fires import summary_before
from contextlab.queries.views import layer_at
from contextlab.services.compaction.replayed import ends_changed, fates_at_end, fates_before
from contextlab.services.compaction.requests import BadRequest
from contextlab.store.items import load_items
from contextlab.store.models import CompactionRecord, ItemRecord, MemoryVersion, Session, StepRecord, View

CHUNK = 2000
STRETCH = 20_000
"""Items that are read at a stroke; of more the decoded segments are not held at once."""
MOST_FATES = 10_000_000
OF_LOG = frozenset({
    Reason.ABANDONED_BRANCH, Reason.CONTEXT_CLEARED, Reason.ROLLED_BACK, Reason.EARLIER_FILE, Reason.LOG_SUMMARY,
    Reason.UI_ONLY,
})  # fmt: skip
"""Why items leave memory in the view of a policy, besides its own compactions."""


Placed = tuple[int, Item]
"""An item of the log and its position there."""


class Seen(NamedTuple):
    """How far a log went when it was read."""

    at_step: int
    """The step that memory stood before."""
    upto: int
    """Items of the log."""


@dataclass(slots=True)
class Held:
    """A memory with where it is from."""

    session: Session
    view: View
    snapshot: Snapshot
    revision: int
    at_step: int
    """The step that it stands before."""
    upto: int
    """Items of the log that had been seen."""
    positions: dict[str, int] = field(default_factory=dict)
    """Place in the session of each item that is one of its log."""
    version: MemoryVersion | None = None
    """Of a branch."""
    summary_at: int | None = None
    """Position of the log's own summary that stands in the snapshot as its summary."""
    out: tuple[Fate, ...] = ()
    """What had become of items of the log that are not in it; of a view of the log."""
    changed: frozenset[str] = frozenset()
    """Ids of items of the log that do not stand as they stand there: their result was cleared."""

    @property
    def counted(self) -> bool:
        """Whether the tokens of all items that stand as in the log are counted."""
        return self.snapshot.once("all counted", self._all_counted)

    def _all_counted(self) -> bool:
        waiting = [item.id for item in self.snapshot.items if item.tokens is None]
        return self.changed.issuperset(waiting)


def read_memory(
    session: Session,
    view: View,
    before_step: int | None,
    before_compaction: int | None = None,
    seen: Seen | None = None,
) -> Held:
    """The memory of a view before a step, or as a compaction of the log found it; raises BadRequest.

    With `seen` as far as the log went then, in the place of the step.
    """
    if view.kind == View.Kind.BRANCH:
        return read_branch(view)
    if view.kind == View.Kind.LIVE:
        from contextlab.services.live.memory import read_live  # written in terms of this module

        return read_live(view, upto=seen.upto if seen is not None else None)
    if before_compaction is not None:
        return _before_compaction(session, view, before_compaction)
    if seen is not None:
        return _before_step(session, view, seen)
    at_step = session.steps + 1 if before_step is None else before_step
    if at_step > session.steps + 1:
        raise BadRequest("before_step", f"The session has {session.steps:,} steps, not a step {at_step:,}.")
    upto = session.items if at_step > session.steps else _upto(session, at_step)
    return _before_step(session, view, Seen(at_step, upto))


def _before_step(session: Session, view: View, seen: Seen) -> Held:
    at_step, upto = seen.at_step, seen.upto
    if view.kind == View.Kind.RECORDED and at_step > session.steps and ends_changed(session):
        found = fates_at_end(session)
    else:
        layer = view.pk if view.base_id is None else layer_at(view.pk, at_step)
        found = fates.oldest_fates(layer, at_step, 0, upto, limit=MOST_FATES) if upto else []
    held = Held(session, view, Snapshot(), session.revision, at_step, upto)
    return _held(held, found) if view.kind == View.Kind.RECORDED else _under_policy(held, found)


def _under_policy(held: Held, found: list[Fate]) -> Held:
    """The memory of a policy's view: what is only not shown to the model at a step is in it as ever."""
    held = _held(held, [one for one in found if one.verdict == Verdict.SUMMARISED or one.reason in OF_LOG])
    stands = summary_before(layer_at(held.view.pk, held.at_step), held.at_step)
    if stands is not None and any(one.verdict == Verdict.SUMMARISED for one in held.out):
        held.snapshot = replace(held.snapshot, summary=stands.summary)
    return held


def _before_compaction(session: Session, view: View, number: int) -> Held:
    records = CompactionRecord.objects.filter(session=session, revision=session.revision, micro=False)
    record = records.filter(number=number).first()
    if record is None or view.kind != View.Kind.RECORDED:
        raise BadRequest("before_compaction", f"The log has no compaction {number:,}.")
    found = fates_before(session, record)
    held = Held(session, view, Snapshot(), session.revision, record.at_step, record.upto)
    return _held(held, found, record.summary)


def _held(held: Held, found: list[Fate], without: int | None = None) -> Held:
    """The memory with its items, by their fates; `without` the item at this position."""
    session = held.session
    placed = _standing(session, held.upto, found)
    if without is not None:
        placed = [one for one in placed if one[0] != without]
    if cleared := _cleared(found):
        held.changed = frozenset(item.id for at, item in placed if at in cleared)
        placed = _as_seen(session, placed, cleared)
    items = [item for _, item in placed]
    held.positions = {item.id: at for at, item in placed}
    held.out = tuple(one for one in found if one.left_out)
    kinds = [item.kind for item in items]
    summary = items.pop(last_index(items, _is_summary)) if Kind.SUMMARY in kinds else None
    if summary is not None:
        held.summary_at = held.positions[summary.id]
    held.snapshot = Snapshot(tuple(items), summary.text if summary else None)
    return held


def _is_summary(item: Item) -> bool:
    return item.kind == Kind.SUMMARY


def read_branch(view: View, version: int | None = None) -> Held:
    """The memory of a branch, the one in force without a version; raises BadRequest where there is none."""
    kept = MemoryVersion.objects.filter(view=view).order_by("-version")
    found = kept.filter(version=version).first() if version is not None else kept.first()
    if found is None or view.base is None or view.base_step is None:
        raise BadRequest("version", "There is no such version of this memory.")
    session = view.session
    if found.payload is None:
        before = read_memory(session, view.base, min(view.base_step, session.steps + 1))
        return replace(before, view=view, version=found)
    upto = session.items if view.base_step > session.steps else _upto(session, view.base_step)
    if view.base_upto is not None and view.revision == session.revision:
        upto = view.base_upto  # the log may have gone on before it came to the branch's step
    items, positions, whole = read_version(session, found)
    snapshot = Snapshot(tuple(items), found.summary, result_of(found), found.version)
    return Held(
        session, view, snapshot, session.revision, view.base_step, upto, positions, found, changed=whole
    )


def read_version(
    session: Session, version: MemoryVersion
) -> tuple[list[Item], dict[str, int], frozenset[str]]:
    """Items of a version as it was made, the places of those of the log, and which do not stand as they stand there."""
    stored = unpack(bytes(version.payload)) if version.payload is not None else []
    names = [one for one in stored if isinstance(one, str)]
    log = {item.id: (at, item) for at, item in _named(session, names)}
    items = [
        log[one][1] if isinstance(one, str) else one
        for one in stored
        if not isinstance(one, str) or one in log
    ]
    whole = _places(session, [one.id for one in stored if not isinstance(one, str)])
    return items, {name: at for name, (at, _) in log.items()} | whole, frozenset(whole)


def result_of(version: MemoryVersion) -> CompactResult | None:
    """The result that the memory goes on from: of the compaction that made it, or made the version restored."""
    job = (version.restored or version).compaction
    return read_result_answer(job.result, job.method) if job is not None and job.result else None


def pack(held: Held, items: Collection[Item]) -> bytes:
    """Items as a version keeps them: those that stand as in the log by their name."""
    places, changed = held.positions, held.changed
    as_read = items is held.snapshot.items
    log = {} if as_read else _own(held, {item.id for item in items})
    rows = [
        name
        if (name := item.id) in places and name not in changed and (as_read or log.get(name) == item)
        else item_fields(item)
        for item in items
    ]
    return zstandard.ZstdCompressor().compress(json.dumps(rows, separators=(",", ":")).encode("ascii"))


def _own(held: Held, names: Container[str]) -> dict[str, Item]:
    """The memory's own items of these names."""
    return {item.id: item for item in held.snapshot.items if item.id in names}


def unpack(payload: bytes) -> list[str | Item]:
    """Names of items of the log, and items that are kept whole."""
    rows: list[Any] = json.loads(zstandard.ZstdDecompressor().decompress(payload))
    return [row if isinstance(row, str) else read_items([row])[0] for row in rows]


def _upto(session: Session, step: int) -> int:
    rows = StepRecord.objects.filter(session=session, revision=session.revision, number=step)
    return rows.values_list("upto", flat=True).first() or 0


def _standing(session: Session, upto: int, found: list[Fate]) -> list[Placed]:
    """The items below `upto` of which something stands in the context."""
    gaps = [(fate.first, fate.last) for fate in found if fate.left_out]
    records = _records(session).exclude(kind=KIND_CODE[Kind.UI])
    placed: list[Placed] = []
    at = 0
    for first, last in (*gaps, (upto, upto)):
        for start in range(at, first, STRETCH):
            end = min(first, start + STRETCH)
            placed += load_items(session, records.filter(position__gte=start, position__lt=end))
        at = max(at, last + 1)
    return placed


def _records(session: Session) -> QuerySet[ItemRecord]:
    return ItemRecord.objects.filter(session=session, revision=session.revision)


def _places(session: Session, names: list[str]) -> dict[str, int]:
    """Where items of the log stand, of these ids."""
    found: dict[str, int] = {}
    for start in range(0, len(names), CHUNK):
        rows = _records(session).filter(native_id__in=names[start : start + CHUNK])
        found.update(rows.values_list("native_id", "position"))
    return found


def _named(session: Session, names: list[str]) -> Iterable[Placed]:
    for start in range(0, len(names), CHUNK):
        yield from load_items(session, _records(session).filter(native_id__in=names[start : start + CHUNK]))


def _cleared(found: list[Fate]) -> dict[int, str]:
    """Positions of results that a placeholder stands for, with the reason."""
    return {
        at: fate.reason
        for fate in found
        if fate.verdict == Verdict.CLEARED
        for at in range(fate.first, fate.last + 1)
    }


def _as_seen(session: Session, placed: list[Placed], cleared: dict[int, str]) -> list[Placed]:
    """The items, each cleared result with its placeholder, which names the tool of its call."""
    tools = {at: item.tool for at, item in placed if item.tool}
    calls = _calls(session, [at for at, item in placed if at in cleared and not item.tool])
    seen = []
    for at, item in placed:
        if at in cleared:
            tool = item.tool or tools.get(calls.get(at, -1))
            text = cleared_text(cleared[at], tool, item.call_id, item.text)
            item = replace(item, text=text, chars=len(text), tokens=None)  # noqa: PLW2901
        seen.append((at, item))
    return seen


def _calls(session: Session, results: list[int]) -> dict[int, int]:
    """Positions of the calls that these results answer."""
    found: dict[int, int] = {}
    for start in range(0, len(results), CHUNK):
        rows = _records(session).filter(position__in=results[start : start + CHUNK], pair__isnull=False)
        found.update((at, call) for at, call in rows.values_list("position", "pair") if call is not None)
    return found
