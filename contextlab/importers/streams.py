"""A file as a stream of its decompressed bytes, bounded, with a clear word where it cannot be read.

Plain, zstd (`.zst`) and gzip files are told apart by their first bytes, never by their names. Damage inside a
compressed stream, or a disk that fails half-way, ends the stream early: what was read stays, and `damage_of`
says what happened. Only a file of which nothing can be read raises.
"""

from __future__ import annotations

import io
import stat
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import zstandard

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

BUFFER = 1 << 18
HEAD = 8192
"""Bytes that decide whether a file is text at all."""

BINARY_SHARE = 0.04
"""Share of control bytes above which the head is no text: random bytes have 0.1, logs have none."""

_TEXT = bytes(set(range(32, 256)) | {9, 10, 12, 13, 27} | {0})
"""Bytes that a log may hold. NUL is here because a crashed append leaves whole lines of them."""

_MAGIC = (
    (b"PK\x03\x04", "a ZIP archive; unpack it first"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"%PDF-", "a PDF document"),
    (b"\x89PNG", "a picture (PNG)"),
    (b"\xff\xd8\xff", "a picture (JPEG)"),
    (b"\x7fELF", "a program (ELF)"),
    (b"BZh", "a bzip2 archive; unpack it first"),
    (b"\xfd7zXZ", "an xz archive; unpack it first"),
    (b"\xff\xfe", "UTF-16 text; save it as UTF-8"),
    (b"\xfe\xff", "UTF-16 text; save it as UTF-8"),
)


class UnreadableFile(Exception):  # noqa: N818 - the name that people see
    """The whole file cannot be read; the message says why, in words for the person who chose it."""


@dataclass(slots=True)
class Source:
    """One file to import: its name and how to open it (decompressed, from the start, as often as needed).

    `relative` is its path below the folder that was asked for, with forward slashes: importers learn from it about
    parents and siblings, never the format. `companions` are small files that belong to it (`agent-x.meta.json`).
    """

    name: str
    path: Path | None = None
    data: bytes | None = None
    relative: str = ""
    limit: int | None = None
    """Read no further than so many (decompressed) bytes: the size when the import began, for files that still grow."""
    start: int = 0
    """Read from this byte on, which must be one of a plain file's that begins a line."""
    companions: dict[str, Path] = field(default_factory=dict)
    size: int | None = None
    """Bytes on disk (compressed, where it is), as they were when the source was found."""
    modified: float | None = None
    """Time of the last change in seconds since 1970, as it was when the source was found."""

    def open(self) -> BinaryIO:
        """A stream of the decompressed bytes; raises UnreadableFile with the reason."""
        return open_source(self)


class _Bounded(io.RawIOBase):
    """The bytes of `inner` up to `limit`; a failure below ends the stream and is kept in `damage`."""

    def __init__(self, inner: Any, limit: int | None, close: Callable[[], None]) -> None:
        self._inner = inner
        self._left = limit
        self._close = close
        self.damage: str | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        if self.damage is not None:
            return 0
        view = memoryview(buffer)
        if self._left is not None:
            view = view[: self._left]
        try:
            count = int(self._inner.readinto(view) or 0) if len(view) else 0
        except EOFError:
            self.damage = "the compressed data ends early"
        except (zstandard.ZstdError, zlib.error) as error:
            self.damage = f"the compressed data is damaged ({error})"
        except OSError as error:
            self.damage = f"reading failed ({error.strerror or type(error).__name__})"
        else:
            if self._left is not None:
                self._left -= count
            return count
        return 0

    def close(self) -> None:
        if not self.closed:
            self._close()
        super().close()


def open_source(source: Source) -> BinaryIO:
    """A buffered stream of the source's decompressed bytes, at most `source.limit` of them.

    Raises UnreadableFile when there is no such file, it may not be read, is no regular file, or holds no text. An
    empty file is fine: an empty stream.
    """
    raw = io.BytesIO(source.data) if source.data is not None else _open_path(source)
    if source.start:
        raw.seek(source.start)
        left = None if source.limit is None else max(0, source.limit - source.start)
        return cast(BinaryIO, io.BufferedReader(_Bounded(raw, left, raw.close), BUFFER))
    head = raw.read(4)
    raw.seek(0)
    bounded = _Bounded(_decompressed(raw, head), source.limit, raw.close)
    stream = io.BufferedReader(bounded, BUFFER)
    try:
        _refuse_binary(source.name, stream.peek(HEAD)[:HEAD], bounded.damage)
    except UnreadableFile:
        stream.close()
        raise
    return cast(BinaryIO, stream)


def damage_of(stream: BinaryIO) -> str | None:
    """Why the stream ended before the file did; None when it did not (or not yet)."""
    return cast("str | None", getattr(getattr(stream, "raw", None), "damage", None))


def _open_path(source: Source) -> BinaryIO:
    path = source.path
    if path is None:
        raise UnreadableFile(f"{source.name}: nothing to read: neither a path nor content was given")
    try:
        # Opening a pipe would wait for its writer, so the kind is asked first.
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise UnreadableFile(f"{source.name}: is a folder, not a file")
        if not stat.S_ISREG(mode):
            raise UnreadableFile(f"{source.name}: is not a regular file")
        return path.open("rb", buffering=0)
    except FileNotFoundError:
        raise UnreadableFile(f"{source.name}: there is no such file") from None
    except PermissionError:
        raise UnreadableFile(f"{source.name}: no permission to read it") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UnreadableFile(f"{source.name}: cannot be opened ({reason})") from None


class _Inflated:
    """The decompressed bytes of zstd frames or gzip members that follow each other.

    The data is fed in small pieces: 512 bytes can become 16 MB at worst, so a bomb does not fill the memory, and
    what stands before the damage of a broken file is still given out.
    """

    def __init__(self, raw: BinaryIO, member: Callable[[], Any]) -> None:
        self._raw = io.BufferedReader(cast(io.RawIOBase, raw), BUFFER)
        self._new = member
        self._member: Any = None
        self._pending = memoryview(b"")

    def readinto(self, view: memoryview) -> int:
        while not self._pending:
            piece = self._raw.read(512)
            if not piece:
                if self._member is not None:
                    raise EOFError
                return 0
            self._pending = memoryview(self._feed(piece))
        count = min(len(view), len(self._pending))
        view[:count] = self._pending[:count]
        self._pending = self._pending[count:]
        return count

    def _feed(self, piece: bytes) -> bytes:
        out = b""
        while piece.strip(b"\x00") or (piece and self._member is not None):
            self._member = self._member or self._new()
            out += self._member.decompress(piece)
            if not self._member.eof:
                break
            piece, self._member = self._member.unused_data, None
        return out


def _decompressed(raw: BinaryIO, head: bytes) -> Any:
    if head == b"\x28\xb5\x2f\xfd":
        return _Inflated(raw, lambda: zstandard.ZstdDecompressor().decompressobj())
    if head[:2] == b"\x1f\x8b":
        return _Inflated(raw, lambda: zlib.decompressobj(wbits=31))
    return raw


def _refuse_binary(name: str, head: bytes, damage: str | None) -> None:
    if not head and damage is not None:
        raise UnreadableFile(f"{name}: {damage}")
    for magic, what in _MAGIC:
        if head.startswith(magic):
            raise UnreadableFile(f"{name}: is {what}")
    # A few stray bytes in a short file say nothing yet.
    if len(head.translate(None, _TEXT)) > 8 + BINARY_SHARE * len(head.replace(b"\x00", b"")):
        raise UnreadableFile(f"{name}: is a binary file, not a log")
