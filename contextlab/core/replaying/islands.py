"""Small old entries behind large ones: the character limit skips what does not fit and goes on looking.

From one step to the next little of that changes. What was found stays on a pile, the oldest island at the bottom; a
search that comes upon one of them looks whether all below it still holds:

| what would change it                      | is known by                                                           |
|-------------------------------------------|-----------------------------------------------------------------------|
| what was kept does not fit any more       | the size of the island and all below it                               |
| what was skipped fits now                 | the least size among all that was skipped, with what was kept before it |
| sizes, where a threshold of a tier passed | islands that reach behind it are looked for anew                      |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from contextlab.core.budget import Budget
from contextlab.core.items import Reason
from contextlab.core.projection import NONE
from contextlab.core.replaying.columns import Columns
from contextlab.core.replaying.nearest import NEVER, Nearest

if TYPE_CHECKING:
    from contextlab.core.replaying.cuts import Cut

Runs = tuple[int, int]
"""A half-open range of entries."""
Band = tuple[int, int, Reason]
"""A half-open range of indices that is left out, and why."""


class Fit(Protocol):
    """Finds the first entry from which on all up to `end` fit into `room`; starts looking at `hint`."""

    def __call__(self, low: int, end: int, room: int, hint: int) -> int:
        """The entry's number."""
        ...


@dataclass(slots=True)
class Island:
    """Entries that are kept behind a gap."""

    first: int
    stop: int
    size: int
    piled: int = 0
    """Its size and that of all below it, counted from the pile's base."""
    least: int = NEVER
    """With this room left behind it, something that was skipped below would fit."""
    below: int = NONE
    """Where the gap below it begins, and the gap as a band."""
    gap: Band | None = None


class Islands:
    """The islands of the last step, and the search for those of the next."""

    def __init__(self, columns: Columns, budget: Budget, fit: Fit) -> None:
        """No islands."""
        self.columns = columns
        self.pile: list[Island] = []
        """The oldest first."""
        self._fit = fit
        self._base = 0
        """Size of what has left the pile at its bottom."""
        self._low = 0
        self._clear = self._trim = 0
        chars = columns.sums.chars
        self._tables = {
            (clears, trims): Nearest(columns, chars, clears, trims)
            for clears in {False, budget.max_recent_tool_results is not None}
            for trims in {False, budget.trim_old_reasoning}
        }
        self._zones: list[tuple[int, int, Nearest | None]] = []

    def cut_back(self, index: int) -> None:
        """Entries from the last one that begins before `index` on have changed."""
        number = self.columns.run_of[index - 1] if index else 0
        for table in self._tables.values():
            table.cut_back(number)
        self._zones.clear()
        self._forget(number)

    def before(self, low: int, high: int, room: int, cut: Cut) -> list[Island]:
        """The islands in [low, high - 1) when so much room is left before `high`; the oldest first."""
        self._follow(low, cut)
        pile, found = self.pile, list[Island]()
        end, passed = high, list[int]()
        while True:
            at, least = self._last_within(low, end, room, cut)
            passed.append(least)
            while pile and pile[-1].stop > at + 1:
                pile.pop()
            if at < low or self._holds(at, room):
                break
            hint = pile.pop().first if pile and pile[-1].stop == at + 1 else at
            island = Island(self._fit(low, at + 1, room, hint), at + 1, 0)
            island.size = self._size(island.first, island.stop, cut)
            found.append(island)
            room -= island.size
            end = island.first
        self._put(found, passed)
        return pile

    def bands(self, low: int, high: int) -> Iterator[Band]:
        """The gaps around them in [low, high) in which something is left out; those between old ones are the same."""
        below = low
        for island in self.pile:
            if island.below != below:
                island.below, island.gap = below, self._gap(below, island.first)
            if island.gap is not None:
                yield island.gap
            below = island.stop
        if (last := self._gap(below, high)) is not None:
            yield last

    def _gap(self, first: int, stop: int) -> Band | None:
        a, b = self.columns.start_of(first), self.columns.start_of(stop)
        return (a, b, Reason.MAX_CHARS) if self.columns.free_between(a, b) else None

    def _holds(self, at: int, room: int) -> bool:
        """Whether the topmost island ends here, and with all below it is what this room gives."""
        if not self.pile or self.pile[-1].stop != at + 1:
            return False
        top = self.pile[-1]
        return top.piled - self._base <= room < top.size + top.least

    def _put(self, found: list[Island], passed: list[int]) -> None:
        """Pile up what was found (the newest first), with the least sizes that were passed before each and at last."""
        pile = self.pile
        if not pile:
            self._base = 0
        below, least = self._base, NEVER
        if pile:
            below, least = pile[-1].piled, pile[-1].size + pile[-1].least
        for island in reversed(found):
            island.least = min(least, passed.pop())
            island.piled = below = below + island.size
            least = island.size + island.least
            pile.append(island)

    def _follow(self, low: int, cut: Cut) -> None:
        """Let go what may be otherwise now."""
        if low < self._low:
            self.pile.clear()
        self._low = low
        changed = [
            min(old, new) for old, new in ((self._clear, cut.clear), (self._trim, cut.trim)) if old != new
        ]
        if changed or not self._zones:
            self._clear, self._trim = cut.clear, cut.trim
            self._zones = list(self._split(cut))
            self._forget(self._number_at(min(changed, default=0)))
        while self.pile and self.pile[0].first < low:
            self._take_from(self.pile[0], low, cut)

    def _forget(self, number: int) -> None:
        """Let go of islands that hold this entry or a later one."""
        while self.pile and self.pile[-1].stop > number:
            self.pile.pop()

    def _take_from(self, bottom: Island, low: int, cut: Cut) -> None:
        """Entries before `low` are not looked at any more."""
        gone = bottom.size if bottom.stop <= low else self._size(bottom.first, low, cut)
        self._base += gone
        bottom.size -= gone
        bottom.first, bottom.below = low, NONE
        if bottom.stop <= low:
            del self.pile[0]

    def _last_within(self, low: int, end: int, room: int, cut: Cut) -> tuple[int, int]:
        """The last entry in [low, end) that fits, or low - 1, and the least size of those behind it."""
        least = NEVER
        if room < 0:
            return low - 1, 0
        for first, stop, table in self._zones:
            if first >= end:
                continue
            if stop <= low:
                break
            bottom, top = max(first, low), min(stop, end)
            if table is not None:
                at, passed = table.before(bottom, top, room)
            else:
                passed = self._size(first, stop, cut) if self._is_free(first) else NEVER
                at = first if passed <= room else first - 1
                passed = NEVER if at == first else passed
            least = min(least, passed)
            if at >= bottom:
                return at, least
        return low - 1, least

    def _split(self, cut: Cut) -> Iterator[tuple[int, int, Nearest | None]]:
        """Where entries have which size, the newest first; an entry that a threshold divides stands alone."""
        starts, stop, above = self.columns.run_starts, NEVER, (False, False)
        for threshold in sorted({0, cut.clear, cut.trim}, reverse=True):
            number = self._number_at(threshold)
            if number == len(starts) or starts[number] == threshold:
                yield number, stop, self._tables[above]
            else:
                yield number + 1, stop, self._tables[above]
                yield number, number + 1, None
            stop, above = number, (cut.clear >= threshold, cut.trim >= threshold)

    def _number_at(self, index: int) -> int:
        run_of = self.columns.run_of
        return run_of[index] if index < len(run_of) else len(self.columns.run_starts)

    def _is_free(self, number: int) -> bool:
        run = self.columns.run(number)
        return self.columns.free_between(run.start, run.stop) > 0

    def _size(self, first: int, stop: int, cut: Cut) -> int:
        columns = self.columns
        return columns.sums.chars.between(
            columns.start_of(first), columns.start_of(stop), cut.clear, cut.trim
        )
