"""Numbers by hash in sorted arrays: what is known of the ids of a log of any length, in twelve to sixteen bytes an id.

A dict of 380,000 uuids (a log of 1 GB) takes 45 MB. Two different ids of a million share a 64-bit hash with a
probability of about 3 in 10**8; no log can be written for which it is more, since the interpreter seeds its hashes anew
in every process.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Mapping

_WIDE = 1 << 31
Run = tuple["array[int]", "array[int]"]
"""Sorted hashes, and the number of each."""


class HashRuns:
    """Hash -> number. Numbers are added many at a time, and of a hash that comes again the newer one counts."""

    __slots__ = ("_runs",)

    def __init__(self) -> None:
        self._runs: list[Run] = []
        """The oldest first. Runs of like size are merged, so that there are few."""

    def __bool__(self) -> bool:
        return bool(self._runs)

    def get(self, key: int) -> int | None:
        """The number of a hash, None when it has none."""
        for keys, numbers in reversed(self._runs):
            at = bisect_left(keys, key)
            if at < len(keys) and keys[at] == key:
                return numbers[at]
        return None

    def add(self, numbers: Mapping[int, int]) -> None:
        """Take in numbers (0 or more, less than 2**63) by their hashes."""
        keys = sorted(numbers)
        given = [numbers[key] for key in keys]
        run: Run = array("q", keys), array("i" if max(given) < _WIDE else "q", given)
        while self._runs and len(self._runs[-1][0]) <= 2 * len(run[0]):
            run = _merged(self._runs.pop(), run)
        self._runs.append(run)


def _merged(old: Run, new: Run) -> Run:
    (left, left_numbers), (right, right_numbers) = old, new
    if left_numbers.typecode != right_numbers.typecode:
        left_numbers, right_numbers = array("q", left_numbers), array("q", right_numbers)
    keys, numbers = array("q"), array(left_numbers.typecode)
    at = 0
    for key, number in zip(right, right_numbers, strict=True):
        to = bisect_left(left, key, at)
        keys.extend(left[at:to])
        numbers.extend(left_numbers[at:to])
        keys.append(key)
        numbers.append(number)
        at = to + (to < len(left) and left[to] == key)
    keys.extend(left[at:])
    numbers.extend(left_numbers[at:])
    return keys, numbers
