"""A file read to rows, batch by batch, each batch one short transaction that the run still owns.

Whatever happens between two batches, the next reading begins at the start of the file with the same pure importer,
finds what is stored, and goes on behind it: nothing is lost and nothing doubled. Only a log that is sent piece by piece
is read on from where this process read it to its end before (resuming.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from django.db import transaction
from django.utils import timezone

from contextlab.core.events import Event, FileReport, SessionStart
from contextlab.importers import detect
from contextlab.importers.base import Source
from contextlab.importers.contextlab_events.fields import FORMAT
from contextlab.importers.packing import Packer
from contextlab.services import token_counts
from contextlab.services.ingest.contest import KnownElsewhere
from contextlab.services.ingest.resuming import Resumed
from contextlab.services.ingest.rows import short_id
from contextlab.services.ingest.segments import RawPacker
from contextlab.services.ingest.writer import Aim, SessionWriter
from contextlab.services.work import Counting, Work
from contextlab.store.batch import Batch
from contextlab.store.bulk import bulk_insert, bulk_make
from contextlab.store.models import RAW_SEGMENT, LogFile, RawSegment, Session

FIRST_BATCH = 500
"""Items after which a new session can be looked at."""

BATCH = 4000
BATCH_BYTES = 12 * 1024 * 1024
"""Bytes of the log after which a batch is written however few items came of them."""

RAW_BATCH = 64
"""Raw segments (8 MB of log) that are written in one go."""

RAW_COLUMNS = ("file_id", "revision", "number", "offset", "length", "sha256", "data")


@dataclass(slots=True)
class Plan:
    """How to read a file, and what was found out about its sessions on the way."""

    grew: bool = True
    """What is stored of the file is its beginning (or nothing is stored): go on in place."""
    beside: set[str] = field(default_factory=set)
    """Sessions to write under their next revision."""
    nowhere: dict[str, str] = field(default_factory=dict)
    """Sessions of which another file (its name) holds more."""


class Reading:
    """One pass over a file. Raises KnownElsewhere or BesideNeeded when the plan has to change: read again then."""

    def __init__(
        self,
        work: Work,
        file: LogFile,
        source: Source,
        plan: Plan,
        landed: Callable[[Sequence[SessionWriter]], None] | None = None,
        resumed: Resumed | None = None,
    ) -> None:
        """`landed` is told which new sessions came with the first batch, unless that was the whole file.

        `resumed` is how the file was read so far, and learns how it was read to its end.
        """
        self.work, self.file, self.plan = work, file, plan
        self.source, self._landed = source, landed
        self._resumed = resumed
        self.report = resumed.reader.report if resumed else FileReport()
        self.writers: dict[str, SessionWriter] = {}
        if resumed and resumed.writer:
            self.writers[resumed.key] = resumed.writer
        self._packer = Packer()
        self._unchecked: list[SessionWriter] = []
        self._left: dict[int, list[str]] = {}
        """Files whose sessions are read from this one now, with the ids of those sessions."""
        self._own = {session.native_id: session for session in file.sessions.all()}
        self._offset = self._written_to = resumed.size if resumed else 0
        self._counts: dict[bytes, int] = {}
        self._new_counts: dict[bytes, int] = {}
        self._pending = 0
        self._limit = FIRST_BATCH
        self._total = source.limit
        self.revision = file.revision + (0 if plan.grew else 1)
        self._raw = self._raw_packer()

    def run(self) -> list[SessionWriter]:
        """Read the file to its end and write everything; returns the sessions that were written."""
        try:
            for key, event in self._events():
                self._take(key, event)
            self._write_raw(None)
            self._count()
            with transaction.atomic():
                self._flush(complete=True)
                self._finish()
        finally:
            self._raw.close()
        if self._resumed is None or not self._note(self._resumed):
            for writer in self.writers.values():
                writer.finish()
        return [writer for writer in self.writers.values() if writer.key is not None]

    def _note(self, resumed: Resumed) -> bool:
        """Note how the file was read; False where that is not of one session in place, byte by byte."""
        (key, writer), *others = self.writers.items() or [("", None)]
        resumed.writer = None
        if others or writer is None or writer.session is None or self._raw.redacted:
            return False
        resumed.key, resumed.writer, resumed.revision = key, writer, self.revision
        resumed.size, resumed.begun = self._raw.size, self._raw.begun
        return True

    def _events(self) -> Iterator[tuple[str, Event]]:
        if self._resumed and self._resumed.size:
            return self._resumed.events(self.source)
        importer = detect(self.source)
        self.report.format = importer.FORMAT
        self.report.cannot_contain = tuple(importer.CANNOT_CONTAIN)
        if self._resumed and importer.FORMAT == FORMAT:
            return self._resumed.events(self.source)
        return importer.read(self.source, self.report)

    def _take(self, key: str, event: Event) -> None:
        writer = self.writers.get(key)
        if writer is None:
            writer = self.writers[key] = self._begin(key, event)
        place = getattr(event, "place", None)
        if place is not None and place.offset > self._offset:
            self._offset = place.offset + place.length
        if writer.feed(event):
            self._pending += 1
        if self._pending >= self._limit or self._offset - self._written_to >= BATCH_BYTES:
            self._write_raw(self._offset)
            self._count()
            with transaction.atomic():
                self._flush(complete=False)
            self._limit = BATCH
            self._tell_landed()

    def _tell_landed(self) -> None:
        told, self._landed = self._landed, None
        new = [writer for writer in self.writers.values() if writer.is_new]
        if told is not None and new:
            told(new)

    def _begin(self, key: str, event: Event) -> SessionWriter:
        start = event if isinstance(event, SessionStart) else SessionStart(key)
        native = short_id(start.native_id or key)
        counts = self.work.counting is Counting.ALL
        writer = SessionWriter(self.file, self.report.format or "", start, native, self._packer, counts)
        known = self._own.get(native)
        if native in self.plan.nowhere:
            writer.aim = Aim.NOWHERE
        elif known is not None:
            beside = native in self.plan.beside or not self.plan.grew
            writer.resume(known, Aim.BESIDE if beside else Aim.IN_PLACE)
        else:
            self._unchecked.append(writer)
        return writer

    def _count(self) -> None:
        """Count what waits, where this run shall: before the transaction, for it takes a while."""
        waiting = {
            digest: part for writer in self.writers.values() for digest, part in writer.uncounted.items()
        }
        self._counts = token_counts.known(list(waiting))
        missing = {digest: part for digest, part in waiting.items() if digest not in self._counts}
        self._new_counts = token_counts.count(
            {digest: name + data.decode() for digest, (name, data) in missing.items()}
        )
        self._counts |= self._new_counts

    def _flush(self, complete: bool) -> None:
        """One batch of all sessions, inside the caller's transaction."""
        doing = f"line {self.report.lines:,}".replace(",", " ")
        self.work.check_in(self._raw.size if complete else self._offset, self._total, doing)
        self._look_for_other_files()
        self._make_sessions(complete)
        token_counts.remember(self._new_counts)
        batch = Batch()
        for writer in self.writers.values():
            writer.collect(batch, complete, self._counts)
        batch.write()
        self._pending, self._written_to = 0, self._offset

    def _make_sessions(self, complete: bool) -> None:
        """Rows of new sessions, parents first: no subagent stands alone while the file lands."""
        made = [one for writer in self.writers.values() if (one := writer.begin(complete)) is not None]
        bulk_make([session for session in made if not session.parent_native_id])
        children = [session for session in made if session.parent_native_id]
        if not children:
            return
        known = {writer.native_id: writer.key for writer in self.writers.values()}
        for session in children:
            session.parent_id = known.get(session.parent_native_id)
        bulk_make(children)

    def _look_for_other_files(self) -> None:
        """Sessions that are new to this file may be known from another one."""
        writers, self._unchecked = {writer.native_id: writer for writer in self._unchecked}, []
        if not writers:
            return
        rows = Session.objects.filter(workspace=self.file.workspace_id, format=self.report.format)
        for session in rows.filter(native_id__in=list(writers)).select_related("file"):
            if session.native_id in self.plan.beside or session.file is None:
                if writers[session.native_id].session is None:
                    self._adopt(writers[session.native_id], session)
            elif session.file_id != self.file.pk:
                raise KnownElsewhere(session.native_id)

    def _adopt(self, writer: SessionWriter, session: Session) -> None:
        if session.file_id is not None:
            self._left.setdefault(session.file_id, []).append(session.native_id)
        writer.resume(session, Aim.BESIDE)

    # Raw bytes --------------------------------------------------------------------------------------------

    def _raw_packer(self) -> RawPacker:
        """Of a file that grew the whole segments stay; after a reading that was cut off those that are equal."""
        rows = RawSegment.objects.filter(file=self.file)
        if not self.plan.grew:
            # A reading that was cut off may have left some of the next revision.
            rows.exclude(revision=self.file.revision).delete()
            return RawPacker(self.source, 0, {})
        if self._resumed and self._resumed.size:
            begun = self._resumed.begun
            return RawPacker(self.source, begun.segments, {}, begun)
        whole = self.file.size // RAW_SEGMENT
        if self.file.sha256 and rows.filter(number__lt=whole).count() == whole:
            return RawPacker(self.source, whole, {})
        known = dict(rows.filter(revision=self.revision).values_list("number", "sha256"))
        return RawPacker(self.source, 0, known)

    def _write_raw(self, offset: int | None) -> None:
        """Store the log's own bytes up to the segment of `offset`, a few megabytes at a time."""
        rows: list[tuple[Any, ...]] = []
        for row in self._raw.read_to(offset):
            rows.append((self.file.pk, self.revision, *row))
            if len(rows) >= RAW_BATCH:
                self._insert_raw(rows)
                rows = []
        if rows:
            self._insert_raw(rows)

    def _insert_raw(self, rows: list[tuple[Any, ...]]) -> None:
        with transaction.atomic():
            self.work.check_in(self._offset, self._total, "storing the log's bytes")
            numbers = [row[2] for row in rows]
            stored = RawSegment.objects.filter(file=self.file, revision=self.revision)
            stored.filter(number__gte=numbers[0], number__lte=numbers[-1]).delete()
            bulk_insert(RawSegment, RAW_COLUMNS, rows)

    # The end ----------------------------------------------------------------------------------------------

    def _finish(self) -> None:
        """The file is read: sessions written beside become visible, and the file's row tells what was read."""
        for writer in self.writers.values():
            writer.swap()
        stored = RawSegment.objects.filter(file=self.file)
        stored.exclude(revision=self.revision).delete()
        stored.filter(number__gte=self._raw.segments).delete()
        if not self.plan.grew:
            found = {writer.key for writer in self.writers.values()}
            gone = [session.pk for session in self._own.values() if session.pk not in found]
            # Their log was replaced by another one: what was read of it stays, its raw bytes are gone.
            for start in range(0, len(gone), 500):
                Session.objects.filter(pk__in=gone[start : start + 500]).update(file=None)
        if not self.file.sessions.exists():
            # Nothing is shown of it (title records alone, or another file holds more): its bytes are of no use.
            stored.delete()
        for key, natives in self._left.items():
            _tidy_left(key, dict.fromkeys(natives, self.file.name))
        file = self.file
        file.format, file.revision = self.report.format or "", self.revision
        file.size, file.sha256 = self._raw.size, self._raw.sha256
        file.report, file.error = self._report(), ""
        file.imported_at, file.missing_since, file.forgotten_at = timezone.now(), None, None
        file.save()

    def _report(self) -> dict[str, Any]:
        report = asdict(self.report)
        report["elsewhere"] = dict(self.plan.nowhere)
        report["redacted"] = self._raw.redacted
        return report


def _tidy_left(key: int, taken: dict[str, str]) -> None:
    """Note in a file's report which sessions were taken from it, and by which file.

    If it holds no session any more its bytes go; an upload goes altogether.
    """
    file = LogFile.objects.get(pk=key)
    if not file.sessions.exists():
        if not file.path:
            file.delete()
            return
        RawSegment.objects.filter(file=file).delete()
    file.report["elsewhere"] = file.report.get("elsewhere", {}) | taken
    file.save(update_fields=["report"])
