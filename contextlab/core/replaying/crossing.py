"""Which calls stand before a border and have their result behind it: asked at every step, answered in a glance."""

from __future__ import annotations

from bisect import bisect_left

from contextlab.core.projection import NONE

NEAR = 64
"""Pairs farther apart than this (in items) are rare and listed apart, so that no look-back is longer."""


class Crossing:
    """Pairs by index. For near pairs `reach` holds, call by call, the farthest result of all calls up to it."""

    def __init__(self) -> None:
        """No calls."""
        self._calls: list[int] = []
        self._results: list[int] = []
        self._reach: list[int] = []
        self._far: list[tuple[int, int]] = []
        """(result, call) of pairs far apart, in the order of the results."""

    def call(self, index: int) -> None:
        """A call was appended."""
        self._calls.append(index)
        self._results.append(NONE)
        self._reach.append(self._reach[-1] if self._reach else NONE)

    def answer(self, call: int, result: int) -> None:
        """Its result was appended."""
        if result - call > NEAR:
            self._far.append((result, call))
            return
        number = bisect_left(self._calls, call)
        self._results[number] = result
        for later in range(number, len(self._reach)):
            self._reach[later] = result

    def over(self, border: int) -> list[tuple[int, int]]:
        """The pairs (call, result) with call < border <= result."""
        found: list[tuple[int, int]] = []
        number = bisect_left(self._calls, border) - 1
        while number >= 0 and self._reach[number] >= border:
            if self._results[number] >= border:
                found.append((self._calls[number], self._results[number]))
            number -= 1
        if self._far and self._far[-1][0] >= border:
            for result, call in self._far[bisect_left(self._far, (border, NONE)) :]:
                if call < border:
                    found.append((call, result))
        return found

    def cut_back(self, length: int) -> None:
        """Forget everything from index `length` on."""
        keep = bisect_left(self._calls, length)
        del self._calls[keep:], self._results[keep:], self._reach[keep:]
        del self._far[bisect_left(self._far, (length, NONE)) :]
        # Only calls at most NEAR before the cut can have lost a near result.
        start = bisect_left(self._calls, length - NEAR)
        farthest = self._reach[start - 1] if start else NONE
        for number in range(start, keep):
            if self._results[number] >= length:
                self._results[number] = NONE
            farthest = max(farthest, self._results[number])
            self._reach[number] = farthest
