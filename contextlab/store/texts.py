"""Texts of items and raw bytes of logs, read from their segments: byte for byte what was imported.

A segment once written never changes (a longer one gets a new key), so decompressed ones are kept for a while.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
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
    """Decompressed segments by table and key, the least recently used one goes first."""

    def __init__(self, limit: int) -> None:
        self._limit, self._size = limit, 0
        self._kept: OrderedDict[tuple[str, int], bytes] = OrderedDict()
        self._lock = Lock()

    def get(self, key: tuple[str, int]) -> bytes | None:
        with self._lock:
            if (data := self._kept.get(key)) is not None:
                self._kept.move_to_end(key)
            return data

    def put(self, key: tuple[str, int], data: bytes) -> None:
        with self._lock:
            if key in self._kept or len(data) > self._limit // 4:
                return
            self._kept[key] = data
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
    data = _segments(rows, {ref[1] for ref in wanted if ref[3]}, "text", TextSegment)
    texts = {}
    for position, number, offset, length in wanted:
        size = length if most is None else min(length, most)
        part = data.get(number, b"")[offset : offset + size]
        if len(part) == size:
            # Only a cut can end inside a letter; what was stored is valid UTF-8.
            texts[position] = part.decode("utf-8", "ignore" if size < length else "strict")
    return texts


def read_raw(file: LogFile, offset: int, length: int) -> bytes:
    """The log's own bytes from `offset` on; fewer than `length` where the file ended."""
    first, last = offset // RAW_SEGMENT, max(offset, offset + length - 1) // RAW_SEGMENT
    rows = RawSegment.objects.filter(file_id=file.pk, revision=file.revision)
    data = _segments(rows, range(first, last + 1), "raw", RawSegment)
    joined = b"".join(data.get(number, b"") for number in range(first, last + 1))
    start = offset - first * RAW_SEGMENT
    return joined[start : start + length]


def _segments(
    rows: QuerySet[Any], numbers: Iterable[int], table: str, model: type[TextSegment] | type[RawSegment]
) -> dict[int, bytes]:
    """Decompressed segments by number; those that are not kept in memory are read from the database."""
    found: dict[int, bytes] = {}
    missing: dict[int, int] = {}
    for key, number in _keys(rows, sorted(numbers)):
        if (data := _cache.get((table, key))) is not None:
            found[number] = data
        else:
            missing[key] = number
    unpack = zstandard.ZstdDecompressor().decompress
    for key, packed in model.objects.filter(pk__in=missing).values_list("pk", "data"):
        found[missing[key]] = data = unpack(bytes(packed))
        _cache.put((table, key), data)
    return found


def _keys(rows: QuerySet[Any], numbers: Sequence[int]) -> Iterable[tuple[int, int]]:
    if not numbers:
        return ()
    return rows.filter(number__in=numbers).values_list("pk", "number")
