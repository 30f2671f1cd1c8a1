"""The log of a live session: a file in the data folder to which what the agent sends is appended, line by line.

| what             | rule                                                                                            |
|------------------|-------------------------------------------------------------------------------------------------|
| the truth        | is the file: rows are read from it as from any log that grows, and can be read anew             |
| two at a time    | one appends, the other waits (a lock on the file, which every process of this machine respects) |
| sent twice       | an event is known by its type and id; one that stands in the log is not appended again          |
| a bad line       | is not appended; the answer names it with its reason                                            |
| a torn write     | (the process died) costs the line it tore: it was never answered, so it is sent again           |
| the file is gone | it is written anew from the bytes that the database keeps                                       |
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from django.conf import settings

from contextlab.core.events import SessionStart
from contextlab.core.redaction import redact
from contextlab.importers.contextlab_events import write_events
from contextlab.importers.contextlab_events.lines import check_line
from contextlab.services.live.told import Told, read_told
from contextlab.store.models import LogFile, Session
from contextlab.store.texts import read_raw

MOST_BYTES = 16 * 1024 * 1024
"""Of one request."""
LONGEST_LINE = 8 * 1024 * 1024
NAMED = 50
"""Refused lines that an answer names."""
KNOWN_LOGS = 64
"""Logs whose ids a process remembers; of others the file is read again."""


class TooMuch(Exception):
    """More than is taken; the message names the limit."""


@dataclass(slots=True)
class Appended:
    """What became of the lines of a request."""

    taken: int = 0
    known: int = 0
    """Stood in the log already."""
    skipped: list[tuple[int, str]] = field(default_factory=list)
    """(line of the request from 1, reason) of the first NAMED."""
    skipped_total: int = 0
    told: list[tuple[int, Told]] = field(default_factory=list)
    """Decisions that the agent made itself, with their lines; they stand in the decision log, not in this one."""
    size: int = 0
    """Bytes of the log behind it."""

    def skip(self, line: int, reason: str) -> None:
        """Note a line that is no event."""
        self.skipped_total += 1
        if len(self.skipped) < NAMED:
            self.skipped.append((line, redact(reason)[:300]))


def folder() -> Path:
    """Where the logs lie, readable by the owner only."""
    path = Path(settings.DATA_DIR) / "live"
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def new_file(session_uid: str, title: str) -> LogFile:
    """The row (not yet stored) of a live session's log; the file is made with its first event."""
    path = str(folder() / f"{session_uid}.jsonl")
    return LogFile(
        name=f"{title or session_uid}.jsonl"[:1024], path=path, origin=LogFile.Origin.API,
        key=hashlib.sha256(os.fsencode(path)).hexdigest(), format="contextlab-events",
    )  # fmt: skip


def append(session: Session, file: LogFile, body: bytes) -> Appended:
    """Append the events among the lines of a request; raises TooMuch, and nothing is appended then."""
    if len(body) > MOST_BYTES:
        raise TooMuch(f"A request may hold {MOST_BYTES >> 20} MB of events; send several.")
    found = Appended()
    lines = _checked(session, body, found)
    with _locked(session, file) as stream:
        known = _known(Path(file.path), stream)
        fresh: list[bytes] = []
        for key, line in lines:
            if key is not None and key in known:
                found.known += 1
                continue
            fresh.append(line)
            if key is not None:
                known.add(key)
        found.taken = len(fresh)
        found.size = _write(Path(file.path), stream, fresh)
    return found


def is_own(file: LogFile) -> bool:
    """Whether it is the log of a live session: a file that was written here."""
    return bool(file.path) and file.origin == LogFile.Origin.API and Path(file.path).parent == folder()


def remove(file: LogFile) -> None:
    """Remove the log of a live session that was deleted; other files are nobody's to remove here."""
    if is_own(file):
        Path(file.path).unlink(missing_ok=True)
        _forget(Path(file.path))


def size_of(path: str) -> int:
    """Bytes of a log as it lies there; 0 before its first event."""
    with suppress(OSError):
        return os.stat(path).st_size
    return 0


def _checked(session: Session, body: bytes, found: Appended) -> list[tuple[str | None, bytes]]:
    """The lines that are events, with what they are known by."""
    lines: list[tuple[str | None, bytes]] = []
    for number, raw in enumerate(body.split(b"\n"), 1):
        line = raw.strip(b" \t\r")
        if not line:
            continue
        if len(line) > LONGEST_LINE:
            found.skip(number, f"longer than {LONGEST_LINE >> 20} MB ({len(line):,} bytes)")
            continue
        if (told := read_told(line)) is not None:
            if told.refused:
                found.skip(number, told.refused)
            else:
                found.told.append((number, told))
            continue
        checked = check_line(line, session.native_id)
        if checked.reason:
            found.skip(number, checked.reason)
        else:
            lines.append((checked.key, _as_kept(line)))
    return lines


def _as_kept(line: bytes) -> bytes:
    """The line as it may be stored: without secrets where the settings say so."""
    if not settings.REDACT_AT_INGEST:
        return line
    text = line.decode("utf-8", "surrogateescape")
    return redact(text).encode("utf-8", "surrogateescape")


@contextmanager
def _locked(session: Session, file: LogFile) -> Iterator[BinaryIO]:
    """The log, open at its end, while nobody else appends; begun with its header where it is not there."""
    with _open_alone(Path(file.path)) as stream:
        if not stream.seek(0, os.SEEK_END):
            file.refresh_from_db(fields=["size", "revision"])
            stream.write(read_raw(file, 0, file.size) if file.size else _header(session))
            stream.flush()
        yield stream


@contextmanager
def _open_alone(path: Path) -> Iterator[BinaryIO]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(descriptor, "r+b") as stream:
        try:
            import fcntl
        except ImportError:  # Windows: threads of one process only
            with _guard:
                yield stream
            return
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield stream


def _header(session: Session) -> bytes:
    started = session.created_at.isoformat()
    start = SessionStart(
        session.native_id, title=session.title or None, title_origin="record" if session.title else None,
        model=session.model or None, project=session.project or None, started_at=started,
    )  # fmt: skip
    return ("\n".join(write_events(start, ())) + "\n").encode()


def _write(path: Path, stream: BinaryIO, lines: Sequence[bytes]) -> int:
    """Append lines, all or none; returns the size of the log."""
    before = stream.seek(0, os.SEEK_END)
    size = before + sum(map(len, lines)) + len(lines)
    if size > settings.MAX_UPLOAD_BYTES:
        _forget(path)
        raise TooMuch(
            f"The log of a session may have {settings.MAX_UPLOAD_BYTES >> 20:,} MB; this one is full."
        )
    if not lines:
        return before
    torn = b"" if _ends_line(stream, before) else b"\n"
    try:
        stream.write(torn + b"\n".join(lines) + b"\n")
        stream.flush()
    except OSError:
        _forget(path)
        stream.truncate(before)
        raise
    _remember(path, size + len(torn))
    return size + len(torn)


def _ends_line(stream: BinaryIO, size: int) -> bool:
    stream.seek(size - 1)
    ended = stream.read(1) == b"\n"
    stream.seek(0, os.SEEK_END)
    return ended


# What stands in the logs ----------------------------------------------------------------------------------


@dataclass(slots=True)
class _Seen:
    """The events of a log up to a size."""

    size: int = 0
    keys: set[str] = field(default_factory=set)


_cache: OrderedDict[str, _Seen] = OrderedDict()
_guard = threading.Lock()


def _known(path: Path, stream: BinaryIO) -> set[str]:
    """What the events of the log are known by; what others appended since the last look is read. Under the lock."""
    end = stream.seek(0, os.SEEK_END)
    with _guard:
        seen = _cache.setdefault(str(path), _Seen())
        _cache.move_to_end(str(path))
        while len(_cache) > KNOWN_LOGS:
            _cache.popitem(last=False)
    if seen.size > end:
        seen.size, seen.keys = 0, set()
    stream.seek(seen.size)
    for line in stream:
        with suppress(ValueError, AttributeError, UnicodeDecodeError):
            value = json.loads(line)
            if isinstance(value.get("id"), str):
                seen.keys.add(f"{value.get('type')}:{value['id']}")
    seen.size = end
    return seen.keys


def _remember(path: Path, size: int) -> None:
    with _guard:
        if (seen := _cache.get(str(path))) is not None:
            seen.size = size


def _forget(path: Path) -> None:
    with _guard:
        _cache.pop(str(path), None)
