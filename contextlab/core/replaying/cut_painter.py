"""Paints what changed from one cut to the next; everything else keeps its spans."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Set as AbstractSet

from contextlab.core.items import Reason, Verdict
from contextlab.core.projecting.pair_guard import PairGuard
from contextlab.core.replaying.columns import Columns
from contextlab.core.replaying.cuts import Cut
from contextlab.core.replaying.islands import Band
from contextlab.core.replaying.sizes import REASONING
from contextlab.core.replaying.sums import RESULT
from contextlab.core.replaying.tape import ranges
from contextlab.core.spans import Painted, SpanWriter

TIER1: Painted = (Verdict.CLEARED, Reason.TIER1)
TIER2: Painted = (Verdict.REASONING_CLEARED, Reason.TIER2)
GUARD_DROPPED: Painted = (Verdict.DROPPED, Reason.PAIR_GUARD)
GUARD_ADDED: Painted = (Verdict.KEPT, Reason.PAIR_GUARD)
PREFIX: Painted = (Verdict.PINNED, Reason.PINNED_PREFIX)
PINS: dict[Reason, Painted] = {
    reason: (Verdict.PINNED, reason) for reason in (Reason.PINNED_BY_PERSON, Reason.SYSTEM)
}
LEFT_OUT: dict[Reason, Painted] = {
    reason: (Verdict.DROPPED, reason) for reason in (Reason.MAX_ITEMS, Reason.MAX_CHARS, Reason.MAX_TOKENS)
}
NOTHING: frozenset[int] = frozenset()


class CutPainter:
    """Follows the cuts of one view."""

    def __init__(self, columns: Columns, writer: SpanWriter) -> None:
        """Nothing is painted yet."""
        self.columns = columns
        self.writer = writer
        self._last = Cut(0)
        self._added: AbstractSet[int] = NOTHING
        self._dropped: AbstractSet[int] = NOTHING
        self._cut_back = False
        """Whether what follows may be painted already, otherwise than it is now."""

    def cut_back(self, length: int) -> None:
        """The source changed from this index on: all of that is to be painted anew."""
        last = self._last
        self._cut_back = True
        last.size = length
        last.bands = [(a, min(b, length), reason) for a, b, reason in last.bands if a < length]
        last.clear, last.trim, last.prefix = (
            min(last.clear, length),
            min(last.trim, length),
            min(last.prefix, length),
        )
        self._added = frozenset(index for index in self._added if index < length)
        self._dropped = frozenset(index for index in self._dropped if index < length)

    def paint(self, cut: Cut, guard: PairGuard | None, step: int) -> None:
        """Paint what this cut changes, from the step on."""
        last = self._last
        added: AbstractSet[int] = guard.added if guard is not None else NOTHING
        dropped: AbstractSet[int] = guard.dropped if guard is not None else NOTHING
        singles = self._thresholds(last, cut)
        if guard is not None or self._dropped or self._added:
            singles += [*(added ^ self._added), *(dropped ^ self._dropped)]
        self._last, self._added, self._dropped = cut, added, dropped
        stretches = self._changed(last, cut)
        for first, stop in stretches:
            self._stretch(first, stop, step)
        if singles:
            self._alone(singles, stretches, step)

    def _alone(self, singles: list[int], stretches: list[tuple[int, int]], step: int) -> None:
        """Paint the items that stand in none of the stretches."""
        if stretches:
            stops = [stop for _, stop in stretches]
            singles = [index for index in singles if not _inside(stretches, stops, index)]
        alone = sorted(set(singles)) if len(singles) > 1 else singles
        for first, end in ranges(alone):
            self._one_by_one(first, end + 1, step)

    def _changed(self, last: Cut, cut: Cut) -> list[tuple[int, int]]:
        """Stretches that lie in another band than before, between other edges of the prefix, or are new."""
        old, new = last.bands, cut.bands
        size = min(last.size, cut.size)
        edges = [] if old == new else _differences(old, new)
        if last.prefix != cut.prefix:
            edges.append(_between(last.prefix, cut.prefix))
        if last.empty != cut.empty:
            edges.append((0, size))
        edges = [(a, b if b < size else size) for a, b in edges if a < size]
        if size < cut.size and (self._cut_back or not self._all_kept(size)):
            edges.append((size, cut.size))
        self._cut_back = False
        return _merged(edges) if len(edges) > 1 else edges

    def _all_kept(self, start: int) -> bool:
        """Whether all items from an index on are simply kept (but for what the guard does)."""
        cut, pins = self._last, self.columns.pins
        marked = max(cut.clear, cut.trim, cut.prefix, cut.bands[-1][1] if cut.bands else 0)
        return marked <= start and not (pins and self.columns.last(pins) >= start)

    def _thresholds(self, last: Cut, cut: Cut) -> list[int]:
        """Results and reasoning that a threshold passed."""
        columns = self.columns
        passed: list[int] = []
        if last.clear != cut.clear:
            a, b = _between(last.clear, cut.clear)
            passed += columns.results[bisect_left(columns.results, a) : bisect_left(columns.results, b)]
        if last.trim != cut.trim:
            a, b = _between(last.trim, cut.trim)
            passed += [index for index in range(a, b) if columns.kind(index) == REASONING]
        return passed

    def _stretch(self, first: int, stop: int, step: int) -> None:
        """Paint everything in [first, stop), band by band."""
        at = first
        while at < stop:
            band = self._last.band_at(at)
            end = min(stop, self._end_of(at, band))
            if band is None:
                self._one_by_one(at, end, step)
            else:
                self._band(at, end, band[2], step)
            at = end

    def _end_of(self, at: int, band: Band | None) -> int:
        if band is not None:
            return band[1]
        after = bisect_left(self._last.bands, at, key=lambda band: band[0])
        return self._last.bands[after][0] if after < len(self._last.bands) else self._last.size

    def _band(self, first: int, stop: int, reason: Reason, step: int) -> None:
        """Left out, but for what must stay and what the guard brought back."""
        pins = self.columns.pins
        standing: list[int] = []
        if pins and not self._last.empty:
            standing = pins[bisect_left(pins, first) : bisect_left(pins, stop)]
        if self._added:
            standing = sorted([*standing, *(index for index in self._added if first <= index < stop)])
        start, fate = first, LEFT_OUT[reason]
        for begin, last in ranges(standing) if standing else ():
            self._put(start, begin, fate, step)
            self._one_by_one(begin, last + 1, step)
            start = last + 1
        self._put(start, stop, fate, step)

    def _one_by_one(self, first: int, stop: int, step: int) -> None:
        start, fate = first, self._fate(first)
        for index in range(first + 1, stop):
            following = self._fate(index)
            if following != fate:
                self._put(start, index, fate, step)
                start, fate = index, following
        self._put(start, stop, fate, step)

    def _fate(self, index: int) -> Painted | None:
        """What becomes of the item, None = kept."""
        if index in self._dropped:
            return GUARD_DROPPED
        cut, columns = self._last, self.columns
        pin = columns.pin(index)
        band = cut.band_at(index)
        if band is not None and index not in self._added and (pin is None or cut.empty):
            return LEFT_OUT[band[2]]
        if pin is not None:
            return PINS[pin]
        if index < cut.clear and columns.kind(index) == RESULT:
            return TIER1
        if index < cut.trim and columns.kind(index) == REASONING:
            return TIER2
        if index < cut.prefix:
            return PREFIX
        return GUARD_ADDED if index in self._added else None

    def _put(self, first: int, stop: int, fate: Painted | None, step: int) -> None:
        """Paint indices [first, stop): neighbours in the source need not be neighbours in the session."""
        at = self.columns.at
        if stop - first == 1:
            self.writer.paint(at[first], at[first], fate, step)
            return
        while first < stop:
            end = stop
            if at[stop - 1] - at[first] != stop - 1 - first:
                end = first + 1
                while end < stop and at[end] == at[end - 1] + 1:
                    end += 1
            self.writer.paint(at[first], at[end - 1], fate, step)
            first = end


def _inside(stretches: list[tuple[int, int]], stops: list[int], index: int) -> bool:
    at = bisect_right(stops, index)
    return at < len(stops) and stretches[at][0] <= index


def _between(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a < b else (b, a)


def _differences(old: list[Band], new: list[Band]) -> list[tuple[int, int]]:
    """Stretches that lie in a band of one list and not in one with the same reason of the other."""
    if len(old) == len(new) == 1 and old[0][2] == new[0][2]:
        edges_of_one = (_between(old[0][0], new[0][0]), _between(old[0][1], new[0][1]))
        return [(a, b) for a, b in edges_of_one if a < b]
    same = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            break
        same += 1
    # An edge that both lists have, or that two neighbouring bands share, is none: what is left comes in pairs.
    edges: dict[Reason, set[int]] = {}
    for first, stop, reason in (*old[same:], *new[same:]):
        edges.setdefault(reason, set()).symmetric_difference_update((first, stop))
    stretches: list[tuple[int, int]] = []
    for found in map(sorted, edges.values()):
        stretches += zip(found[::2], found[1::2], strict=True)
    return stretches


def _merged(stretches: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same stretches in order, without overlaps."""
    merged: list[tuple[int, int]] = []
    for first, stop in sorted(stretches):
        if merged and first <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((first, stop))
    return merged
