"""Two files hold one session (a copy, an older snapshot, a longer upload): which of them it is read from.

The answer does not depend on the order in which the files are imported: the file that holds more of it wins; of two
that differ, the one whose last event is later.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from contextlab.core.assembler import Assembler
from contextlab.core.events import FileReport, SessionStart
from contextlab.importers import read_file
from contextlab.importers.base import Source
from contextlab.services.ingest.moments import moment
from contextlab.services.ingest.rows import content, same_values, short_id
from contextlab.store.items import session_items
from contextlab.store.models import LogFile, Session

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class KnownElsewhere(Exception):
    """A session of this file is known from another file."""


@dataclass(slots=True, frozen=True)
class Contested:
    """A session that two files hold."""

    session: Session
    """As it is stored, with the other file."""
    won: bool
    """Whether it is to be read from this file from now on."""


@dataclass(slots=True)
class _Rival:
    """A session as another file has it (`session`), and as this file has it."""

    session: Session
    assembler: Assembler
    read: list[tuple[str, bytes]] = field(default_factory=list)
    """Identity and content of its items here."""
    last: datetime | None = None
    """The time of its last event here."""


def settle(source: Source, file: LogFile, format_: str) -> dict[str, Contested]:
    """All sessions of this file that are known from other ones, by native id, each with who has it.

    One pass over the file settles all: a log may hold hundreds of sessions (subagents inside it).
    """
    rivals: dict[str, _Rival | None] = {}
    for key, event in read_file(source, FileReport()):
        if key not in rivals:
            start = event if isinstance(event, SessionStart) else SessionStart(key)
            known = _elsewhere(file, format_, short_id(start.native_id or key))
            rivals[key] = _Rival(known, Assembler(start)) if known else None
        rival = rivals[key]
        if rival is None or (row := rival.assembler.feed(event)) is None:
            continue
        digest = content(row.event)[1]
        rival.read.append((same_values(row, digest)[1], digest))
        if (at := moment(row.event.ts)) is not None and (rival.last is None or at > rival.last):
            rival.last = at
    found = (rival for rival in rivals.values() if rival is not None)
    return {rival.session.native_id: Contested(rival.session, _wins(rival)) for rival in found}


def _elsewhere(file: LogFile, format_: str, native_id: str) -> Session | None:
    rows = Session.objects.filter(
        workspace=file.workspace_id, format=format_, native_id=native_id, file__isnull=False
    )
    return rows.exclude(file=file.pk).select_related("file").first()


def _wins(rival: _Rival) -> bool:
    """Whether the session shall be read from this source instead of the file that it was read from."""
    session, read = rival.session, rival.read
    stored = list(_stored(session))
    same = sum(1 for _ in _equal(stored, read))
    if same == len(stored) == len(read):
        return not _is_there(session.file)
    if same == len(stored):
        return True
    if same == len(read):
        return False
    return (rival.last or _LONG_AGO, len(read)) > (session.last_at or _LONG_AGO, len(stored))


def _stored(session: Session) -> list[tuple[str, bytes]]:
    rows = session_items(session).order_by("position")
    return [(native, bytes(digest)) for native, digest in rows.values_list("native_id", "content_hash")]


def _equal(stored: list[tuple[str, bytes]], read: list[tuple[str, bytes]]) -> list[int]:
    for place, (one, other) in enumerate(zip(stored, read, strict=False)):
        if one != other:
            return list(range(place))
    return list(range(min(len(stored), len(read))))


def _is_there(file: LogFile | None) -> bool:
    """Whether the other file still exists (an upload always does: its bytes are here)."""
    return file is not None and (not file.path or Path(file.path).exists())
