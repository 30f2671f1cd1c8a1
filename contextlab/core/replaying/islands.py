"""Small old entries behind large ones: the character limit skips what does not fit and goes on looking.

Lower bounds in blocks let the search pass over stretches in which nothing can fit.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from contextlab.core.budget import Budget
from contextlab.core.replaying.columns import Columns
from contextlab.core.replaying.sizes import REASONING
from contextlab.core.replaying.sums import RESULT

if TYPE_CHECKING:
    from contextlab.core.replaying.cuts import Cut

BLOCK = 64
NEVER = 1 << 62
"""Lower bound of an entry in which nothing is free."""


class Islands:
    """Least possible sizes of entries, of blocks of entries, and of blocks of blocks."""

    def __init__(self, columns: Columns, budget: Budget) -> None:
        """Nothing is built until it is asked for."""
        self.columns = columns
        self._clears = budget.max_recent_tool_results is not None
        self._trims = budget.trim_old_reasoning
        self._least: list[int] = []
        self._blocks: list[int] = []
        self._super: list[int] = []

    def cut_back(self, index: int) -> None:
        """Entries from the last one that begins before `index` on have changed."""
        runs = bisect_left(self.columns.run_starts, index) - 1
        del self._least[max(0, runs) :]

    def last_within(self, low: int, end: int, room: int, cut: Cut) -> int | None:
        """The last entry in [low, end) that has something free and fits into `room`."""
        self._build()
        least, number = self._least, end - 1
        while number >= low:
            block = number // BLOCK
            if self._blocks[block] <= room:
                for candidate in range(number, max(low, block * BLOCK) - 1, -1):
                    if least[candidate] <= room and self._size(candidate, cut) <= room:
                        return candidate
            number = block * BLOCK - 1
            while number >= low and self._super[number // (BLOCK * BLOCK)] > room:
                number = number // (BLOCK * BLOCK) * (BLOCK * BLOCK) - 1
        return None

    def _size(self, number: int, cut: Cut) -> int:
        run = self.columns.run(number)
        return self.columns.sums.chars.between(run.start, run.stop, cut.clear, cut.trim)

    def _build(self) -> None:
        """Extend the bounds to all entries but the last, which may still grow (it is never asked for)."""
        runs = self.columns.runs - 1
        if len(self._least) >= runs:
            return
        first = len(self._least)
        self._least.extend(self._bound(number) for number in range(first, runs))
        _renew(self._blocks, self._least, first)
        _renew(self._super, self._blocks, first // BLOCK)

    def _bound(self, number: int) -> int:
        columns, run = self.columns, self.columns.run(number)
        if not columns.free_between(run.start, run.stop):
            return NEVER
        return sum(self._item_bound(index) for index in run)

    def _item_bound(self, index: int) -> int:
        measure, kind = self.columns.sums.chars, self.columns.kind(index)
        raw = measure.raw[index + 1] - measure.raw[index]
        if kind == RESULT and self._clears:
            return min(raw, raw + measure.results[index + 1] - measure.results[index])
        if kind == REASONING and self._trims:
            return min(raw, raw + measure.reasoning[index + 1] - measure.reasoning[index])
        return raw


def _renew(blocks: list[int], least: list[int], first: int) -> None:
    """Take the minimum of each block from the one that holds `first` on."""
    start = first // BLOCK
    del blocks[start:]
    blocks.extend(min(least[at : at + BLOCK]) for at in range(start * BLOCK, len(least), BLOCK))
