"""Two files hold one session (a copy, an older snapshot, a longer upload): which of them it is read from.

The answer does not depend on the order in which the files are imported: the file that holds more of it wins; of two
that differ, the one whose last event is later.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from contextlab.core.events import FileReport, SessionStart
from contextlab.core.timeline import Assembler
from contextlab.importers import read_file
from contextlab.importers.base import Source
from contextlab.services.ingest.moments import moment
from contextlab.services.ingest.rows import content, same_values, short_id
from contextlab.store.models import ItemRecord, LogFile, Session

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class Contested(Exception):
    """A session of this file is known from another file."""

    def __init__(self, session: Session) -> None:
        super().__init__(session.native_id)
        self.session = session


def wins(source: Source, session: Session) -> bool:
    """Whether the session shall be read from this source instead of the file that it was read from."""
    stored = list(_stored(session))
    read, last = _read(source, session.native_id)
    same = sum(1 for _ in _equal(stored, read))
    if same == len(stored) == len(read):
        return not _is_there(session.file)
    if same == len(stored):
        return True
    if same == len(read):
        return False
    return (last or _LONG_AGO, len(read)) > (session.last_at or _LONG_AGO, len(stored))


def _stored(session: Session) -> list[tuple[str, bytes]]:
    rows = ItemRecord.objects.filter(session=session, revision=session.revision).order_by("position")
    return [(native, bytes(digest)) for native, digest in rows.values_list("native_id", "content_hash")]


def _read(source: Source, native_id: str) -> tuple[list[tuple[str, bytes]], datetime | None]:
    """Identity and content of the session's items in the source, and the time of its last event."""
    found: list[tuple[str, bytes]] = []
    last: datetime | None = None
    assemblers: dict[str, Assembler | None] = {}
    for key, event in read_file(source, FileReport()):
        if key not in assemblers:
            start = event if isinstance(event, SessionStart) else SessionStart(key)
            ours = short_id(start.native_id or key) == native_id
            assemblers[key] = Assembler(start) if ours else None
        assembler = assemblers[key]
        if assembler is None or (row := assembler.feed(event)) is None:
            continue
        digest = content(row.event)[1]
        found.append((same_values(row, digest)[1], digest))
        if (at := moment(row.event.ts)) is not None and (last is None or at > last):
            last = at
    return found, last


def _equal(stored: list[tuple[str, bytes]], read: list[tuple[str, bytes]]) -> list[int]:
    for place, (one, other) in enumerate(zip(stored, read, strict=False)):
        if one != other:
            return list(range(place))
    return list(range(min(len(stored), len(read))))


def _is_there(file: LogFile | None) -> bool:
    """Whether the other file still exists (an upload always does: its bytes are here)."""
    return file is not None and (not file.path or Path(file.path).exists())
