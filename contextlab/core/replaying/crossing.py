"""Which calls stand before a border and have their result behind it: asked at every step, answered in a glance."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from itertools import accumulate

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

    def extend(self, calls: Sequence[int], results: Sequence[int]) -> None:
        """Further calls in order, each with its result (NONE where nobody answers)."""
        near = [
            result if result - call <= NEAR else NONE for call, result in zip(calls, results, strict=True)
        ]
        start = len(self._calls)
        self._calls += calls
        self._results += near
        self._follow(start)
        for call, result in zip(calls, results, strict=True):
            if result - call > NEAR:
                insort(self._far, (result, call))

    def answer(self, call: int, result: int) -> None:
        """A call that is known already got its result."""
        if result - call > NEAR:
            insort(self._far, (result, call))
            return
        number = bisect_left(self._calls, call)
        self._results[number] = result
        self._follow(number)

    def over(self, border: int) -> list[tuple[int, int]]:
        """The pairs (call, result) with call < border <= result."""
        found: list[tuple[int, int]] = []
        reach, number = self._reach, bisect_left(self._calls, border) - 1
        while number >= 0 and reach[number] >= border:
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
        self._results[start:] = [result if result < length else NONE for result in self._results[start:]]
        self._follow(start)

    def _follow(self, start: int) -> None:
        """Take the farthest results anew, from call number `start` on."""
        before = self._reach[start - 1] if start else NONE
        farthest = accumulate(self._results[start:], max, initial=before)
        next(farthest)
        self._reach[start:] = farthest
