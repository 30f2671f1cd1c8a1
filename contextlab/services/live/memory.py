"""The memory of a live session: its latest version, and behind that version's cut all that the session got since.

| item of the log                                   | in memory                                             |
|---------------------------------------------------|-------------------------------------------------------|
| below the cut                                     | as the version has it                                 |
| from the cut on                                   | as it came; not what was only shown, and no summaries |
| taken out by the log (a rewind, a cleared context)| not any more                                          |

A summary that an agent tells of belongs to its `compaction` event, which makes a version of its own (own.py).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from contextlab.core.compaction import Snapshot
from contextlab.core.items import KIND_CODE, VERDICT_CODE, VERDICTS, Item, Kind, Verdict
from contextlab.services.compaction.held import Held
from contextlab.services.compaction.requests import BadRequest
from contextlab.services.compaction.stored import CHUNK, read_version, result_of
from contextlab.store.items import load_items, session_items
from contextlab.store.models import LiveVersion, MarkRecord, MemoryVersion, Session, View

OUTSIDE = (KIND_CODE[Kind.UI], KIND_CODE[Kind.SUMMARY])
"""Kinds that never stand in this memory by themselves; as in every replay under a policy."""

_MOVES = [VERDICT_CODE[Verdict.DROPPED], VERDICT_CODE[Verdict.KEPT]]


def empty(view: View) -> Held:
    """The memory before the first event."""
    session = view.session
    return Held(session, view, Snapshot(), session.revision, 1, 0)


def versions_of(view: View) -> Any:
    """The versions, newest first, each with where it stands."""
    rows = MemoryVersion.objects.filter(view=view).select_related(
        "live", "compaction", "restored__compaction"
    )
    return rows.order_by("-version")


def read_live(view: View, number: int | None = None, upto: int | None = None) -> Held:
    """The memory in force, or of a version with all that came since; raises BadRequest where there is none.

    `upto` looks no further than the item at that position.
    """
    rows = versions_of(view)
    found = rows.filter(version=number).first() if number is not None else rows.first()
    if found is None:
        raise BadRequest("version", "There is no such version of this memory.")
    session = view.session
    end = session.items if upto is None else max(upto, found.live.upto)
    made, places, whole = read_version(session, found)
    since = _since(session, found.live.upto, end)
    items = [*made, *(item for _, item in since)]
    positions = places | {item.id: at for at, item in since}
    snapshot = Snapshot(tuple(items), found.summary, result_of(found), found.version)
    snapshot = _left(session, found.live, snapshot, positions)
    return Held(
        session, view, snapshot, session.revision, session.steps + 1, end, positions, found, changed=whole
    )


def _since(session: Session, first: int, end: int) -> list[tuple[int, Item]]:
    """What the session got from a position on."""
    found: list[tuple[int, Item]] = []
    for start in range(first, end, CHUNK):
        rows = session_items(session).filter(position__gte=start, position__lt=min(end, start + CHUNK))
        found += load_items(session, rows.exclude(kind__in=OUTSIDE))
    return found


def _left(session: Session, live: LiveVersion, memory: Snapshot, positions: dict[str, int]) -> Snapshot:
    """What the log has not taken out behind the version. A cleared context takes summaries along."""
    marks = MarkRecord.objects.filter(session=session, revision=session.revision, compaction=None)
    marks = marks.filter(upto__gte=live.upto, verdict__in=_MOVES)
    out: set[int] = set()
    cleared = False
    for mark in marks.order_by("number"):
        named = (at for at in positions.values() if at < mark.upto) if mark.all_before else mark.positions
        if VERDICTS[mark.verdict] == Verdict.KEPT:
            out.difference_update(named)
        else:
            out.update(at for at in named if at < mark.upto)
            cleared = cleared or mark.all_before
    if not out and not cleared:
        return memory
    items = (item for item in memory.items if positions.get(item.id) not in out)
    if not cleared:
        return replace(memory, items=tuple(items))
    return Snapshot(tuple(item for item in items if item.id in positions), None, None, memory.version)
