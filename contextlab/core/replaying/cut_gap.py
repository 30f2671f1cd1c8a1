"""The longest stretch of a cut that is left out: what a page folds away."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from contextlab.core.projecting.pair_guard import PairGuard
from contextlab.core.replaying.columns import Columns
from contextlab.core.replaying.cuts import Cut
from contextlab.core.replaying.islands import Band

Range = tuple[int, int]
NOWHERE: Range = (0, 0)


class Gaps:
    """Finds the longest gap, cut after cut. What it knows of the first bands it keeps while they stay."""

    def __init__(self, columns: Columns) -> None:
        """Nothing is known."""
        self.columns = columns
        self._found: list[tuple[Band, Range, Range]] = []
        """Bands from the first on: the longest gap up to the band's end, and the one that ends there."""
        self._dropped: list[int] = []
        """What the guard dropped at the step before."""

    def forget(self) -> None:
        """Begin anew."""
        self._found, self._dropped = [], []

    def longest(self, cut: Cut, guard: PairGuard | None, upto: int) -> Range:
        """The longest stretch that is left out, the first of several, in positions; (0, 0) without one."""
        columns = self.columns
        if not cut.bands and guard is None:
            return NOWHERE
        if guard is None and len(cut.bands) == 1 and not columns.pins:
            best = cut.bands[0][:2]
        elif columns.pins or (guard is not None and guard.added):
            best = max(_gaps(columns, cut, guard), key=_length, default=NOWHERE)
        else:
            best = self._longest(cut.bands, sorted(guard.dropped) if guard is not None else [])
        if not _length(best):
            return NOWHERE
        return columns.at[best[0]], columns.at[best[1]] if best[1] < columns.size else upto

    def _longest(self, bands: list[Band], dropped: list[int]) -> Range:
        """Without pins: bands and what the guard dropped, joined where they are neighbours."""
        found = self._still_known(bands, dropped)
        _, best, end = found[-1] if found else (None, NOWHERE, NOWHERE)
        at = bisect_left(dropped, end[1]) if found else 0
        for band in bands[len(found) :]:
            stop = bisect_left(dropped, band[0], at)
            for index in dropped[at:stop]:
                best, end = _further(best, end, index, index + 1)
            best, end = _further(best, end, band[0], band[1])
            at = stop
            found.append((band, best, end))
        for index in dropped[at:]:
            best, end = _further(best, end, index, index + 1)
        return best

    def _still_known(self, bands: list[Band], dropped: list[int]) -> list[tuple[Band, Range, Range]]:
        if not (self._found and bands) or bands[0] != self._found[0][0]:
            self._dropped, self._found = dropped, []
            return self._found
        changed = min(set(self._dropped).symmetric_difference(dropped), default=None)
        self._dropped, same = dropped, 0
        for band, (there, _, _) in zip(bands, self._found, strict=False):
            if band != there or (changed is not None and changed < band[1]):
                break
            same += 1
        del self._found[same:]
        return self._found


def _further(best: Range, end: Range, first: int, stop: int) -> tuple[Range, Range]:
    """The longest gap and the last one when [first, stop) is left out as well, which lies behind them."""
    end = (end[0], stop) if end[1] == first else (first, stop)
    return (end, end) if end[1] - end[0] > best[1] - best[0] else (best, end)


def _length(gap: Range) -> int:
    return gap[1] - gap[0]


def _gaps(columns: Columns, cut: Cut, guard: PairGuard | None) -> Iterator[Range]:
    """Stretches of which nothing stands, in order; of those that only pins part the longest."""
    bands = [(first, stop) for first, stop, _ in cut.bands]
    if guard is not None:
        bands = _joined(sorted([*bands, *((index, index + 1) for index in guard.dropped)]))
    elif len(bands) > 1:
        bands = _joined(bands)
    added = guard.added if guard is not None else set[int]()
    for first, stop in bands:
        start = first
        for index in sorted(index for index in added if first <= index < stop) if added else ():
            yield _between_pins(columns, cut, start, index)
            start = index + 1
        yield _between_pins(columns, cut, start, stop)


def _between_pins(columns: Columns, cut: Cut, first: int, stop: int) -> Range:
    """The longest stretch in [first, stop) without a pin, the first of several."""
    pins = columns.pins
    low, high = (0, 0) if cut.empty else (bisect_left(pins, first), bisect_left(pins, stop))
    if low == high:
        return first, stop
    ends = [(first, pins[low]), (pins[high - 1] + 1, stop)]
    inner = columns.pin_gaps[low + 1 : high]
    if inner:
        at = low + 1 + inner.index(max(inner))
        ends.insert(1, (pins[at - 1] + 1, pins[at]))
    return max(ends, key=_length)


def _joined(bands: list[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for first, stop in bands:
        if joined and joined[-1][1] == first:
            joined[-1] = (joined[-1][0], stop)
        else:
            joined.append((first, stop))
    return joined
