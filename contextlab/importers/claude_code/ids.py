"""Ids of a whole file: to small numbers, and as events carry them."""

from __future__ import annotations

from hashlib import blake2b

from contextlab.core.texts import clean
from contextlab.importers.hash_runs import HashRuns

RECENT = 1 << 13


class IdMap:
    """Id -> number; an id that is set again gets the newer number. Only the newest ids stand in a dict."""

    __slots__ = ("_older", "_recent")

    def __init__(self) -> None:
        self._recent: dict[int, int] = {}
        self._older = HashRuns()

    def get(self, name: str) -> int | None:
        """The number of an id, None when it was never set."""
        key = hash(name)
        number = self._recent.get(key)
        return self._older.get(key) if number is None and self._older else number

    def set(self, name: str, number: int) -> None:
        """Give an id its number (0 or more, less than 2**63)."""
        self._recent[hash(name)] = number
        if len(self._recent) >= RECENT:
            self._older.add(self._recent)
            self._recent = {}


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
