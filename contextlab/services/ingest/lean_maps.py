"""Dicts that are only added to, for logs of any length: ids to numbers, positions to texts and to names, in arrays."""

from __future__ import annotations

from array import array
from bisect import bisect_left

from contextlab.importers.hash_runs import HashRuns

RECENT_IDS = 1 << 13
"""Ids that stand in a plain dict, the newest ones."""


class Ids:
    """Id -> number, as a dict, except that nothing is removed and no id is set twice; old ids are kept as hashes."""

    __slots__ = ("_count", "_older", "_recent")

    def __init__(self) -> None:
        self._recent: dict[str, int] = {}
        self._older = HashRuns()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __contains__(self, name: str) -> bool:
        return name in self._recent or (bool(self._older) and self._older.get(hash(name)) is not None)

    def __getitem__(self, name: str) -> int:
        found = self.get(name)
        if found is None:
            raise KeyError(name)
        return found

    def get(self, name: str) -> int | None:
        """The number of an id, None when it has none."""
        found = self._recent.get(name)
        return self._older.get(hash(name)) if found is None and self._older else found

    def __setitem__(self, name: str, number: int) -> None:
        self._recent[name] = number
        self._count += 1
        if len(self._recent) >= RECENT_IDS:
            self._older.add({hash(one): number for one, number in self._recent.items()})
            self._recent = {}

    def setdefault(self, name: str, number: int) -> int:
        """The number of an id; where it has none it gets this one."""
        found = self.get(name)
        if found is None:
            self[name] = number
            return number
        return found


class Strings:
    """Position -> text for rising positions, as a dict that is only added to: one run of bytes and two columns."""

    __slots__ = ("_bytes", "_ends", "_keys")

    def __init__(self) -> None:
        # Ends in 32 bits: 4 GB of ids are those of a log of some ten thousand GB.
        self._keys, self._ends, self._bytes = array("i"), array("I"), bytearray()

    def __len__(self) -> int:
        return len(self._keys)

    def __setitem__(self, position: int, text: str) -> None:
        self._keys.append(position)
        self._bytes += text.encode("utf-8", "surrogatepass")
        self._ends.append(len(self._bytes))

    def get(self, position: int) -> str | None:
        """The text of a position, None where it has none."""
        at = bisect_left(self._keys, position)
        if at == len(self._keys) or self._keys[at] != position:
            return None
        start = self._ends[at - 1] if at else 0
        return self._bytes[start : self._ends[at]].decode("utf-8", "surrogatepass")


class Names:
    """Position -> one of few names for rising positions, as a dict that is only added to."""

    __slots__ = ("_keys", "_known", "_names", "_numbers")

    def __init__(self) -> None:
        self._keys, self._numbers = array("i"), array("i")
        self._known: dict[str, int] = {}
        self._names: list[str] = []

    def __len__(self) -> int:
        return len(self._keys)

    def __setitem__(self, position: int, name: str) -> None:
        if name not in self._known:
            self._known[name] = len(self._names)
            self._names.append(name)
        self._keys.append(position)
        self._numbers.append(self._known[name])

    def get(self, position: int) -> str | None:
        """The name at a position, None where there is none."""
        at = bisect_left(self._keys, position)
        if at == len(self._keys) or self._keys[at] != position:
            return None
        return self._names[self._numbers[at]]
