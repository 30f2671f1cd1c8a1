"""The nearest entry before a place that is small enough: asked for many rooms, answered in a few hops.

| what     | how                                                                                                    |
|----------|--------------------------------------------------------------------------------------------------------|
| hop      | from an entry to the nearest one before it that is smaller: all between are at least as large          |
| far hop  | over several hops at once (skew-binary jump pointers), so that no search takes more than a logarithm   |
| least    | the last entry that was too large is the smallest of all that were passed                              |

Entries have several sizes: as they are, and with their results or their reasoning cleared. Each is a table of its own.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise

from contextlab.core.replaying.columns import Columns
from contextlab.core.replaying.sums import Measure

NEVER = 1 << 62
"""Size of an entry in which nothing is free: it is never what is looked for."""
NOTHING = -1
"""Stands for the end of the search: smaller than everything."""


class Nearest:
    """One size of all entries, with the hops between them. Places are entry numbers plus one; 0 is the end."""

    def __init__(self, columns: Columns, measure: Measure, clears: bool, trims: bool) -> None:
        """Nothing is built until it is asked for."""
        self._columns = columns
        self._measure = measure
        self._clears = clears
        self._trims = trims
        self._sizes = [NOTHING]
        self._hops = [0]
        self._far = [0]
        self._depths = [0]

    def cut_back(self, number: int) -> None:
        """Entries from this one on have changed."""
        for column in (self._sizes, self._hops, self._far, self._depths):
            del column[max(0, number) + 1 :]

    def before(self, low: int, end: int, room: int) -> tuple[int, int]:
        """The last entry in [low, end) that fits into `room`, or low - 1; and the least size of those behind it."""
        sizes = self._sizes
        if len(sizes) <= end:
            self._build()
        hops, far = self._hops, self._far
        place, least = end, NEVER
        while place > low:
            size = sizes[place]
            if size <= room:
                return place - 1, least
            least = size
            jump = far[place]
            place = jump if jump > low and sizes[jump] > room else hops[place]
        return low - 1, least

    def _build(self) -> None:
        """Take in all entries but the last, which may still grow (it is never asked for)."""
        sizes, hops, far, depths = self._sizes, self._hops, self._far, self._depths
        for size in self._new_sizes(len(sizes) - 1):
            hop = len(sizes) - 1
            while sizes[hop] >= size:
                hop = hops[hop]
            jump = far[hop]
            twice = depths[hop] - depths[jump] == depths[jump] - depths[far[jump]]
            sizes.append(size)
            hops.append(hop)
            far.append(far[jump] if twice else hop)
            depths.append(depths[hop] + 1)

    def _new_sizes(self, first: int) -> list[int]:
        columns, measure = self._columns, self._measure
        starts = columns.run_starts[first:]
        sizes = [measure.raw[b] - measure.raw[a] for a, b in pairwise(starts)]
        for wanted, more in ((self._clears, measure.results), (self._trims, measure.reasoning)):
            if wanted:
                sizes = [
                    size + more[b] - more[a] for size, (a, b) in zip(sizes, pairwise(starts), strict=True)
                ]
        for number in columns.bound_runs[bisect_left(columns.bound_runs, first) :]:
            place = number - first
            if place < len(sizes) and not columns.free_between(starts[place], starts[place + 1]):
                sizes[place] = NEVER
        return sizes
