"""Ids of a whole file to small numbers, in twelve to sixteen bytes an id.

A dict of 380,000 uuids (a file of 1 GB) takes 45 MB. Here only the newest ids stand in a dict; older ones lie in
sorted arrays of 64-bit hashes. Two different ids of one file share a hash with a probability of about 4 in 10**9; no
file can be written for which it is more, since the interpreter seeds its hashes anew in every process.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from hashlib import blake2b

from contextlab.importers.lines import clean

RECENT = 1 << 13
_WIDE = 1 << 31


class IdMap:
    """Id -> number; an id that is set again gets the newer number."""

    __slots__ = (
        "_older",
        "_recent",
    )

    def __init__(self) -> None:
        self._recent: dict[int, int] = {}
        self._older: list[tuple[array[int], array[int]]] = []

    def get(self, name: str) -> int | None:
        """The number of an id, None when it was never set."""
        key = hash(name)
        number = self._recent.get(key)
        return self._search(key) if number is None and self._older else number

    def set(self, name: str, number: int) -> None:
        """Give an id its number (0 or more, less than 2**63)."""
        self._recent[hash(name)] = number
        if len(self._recent) >= RECENT:
            keys = sorted(self._recent)
            numbers = [self._recent[key] for key in keys]
            self._older.append((array("q", keys), array("i" if max(numbers) < _WIDE else "q", numbers)))
            self._recent = {}

    def _search(self, key: int) -> int | None:
        for keys, numbers in reversed(self._older):
            at = bisect_left(keys, key)
            if at < len(keys) and keys[at] == key:
                return numbers[at]
        return None


def bounded(name: str) -> str:
    """An id from the log as events carry it: it can be stored, and is hashed where it is longer than 200."""
    if len(name) <= 200 and name.isascii() and "\x00" not in name:
        return name
    name = clean(name)
    return name if len(name) <= 200 else f"long-{blake2b(name.encode(), digest_size=16).hexdigest()}"


def made_up_id(raw: bytes, seen: dict[str, int]) -> str:
    """An id for a record that has none: from its bytes, and from how often they occurred."""
    name = f"made-{blake2b(raw, digest_size=12).hexdigest()}"
    count = seen[name] = seen.get(name, 0) + 1
    return name if count == 1 else f"{name}-{count}"


def digest(text: str) -> str:
    """A short name for a text."""
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()
