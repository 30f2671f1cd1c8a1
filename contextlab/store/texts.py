"""Texts of items and raw bytes of logs, read from their segments: byte for byte what was imported.

Decompressed segments are kept for a while, by the hash of their content.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from threading import Lock
from typing import Any

import zstandard
from django.db.models import QuerySet

from contextlab.store.models import RAW_SEGMENT, LogFile, RawSegment, TextSegment

TEXT_COLUMNS = ("position", "text_segment", "text_offset", "text_length")
"""Columns of an ItemRecord that tell where its text is, in the order of TextRef."""

TextRef = tuple[int, int, int, int]
CACHE_BYTES = 16 * 1024 * 1024


class _Cache:
    """Decompressed segments by the hash of their content; the least recently used one goes first."""

    def __init__(self, limit: int) -> None:
        self._limit, self._size = limit, 0
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._lock = Lock()

    def get(self, sha256: str) -> bytes | None:
        with self._lock:
            if (data := self._kept.get(sha256)) is not None:
                self._kept.move_to_end(sha256)
            return data

    def put(self, sha256: str, data: bytes) -> None:
        with self._lock:
            if sha256 in self._kept or len(data) > self._limit // 4:
                return
            self._kept[sha256] = data
            self._size += len(data)
            while self._size > self._limit:
                self._size -= len(self._kept.popitem(last=False)[1])


_cache = _Cache(CACHE_BYTES)


def read_texts(
    session_id: int, revision: int, refs: Iterable[TextRef], most: int | None = None
) -> dict[int, str]:
    """Texts by position, given the TEXT_COLUMNS of items; of each text at most `most` bytes, cut between letters.

    An item whose segment is gone (its session was just rewritten) is left out.
    """
    wanted = list(refs)
    rows = TextSegment.objects.filter(session_id=session_id, revision=revision)
    data = _segments(rows, {ref[1] for ref in wanted if ref[3]})
    texts = {}
    for position, number, offset, length in wanted:
        size = length if most is None else min(length, most)
        part = data.get(number, b"")[offset : offset + size]
        if len(part) == size:
            # Only a cut can end inside a letter; what was stored is valid UTF-8.
            texts[position] = part.decode("utf-8", "ignore" if size < length else "strict")
    return texts


class Segments:
    """Segments of a session's texts, for texts that are read together."""

    def __init__(self, session_id: int, revision: int, numbers: Iterable[int]) -> None:
        """Read these segments; those that are gone have no texts."""
        rows = TextSegment.objects.filter(session_id=session_id, revision=revision)
        self._bytes = _segments(rows, numbers)

    def texts(self, numbers: Iterable[int], offsets: Iterable[int], lengths: Iterable[int]) -> list[str]:
        """The texts at these places; empty where their segment is gone."""
        found: list[str] = []
        current, segment = -1, ""  # type: int, str | bytes
        for number, offset, length in zip(numbers, offsets, lengths, strict=True):
            if number != current:
                # In ASCII a letter is a byte, so that parts can be cut out of the decoded text.
                data = self._bytes.get(number, b"")
                current, segment = number, data.decode("ascii") if data.isascii() else data
            part = segment[offset : offset + length]
            if len(part) != length:
                part = ""
            found.append(part if isinstance(part, str) else part.decode())
        return found


def read_texts_of(refs: Iterable[tuple[int, int, TextRef]]) -> dict[tuple[int, int], str]:
    """Texts by (session, position) of a few items of many sessions, given as (session, revision, TEXT_COLUMNS)."""
    wanted = list(refs)
    owners = {session_id: revision for session_id, revision, _ in wanted}
    # More than is asked for by their cross product, of which only names are read.
    rows = TextSegment.objects.filter(session__in=owners, number__in={ref[1] for *_, ref in wanted})
    needed = {(session_id, ref[1]) for session_id, _, ref in wanted}
    known = {
        (session_id, number): sha256
        for session_id, number, revision, sha256 in rows.values_list(
            "session_id", "number", "revision", "sha256"
        )
        if (session_id, number) in needed and owners[session_id] == revision
    }
    data = {sha256: _cache.get(sha256) for sha256 in known.values()}
    missing = rows.filter(sha256__in=[sha256 for sha256, kept in data.items() if kept is None])
    unpack = zstandard.ZstdDecompressor().decompress
    for sha256, packed in missing.values_list("sha256", "data"):
        data[sha256] = kept = unpack(bytes(packed))
        _cache.put(sha256, kept)
    texts = {}
    for session_id, _, (position, number, offset, length) in wanted:
        part = (data.get(known.get((session_id, number), "")) or b"")[offset : offset + length]
        if len(part) == length:
            texts[session_id, position] = part.decode()
    return texts


def read_raw(file: LogFile, offset: int, length: int) -> bytes:
    """The log's own bytes from `offset` on; fewer than `length` where the file ended."""
    first, last = offset // RAW_SEGMENT, max(offset, offset + length - 1) // RAW_SEGMENT
    rows = RawSegment.objects.filter(file_id=file.pk, revision=file.revision)
    data = _segments(rows, range(first, last + 1))
    joined = b"".join(data.get(number, b"") for number in range(first, last + 1))
    start = offset - first * RAW_SEGMENT
    return joined[start : start + length]


def _segments(rows: QuerySet[Any], numbers: Iterable[int]) -> dict[int, bytes]:
    """Decompressed segments by number; those that are not kept in memory are read from the database."""
    wanted = sorted(numbers)
    if not wanted:
        return {}
    found: dict[int, bytes] = {}
    missing: list[int] = []
    rows = rows.filter(number__in=wanted)
    for number, sha256 in rows.values_list("number", "sha256"):
        if (data := _cache.get(sha256)) is not None:
            found[number] = data
        else:
            missing.append(number)
    unpack = zstandard.ZstdDecompressor().decompress
    for number, sha256, packed in rows.filter(number__in=missing).values_list("number", "sha256", "data"):
        found[number] = data = unpack(bytes(packed))
        _cache.put(sha256, data)
    return found
