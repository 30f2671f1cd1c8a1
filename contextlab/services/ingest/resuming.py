"""Logs that are sent piece by piece (live sessions): who has read one remembers how, and goes on behind it.

What a process remembers follows from the log's bytes alone, so it may be lost at any moment: the log is then read from
its start, as any other. It is used only while

| what holds                                          | else                                                      |
|-----------------------------------------------------|-----------------------------------------------------------|
| the log is the same file, and what is stored of it  | it was replaced, or cut off: it is read from its start     |
| is its beginning, by the hash of those bytes        |                                                           |
| the rows of its session are those of that beginning | a reading broke off between two batches: likewise          |
| nobody else has it                                  | whoever comes second finds nothing, and reads from the start |

What another process has read meanwhile is read here as well, without writing. Bytes that were hashed once are not
hashed again: these logs are written by this program alone.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from dataclasses import dataclass, field, replace

from contextlab.core.events import FileReport
from contextlab.importers.base import SessionEvents, Source
from contextlab.importers.contextlab_events.fields import FORMAT
from contextlab.importers.contextlab_events.reader import Reader
from contextlab.services.ingest.examine import Finding
from contextlab.services.ingest.segments import Begun
from contextlab.services.ingest.writer import SessionWriter
from contextlab.store.models import LogFile

MOST_LOGS = 64
MOST_ITEMS = 500_000
"""Of all logs that are remembered; about 100 bytes each."""


@dataclass(slots=True)
class Resumed:
    """How a log was read so far: nothing of it (`size` 0), or its first `size` bytes."""

    reader: Reader
    key: str = ""
    """What its events are yielded under."""
    writer: SessionWriter | None = None
    size: int = 0
    begun: Begun = field(default_factory=Begun)
    inode: int = 0
    revision: int = 0

    @property
    def items(self) -> int:
        """Items that were read."""
        return 0 if self.writer is None else len(self.writer.held.assembler.timeline)

    def finding(self, source: Source) -> Finding:
        """As `examine` says, once something was read."""
        return Finding.GREW if (source.limit or 0) > self.size else Finding.SAME

    def events(self, source: Source) -> SessionEvents:
        """The events of the source behind what was read."""
        self.reader.source = replace(source, start=self.size)
        return self.reader.events()

    def fits(self, file: LogFile, source: Source) -> bool:
        """Whether the rows are what was read so far; takes in what others have read since."""
        session = file.sessions.filter(native_id=self.key).first()
        if session is None or self.writer is None or not self._is_beginning(file, source):
            return False
        for _, event in self.events(replace(source, limit=file.size)):
            self.writer.learn(event)
        self.size = file.size
        return self.writer.go_on(session)

    def _is_beginning(self, file: LogFile, source: Source) -> bool:
        """Whether what is stored of the file is the beginning of the source, and goes at least as far as this."""
        if (self.inode, self.revision) != (_inode(source), file.revision) or self.size > file.size:
            return False
        with replace(source, start=self.begun.size, limit=file.size).open() as stream:
            data = stream.read()
        digest = self.begun.hash.copy()
        digest.update(data)
        return data.endswith(b"\n") and digest.hexdigest() == file.sha256


_known: OrderedDict[str, Resumed] = OrderedDict()
_guard = threading.Lock()


def is_sent(file: LogFile) -> bool:
    """Whether it is a log that is sent piece by piece."""
    return bool(file.path) and file.origin == LogFile.Origin.API


def resumed_of(file: LogFile, source: Source) -> Resumed:
    """How a log was read so far; it is taken out: `remember` it when all that came of reading on is done."""
    with _guard:
        known = _known.pop(file.path, None)
    if known is not None and known.fits(file, source):
        return known
    return unread(source)


def unread(source: Source) -> Resumed:
    """A log of which nothing was read."""
    return Resumed(Reader(source, FileReport(format=FORMAT)), inode=_inode(source))


def remember(file: LogFile, known: Resumed) -> None:
    """Keep how a log was read to its end."""
    if known.writer is None or not known.size:
        return
    with _guard:
        _known[file.path] = known
        items = sum(one.items for one in _known.values())
        while len(_known) > MOST_LOGS or (items > MOST_ITEMS and len(_known) > 1):
            items -= _known.popitem(last=False)[1].items


def _inode(source: Source) -> int:
    try:
        return os.stat(source.path or "").st_ino
    except (OSError, ValueError):
        return 0
