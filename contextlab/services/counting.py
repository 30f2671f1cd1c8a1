"""Exact token counts: once per content, kept in a table, read by everything else.

Texts are read segment by segment, so that memory does not grow with a session. Two who count the same session at once
do the same work twice and write the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet, Sum

from contextlab.core.items import KIND_CODE, Kind
from contextlab.services import opening, projection, runs, token_counts
from contextlab.services.runs import Priority, Refused
from contextlab.services.timelines import load_timeline
from contextlab.services.work import Counting, Outcome, Work
from contextlab.store.bulk import bulk_set
from contextlab.store.items import session_items
from contextlab.store.models import ItemRecord, LogFile, Run, RunState, Session, View
from contextlab.store.texts import TEXT_COLUMNS, read_texts

BATCH = 2000
"""Items of one transaction."""

BATCH_BYTES = 4 * 1024 * 1024
SMALL = 512 * 1024
"""Bytes of uncounted text that are counted at once, without a run of their own: a tenth of a second at most."""

_CALL = KIND_CODE[Kind.TOOL_CALL]
_COLUMNS = ("id", "kind", "tool", "content_hash", *TEXT_COLUMNS)
_NOTHING: Mapping[int, int] = MappingProxyType({})


class _Row(NamedTuple):
    """An item without a count; the last four are where its text is."""

    key: int
    kind: int
    tool: str
    digest: bytes
    position: int
    segment: int
    offset: int
    length: int


@dataclass(slots=True)
class _Batch:
    """Uncounted items of one transaction, by session."""

    rows: dict[int, tuple[Session, list[_Row]]] = field(default_factory=dict)
    count: int = 0
    bytes: int = 0

    def is_full(self, row: _Row) -> bool:
        """Whether this item belongs into the next batch."""
        return self.count >= BATCH or (self.count > 0 and self.bytes + row.length > BATCH_BYTES)

    def add(self, session: Session, row: _Row) -> None:
        """Take in an item."""
        self.rows.setdefault(session.pk, (session, []))[1].append(row)
        self.count += 1
        self.bytes += row.length


def count_or_queue(
    work: Work, file: LogFile, sessions: Sequence[Session], since: Mapping[int, int]
) -> tuple[list[Run], bool]:
    """Count what an import left uncounted, at once where it is little; returns the run for it otherwise.

    `since` tells for a session from which position on items may be uncounted. The second value is whether it
    was counted.
    """
    sessions = [session for session in sessions if since.get(session.pk, 0) < session.items]
    if not any(_uncounted(session, since).exists() for session in sessions):
        return [], True
    here = work.counting is Counting.ALL
    if work.counting is Counting.SMALL:
        lengths = (_text_bytes(session, since) for session in sessions)
        here = sum(lengths) <= SMALL
    if not here:
        later = Priority.LATER if work.run.priority >= Priority.FOUND else Priority.GREW
        return [request(file, later)], False
    count_sessions(work, sessions, since)
    return [], True


def request(file: LogFile, priority: Priority = Priority.LATER) -> Run:
    """The run that counts the tokens of a file's sessions and makes their recorded views anew."""
    run, _ = runs.request(
        file.workspace,
        Run.Kind.COUNT,
        f"count:{file.uid.hex}",
        target=file.uid.hex,
        priority=priority,
        unit="items",
    )
    return run


def perform(work: Work) -> Outcome:
    """Count the sessions of the run's file and make their recorded views anew."""
    file = LogFile.objects.filter(uid=work.run.target).first()
    if file is None:
        raise Refused("The sessions were deleted.")
    sessions = list(file.sessions.filter(counted=False))
    counted = count_sessions(work, sessions)
    sessions = opening.incomplete(file.sessions.all())
    views = opening.recorded_views(sessions)
    jobs = (projection.Job(session, views[session.pk], load_timeline(session)) for session in sessions)
    queued = projection.project_or_queue(work, jobs)
    return Outcome(RunState.DONE if sessions else RunState.NOOP, {"counted": counted}, queued)


def count_sessions(work: Work, sessions: Sequence[Session], since: Mapping[int, int] = _NOTHING) -> int:
    """Count the items of the sessions that have no count yet; returns how many got one.

    `since` may tell for a session below which position all are known to be counted.
    """
    done = 0
    for batch in _batches(sessions, since):
        done += _count(work, batch)
    left = ItemRecord.objects.filter(session=OuterRef("pk"), revision=OuterRef("revision"), tokens=None)
    keys = [session.pk for session in sessions]
    for start in range(0, len(keys), 500):
        some = Session.objects.filter(pk__in=keys[start : start + 500])
        View.objects.filter(session__in=some).update(stale=True)
        some.exclude(Exists(left)).update(counted=True)
    return done


def _uncounted(session: Session, since: Mapping[int, int]) -> QuerySet[ItemRecord]:
    rows = session_items(session).filter(tokens=None)
    return rows.filter(position__gte=since.get(session.pk, 0))


def _text_bytes(session: Session, since: Mapping[int, int]) -> int:
    return _uncounted(session, since).aggregate(n=Sum("text_length"))["n"] or 0


def _batches(sessions: Sequence[Session], since: Mapping[int, int]) -> Iterator[_Batch]:
    """Uncounted items in order; each batch holds little text, or one item that holds much."""
    batch = _Batch()
    for session in sessions:
        for row in _rows(session, since.get(session.pk, 0)):
            if batch.is_full(row):
                yield batch
                batch = _Batch()
            batch.add(session, row)
    if batch.count:
        yield batch


def _rows(session: Session, first: int) -> Iterator[_Row]:
    """Uncounted items of a session, BATCH at a time."""
    while True:
        rows = _uncounted(session, {session.pk: first}).order_by("position").values_list(*_COLUMNS)
        some = [_Row(*row) for row in rows[:BATCH]]
        yield from some
        if len(some) < BATCH:
            return
        first = some[-1].position + 1


def _count(work: Work, batch: _Batch) -> int:
    """Counts from the table, else made and put there; written in one short transaction."""
    rows = [row for _, some in batch.rows.values() for row in some]
    counts = token_counts.known([bytes(row.digest) for row in rows])
    fresh = _tokenise(batch, counts)
    counts |= fresh
    values = [(counts[digest], row.key) for row in rows if (digest := bytes(row.digest)) in counts]
    with transaction.atomic():
        work.still_ours("counting tokens")
        token_counts.remember(fresh)
        bulk_set(ItemRecord, "tokens", values)
    return len(values)


def _tokenise(batch: _Batch, known: Mapping[bytes, int]) -> dict[bytes, int]:
    """Count what the table does not know; texts are read session by session."""
    texts: dict[bytes, str] = {}
    for session, rows in batch.rows.values():
        missing = [row for row in rows if bytes(row.digest) not in known and bytes(row.digest) not in texts]
        found = read_texts(session.pk, session.revision, [row[-4:] for row in missing])
        for row in missing:
            if row.position in found:
                text = found[row.position]
                texts[bytes(row.digest)] = f"{row.tool}{text}" if row.kind == _CALL else text
    return token_counts.count(texts)
