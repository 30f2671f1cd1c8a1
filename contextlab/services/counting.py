"""Exact token counts: once per content, kept in a table, read by everything else.

Texts are read segment by segment, so that memory does not grow with a session. Two who count the same session at once
do the same work twice and write the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from django.db import connection, transaction
from django.db.models import QuerySet, Sum

from contextlab.adapters.tokens import counter
from contextlab.core.items import KIND_CODE, Kind
from contextlab.services import projection, runs
from contextlab.services.runs import Priority, Refused
from contextlab.services.timelines import load_timeline
from contextlab.services.work import Counting, Outcome, Work
from contextlab.store.bulk import bulk_set, update_changed
from contextlab.store.models import ContentCount, ItemRecord, LogFile, Run, RunState, Session, View
from contextlab.store.texts import read_texts

BATCH = 2000
"""Items of one transaction."""

BATCH_BYTES = 4 * 1024 * 1024
LOOKED_UP = 500
"""Hashes of one look-up: SQLite takes 999 parameters in its oldest builds."""

SMALL = 512 * 1024
"""Bytes of uncounted text that are counted at once, without a run of their own: a tenth of a second at most."""

_CALL = KIND_CODE[Kind.TOOL_CALL]
_COLUMNS = ("id", "position", "kind", "tool", "content_hash", "text_segment", "text_offset", "text_length")


@dataclass(slots=True)
class _Batch:
    """Uncounted items of one transaction, as far as possible out of one segment."""

    rows: list[tuple[int, int, int, str, bytes, int, int, int]] = field(default_factory=list)
    bytes: int = 0


def count_or_queue(
    work: Work, file: LogFile, sessions: Sequence[Session], since: dict[int, int]
) -> tuple[list[Run], bool]:
    """Count what an import left uncounted, at once where it is little; returns the run for it otherwise.

    `since` tells for a session from which position on items may be uncounted. The second value is whether it
    was counted.
    """
    if not any(_uncounted(session, since).exists() for session in sessions):
        return [], True
    here = work.counting is Counting.ALL
    if work.counting is Counting.SMALL:
        lengths = (_text_bytes(session, since) for session in sessions)
        here = sum(lengths) <= SMALL
    if not here:
        later = Priority.LATER if work.run.priority >= Priority.FOUND else Priority.GREW
        return [request(file, later)], False
    for session in sessions:
        count_session(work, session, since.get(session.pk, 0))
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
    counted = sum(count_session(work, session) for session in sessions)
    sessions = projection.incomplete(file.sessions.all())
    views = projection.recorded_views(sessions)
    jobs = (projection.Job(session, views[session.pk], load_timeline(session)) for session in sessions)
    queued = projection.project_or_queue(work, jobs)
    return Outcome(RunState.DONE if sessions else RunState.NOOP, {"counted": counted}, queued)


def count_session(work: Work, session: Session, since: int = 0) -> int:
    """Count the items from position `since` on that have no count yet; returns how many got one.

    All before `since` are known to be counted.
    """
    done = 0
    for batch in _batches(session, since):
        counts = _counts(session, batch)
        with transaction.atomic():
            work.still_ours("counting tokens")
            bulk_set(ItemRecord, "tokens", counts)
        done += len(counts)
    if done:
        View.objects.filter(session=session).update(stale=True)
    update_changed(session, {"counted": not _uncounted(session, {session.pk: since}).exists()})
    return done


def _uncounted(session: Session, since: dict[int, int]) -> QuerySet[ItemRecord]:
    rows = ItemRecord.objects.filter(session=session, revision=session.revision, tokens=None)
    return rows.filter(position__gte=since.get(session.pk, 0))


def _text_bytes(session: Session, since: dict[int, int]) -> int:
    return _uncounted(session, since).aggregate(n=Sum("text_length"))["n"] or 0


def _batches(session: Session, since: int) -> Iterator[_Batch]:
    """Uncounted items in order; each batch holds little text, or one item that holds much."""
    after = since - 1
    while True:
        rows = _uncounted(session, {session.pk: after + 1}).order_by("position").values_list(*_COLUMNS)
        batch = _Batch()
        for row in rows[:BATCH]:
            if batch.rows and batch.bytes + row[-1] > BATCH_BYTES:
                break
            batch.rows.append(row)
            batch.bytes += row[-1]
        if not batch.rows:
            return
        yield batch
        after = batch.rows[-1][1]


def _counts(session: Session, batch: _Batch) -> list[tuple[int, int]]:
    """(tokens, key of the item) for each item of the batch: from the table, else counted and put there."""
    known = _known([bytes(row[4]) for row in batch.rows])
    missing = {bytes(row[4]): row for row in batch.rows if bytes(row[4]) not in known}
    if missing:
        refs = [(row[1], row[5], row[6], row[7]) for row in missing.values()]
        texts = read_texts(session.pk, session.revision, refs)
        counted = {
            digest: f"{row[3]}{texts[row[1]]}" if row[2] == _CALL else texts[row[1]]
            for digest, row in missing.items()
            if row[1] in texts
        }
        fresh = dict(zip(counted, counter().count_many(list(counted.values())), strict=True))
        _remember(fresh)
        known |= fresh
    return [(known[bytes(row[4])], row[0]) for row in batch.rows if bytes(row[4]) in known]


def _known(hashes: Sequence[bytes]) -> dict[bytes, int]:
    found: dict[bytes, int] = {}
    for start in range(0, len(hashes), LOOKED_UP):
        rows = ContentCount.objects.filter(hash__in=hashes[start : start + LOOKED_UP])
        found |= {bytes(digest): tokens for digest, tokens in rows.values_list("hash", "tokens")}
    return found


def _remember(counts: dict[bytes, int]) -> None:
    """Keep counts for other sessions; somebody else may just have done so."""
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO store_contentcount (hash, tokens) VALUES (%s, %s) ON CONFLICT DO NOTHING",
            list(counts.items()),
        )
