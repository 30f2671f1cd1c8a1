"""Originals that were put aside, as pages and the API list them: what they are, and which compaction did it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from django.db.models.functions import Length

from contextlab.core.items import Item
from contextlab.queries.recorded_compaction import positions_of
from contextlab.store.models import CompactionJob, OffloadRecord, Session
from contextlab.store.offloads import unpack_originals

SHOWN = 100
MOST_JOBS = 1_000
"""The newest compactions among which the one is looked for that put something aside."""
ROOM = 6_000_000
"""Stored bytes of originals that are read for one list: what does not fit is told without its words and sizes."""
WORDS = 120


@dataclass(frozen=True, slots=True)
class OffloadLine:
    """Originals under an id. None is unknown."""

    id: str
    reason: str
    at: datetime
    run: UUID | None = None
    """The compaction that put them aside."""
    items: int | None = None
    places: Sequence[tuple[int, int]] = ()
    """Where they stand in the log: first and last position of each run; without those that are not of it."""
    chars: int | None = None
    tokens: int | None = None
    """Counted; None where one of them is not."""
    words: str = ""
    """How the first one begins."""


@dataclass(frozen=True, slots=True)
class OffloadPage:
    """Some of a session's."""

    lines: Sequence[OffloadLine]
    after: int | None
    """Where the next page begins; None on the last one."""


def offload_count(session: Session) -> int:
    """How many ids the session has originals under."""
    return OffloadRecord.objects.filter(session=session).count()


def offloads(session: Session, below: int | None = None) -> OffloadPage:
    """The newest below a place."""
    rows = OffloadRecord.objects.filter(session=session).order_by("-id")
    if below is not None:
        rows = rows.filter(id__lt=below)
    found = list(rows.values_list("id", flat=True)[: SHOWN + 1])
    after = found[SHOWN - 1] if len(found) > SHOWN else None
    return OffloadPage(offload_lines(session, found[:SHOWN]), after)


def offload_lines(session: Session, keys: Sequence[int]) -> list[OffloadLine]:
    """These rows of a session, in this order, with what is known of them."""
    found = OffloadRecord.objects.filter(session=session, pk__in=keys).annotate(size=Length("payload"))
    columns = found.values_list("pk", "offload", "reason", "created_at", "size")
    rows = {row[0]: row[1:] for row in columns}
    shown = [key for key in keys if key in rows]
    items = _originals(shown, [rows[key][3] for key in shown])
    places = positions_of(session, [item.id for one in items.values() for item in one])
    runs = _put_aside(session, {rows[key][0] for key in shown})
    lines = []
    for key in shown:
        name, reason, at, _ = rows[key]
        run, number = runs.get(name, (None, None))
        lines.append(_line(OffloadLine(name, reason, at, run, number), items.get(key, ()), places))
    return lines


def _originals(keys: Sequence[int], sizes: Sequence[int]) -> dict[int, tuple[Item, ...]]:
    """The items of as many rows as there is room for."""
    left, wanted = ROOM, []
    for key, size in zip(keys, sizes, strict=True):
        if size <= left:
            left -= size
            wanted.append(key)
    rows = OffloadRecord.objects.filter(pk__in=wanted).values_list("pk", "payload")
    return {key: unpack_originals(bytes(packed)) for key, packed in rows}


def _line(line: OffloadLine, items: Sequence[Item], positions: Mapping[str, int]) -> OffloadLine:
    if not items:
        return line
    tokens = [item.tokens for item in items if item.tokens is not None]
    return replace(
        line,
        items=len(items),
        places=_runs(positions[item.id] for item in items if item.id in positions),
        chars=sum(item.chars for item in items),
        tokens=sum(tokens) if len(tokens) == len(items) else None,
        words=_words(items[0].text),
    )


def _words(text: str) -> str:
    """The first words on one line; a store may hold halves of surrogate pairs, which no page can."""
    return " ".join(text[: 4 * WORDS].split())[:WORDS].encode("utf-8", "replace").decode()


def _runs(positions: Iterable[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for at in sorted(positions):
        if runs and at <= runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], at)
        else:
            runs.append((at, at))
    return runs


def _put_aside(session: Session, names: Collection[str]) -> dict[str, tuple[UUID, int | None]]:
    """Of these ids the compaction that put them aside, with its number of items."""
    jobs = CompactionJob.objects.filter(session=session).exclude(offloads=[]).order_by("-id")
    found: dict[str, tuple[UUID, int | None]] = {}
    for run, offloads in jobs.values_list("run__uid", "offloads")[:MOST_JOBS].iterator(chunk_size=SHOWN):
        for one in offloads:
            if one["id"] in names:
                found.setdefault(one["id"], (run, one.get("items")))
        if len(found) == len(names):
            break
    return found


def offload_line(workspace_id: int, name: str) -> OffloadLine | None:
    """What is known of the originals under an id."""
    row = (
        OffloadRecord.objects.filter(workspace_id=workspace_id, offload=name)
        .select_related("session")
        .first()
    )
    if row is None:
        return None
    known = offload_lines(row.session, [row.pk]) if row.session is not None else []
    return known[0] if known else OffloadLine(row.offload, row.reason, row.created_at)


def session_of_offload(workspace_id: int, name: str) -> UUID | None:
    """The session that the originals under an id belong to; None where there is none, or nothing under the id."""
    rows = OffloadRecord.objects.filter(workspace_id=workspace_id, offload=name)
    return rows.values_list("session__uid", flat=True).first()
