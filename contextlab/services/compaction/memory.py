"""The memory that a compaction reads: of a view of the log before a step, or of a branch; and how memories are kept."""

from __future__ import annotations

from dataclasses import replace

from contextlab.core.compaction import Snapshot
from contextlab.core.items import KIND_CODE, Item, Kind, Reason, Verdict
from contextlab.core.projecting.stand_ins import cleared_text
from contextlab.core.projection import last_index
from contextlab.queries import fates
from contextlab.queries.fates import Fate
from contextlab.queries.fires import summary_before
from contextlab.queries.views import layer_at
from contextlab.services.compaction.held import Held, Placed, Seen
from contextlab.services.compaction.replayed import ends_changed, fates_at_end, fates_before
from contextlab.services.compaction.requests import BadRequest
from contextlab.services.compaction.stored import CHUNK, read_version, result_of
from contextlab.store.items import load_items, session_items
from contextlab.store.models import CompactionRecord, MemoryVersion, Session, StepRecord, View

STRETCH = 20_000
"""Items that are read at a stroke; of more the decoded segments are not held at once."""
MOST_FATES = 10_000_000
OF_LOG = frozenset({
    Reason.ABANDONED_BRANCH, Reason.CONTEXT_CLEARED, Reason.ROLLED_BACK, Reason.EARLIER_FILE, Reason.LOG_SUMMARY,
    Reason.UI_ONLY,
})  # fmt: skip
"""Why items leave memory in the view of a policy, besides its own compactions."""


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
        from contextlab.services.live.memory import read_live  # written in terms of this package

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


def _upto(session: Session, step: int) -> int:
    rows = StepRecord.objects.filter(session=session, revision=session.revision, number=step)
    return rows.values_list("upto", flat=True).first() or 0


def _standing(session: Session, upto: int, found: list[Fate]) -> list[Placed]:
    """The items below `upto` of which something stands in the context."""
    gaps = [(fate.first, fate.last) for fate in found if fate.left_out]
    records = session_items(session).exclude(kind=KIND_CODE[Kind.UI])
    placed: list[Placed] = []
    at = 0
    for first, last in (*gaps, (upto, upto)):
        for start in range(at, first, STRETCH):
            end = min(first, start + STRETCH)
            placed += load_items(session, records.filter(position__gte=start, position__lt=end))
        at = max(at, last + 1)
    return placed


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
        rows = session_items(session).filter(position__in=results[start : start + CHUNK], pair__isnull=False)
        found.update((at, call) for at, call in rows.values_list("position", "pair") if call is not None)
    return found
