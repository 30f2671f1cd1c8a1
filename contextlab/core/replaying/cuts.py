"""A projection as a few cuts: the limits' work on the columns, at any step, without looking at each item.

The result is the same as that of the projectors' stages (projectors/default.py, type_aware.py), told as bands of
indices that are left out. Inside a band what must stay still stands.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field

from contextlab.core.budget import Budget
from contextlab.core.items import Reason
from contextlab.core.projection import NONE
from contextlab.core.projectors.default import NO_RECENT, PINS_EXCEED
from contextlab.core.replaying.columns import Columns
from contextlab.core.replaying.islands import Band, Islands, Runs
from contextlab.core.replaying.sums import Measure

ITEM_LIMIT = (Reason.MAX_ITEMS,)


@dataclass(slots=True)
class Cut:
    """A projection of the first `size` items."""

    size: int
    clear: int = 0
    """Results before this index are placeholders."""
    trim: int = 0
    """Reasoning before this index is a placeholder."""
    prefix: int = 0
    """Index behind the pinned prefix."""
    empty: bool = False
    """Nothing at all is kept, not even what must stay (max_items 0)."""
    bands: list[Band] = field(default_factory=list)
    notes: tuple[str, ...] = ()
    """Of the limits."""
    limits: tuple[Reason, ...] = ()

    def kept(self) -> list[tuple[int, int]]:
        """What lies between the bands, the pinned prefix apart."""
        kept, start, prefix = [], 0, self.prefix
        for first, stop, _ in (*self.bands, (self.size, self.size, None)):
            if start < prefix < first:
                kept.append((start, prefix))
                start = prefix
            if first > start:
                kept.append((start, first))
            start = stop
        return kept

    def band_at(self, index: int) -> Band | None:
        """The band that the index lies in."""
        bands = self.bands
        if not bands:
            return None
        if len(bands) == 1:
            band = bands[0]
            return band if band[0] <= index < band[1] else None
        at = bisect_right(bands, (index, self.size + 1)) - 1
        return bands[at] if at >= 0 and index < bands[at][1] else None


class Cutter:
    """Cuts a growing source. Remembers where tails began, for they move little from step to step."""

    def __init__(self, columns: Columns, budget: Budget) -> None:
        """`budget` with its tiers set only where the projector has them."""
        self.columns = columns
        self.budget = budget
        self.islands = Islands(columns, budget, self._fit_chars)
        self._hints = {Reason.MAX_CHARS: 0, Reason.MAX_TOKENS: 0}
        self._items_note = (f"maxItems applied: {budget.max_items}",)
        self._cut = Cut(0)

    def cut(self) -> Cut:
        """Cut the source as it stands."""
        budget, columns = self.budget, self.columns
        cut = self._cut = Cut(columns.size)
        self._tiers(cut)
        prefix, tail = self._items(cut)
        if cut.empty:
            return cut
        if prefix:
            cut.prefix = columns.start_of(prefix)
        zone = [(tail, columns.runs)]
        if budget.max_approx_chars is not None:
            zone = self._chars(prefix, zone, budget.max_approx_chars)
        if budget.max_tokens is not None:
            self._tokens(prefix, zone, budget.max_tokens)
        if len(cut.bands) > 1:
            cut.bands.sort()
        return cut

    def _tiers(self, cut: Cut) -> None:
        columns, recent = self.columns, self.budget.max_recent_tool_results
        if recent is not None:
            results = bisect_left(columns.results, cut.size)
            if results > recent:
                cut.clear = columns.results[results - recent] if recent else cut.size
        if self.budget.trim_old_reasoning:
            prompt = columns.last(columns.prompts)
            cut.trim = cut.size if prompt == NONE else prompt

    def _items(self, cut: Cut) -> Runs:
        """Number of pinned entries, and of the entry that the tail begins with."""
        columns, cap, runs = self.columns, self.budget.max_items, self.columns.runs
        prefix = self.budget.pinned_prefix_items
        if prefix > runs:
            prefix = runs
        if cap is None or runs <= cap:
            return prefix, prefix
        cut.limits, cut.notes = ITEM_LIMIT, self._items_note
        if cap == 0:
            cut.empty = True
            cut.bands = [(0, cut.size, Reason.MAX_ITEMS)]
            return 0, runs
        bound = columns.bound_count
        places = max(0, cap - bound)
        used = prefix - bisect_left(columns.bound_runs, prefix, 0, bound)
        if used > places:
            prefix, used = columns.free_run(places), places
        tail = columns.free_run(runs - bound - places + used) if places > used else runs
        if tail == runs and self.budget.safe:
            cut.notes += (NO_RECENT,)
        self._leave_out(prefix, tail, Reason.MAX_ITEMS)
        return prefix, tail

    def _chars(self, prefix: int, zone: list[Runs], limit: int) -> list[Runs]:
        """The entries behind the prefix that the character limit keeps."""
        measure, reason = self.columns.sums.chars, Reason.MAX_CHARS
        pinned = self.columns.held.chars + self._size(measure, 0, prefix)
        tail, end = zone[0]
        if pinned + self._size(measure, tail, end) <= limit:
            return zone
        before = len(self._cut.bands)
        room = limit - pinned
        if not self.budget.safe:
            room = self._drop_pins(prefix, limit)
        kept = self._newest(measure, (tail, end), room, reason) if limit else []
        if kept:
            start = kept[0][0]
            pile = self.islands.before(tail, start, room - self._size(measure, start, end), self._cut)
            self._cut.bands += self.islands.bands(tail, start)
            if self.budget.max_tokens is not None:
                kept = [*((island.first, island.stop) for island in pile), *kept]
        else:
            self._leave_out(tail, end, reason)
        self._note_limit(before, reason, f"maxApproxChars applied: {limit}")
        if self.budget.safe and pinned > limit and (limit == 0 or not self._only_first_pinned(prefix)):
            self._cut.notes += (PINS_EXCEED,)
        return kept

    def _tokens(self, prefix: int, zone: list[Runs], limit: int) -> None:
        measure, reason = self.columns.sums.tokens, Reason.MAX_TOKENS
        pinned = self.columns.held.tokens + (self._standing_prefix(measure, prefix) if prefix else 0)
        standing = pinned
        for first, stop in zone:
            standing += self._size(measure, first, stop)
        if standing <= limit:
            return
        before = len(self._cut.bands)
        room = limit - pinned
        kept: list[Runs] = []
        for number, runs in enumerate(reversed(zone)):
            if limit == 0:
                break
            part = (
                self._newest(measure, runs, room, reason)
                if number == 0
                else self._fitting(measure, runs, room)
            )
            kept = part + kept
            if not part or part[0][0] > runs[0]:
                break
            room -= self._size(measure, *runs)
        self._drop_between(zone, kept, reason)
        self._note_limit(before, reason, f"maxTokens applied: {limit}")

    def _newest(self, measure: Measure, runs: Runs, room: int, reason: Reason) -> list[Runs]:
        """The newest entry in any case, and what fits before it without a gap."""
        low, end = runs
        if low >= end:
            return []
        newest = self._size(measure, end - 1, end)
        if newest > room:
            forced = self.columns.free_between(self.columns.start_of(end - 1), self.columns.start_of(end)) > 0
            return [(end - 1, end)] if forced else []
        start = self._fit(measure, low, end, room, self._hints[reason])
        self._hints[reason] = start
        return [(start, end)]

    def _fitting(self, measure: Measure, runs: Runs, room: int) -> list[Runs]:
        low, end = runs
        start = self._fit(measure, low, end, room, end) if room >= 0 else end
        return [(start, end)] if start < end else []

    def _fit(self, measure: Measure, low: int, end: int, room: int, hint: int) -> int:
        """The first entry from which on all up to `end` fit into `room` (>= 0); gallops from the hint."""
        starts, between, cut = self.columns.run_starts, measure.between, self._cut
        stop = self.columns.start_of(end)
        step = 1
        probe = min(max(hint, low), end)
        while probe < end and between(starts[probe], stop, cut.clear, cut.trim) > room:
            low = probe + 1
            probe = min(end, probe + step)
            step *= 2
        good, step = probe, 1
        while good > low:
            probe = max(low, good - step)
            if between(starts[probe], stop, cut.clear, cut.trim) <= room:
                good, step = probe, step * 2
            else:
                low = probe + 1
                step = max(1, (good - low) // 2)
        return good

    def _fit_chars(self, low: int, end: int, room: int, hint: int) -> int:
        return self._fit(self.columns.sums.chars, low, end, room, hint)

    def _size(self, measure: Measure, first: int, stop: int) -> int:
        columns, cut = self.columns, self._cut
        a = columns.run_starts[first] if first < columns.runs else cut.size
        b = columns.run_starts[stop] if stop < columns.runs else cut.size
        return measure.between(a, b, cut.clear, cut.trim)

    def _standing_prefix(self, measure: Measure, prefix: int) -> int:
        """Size of the prefix, without what the character limit took of it (reference mode)."""
        size = self._size(measure, 0, prefix)
        for first, stop, _ in self._cut.bands:
            if first < self._cut.prefix:
                size -= measure.between(first, stop, self._cut.clear, self._cut.trim)
        return size

    def _drop_pins(self, prefix: int, limit: int) -> int:
        """Reference mode: only the first pin may exceed the limit; later ones stay if they fit."""
        room, kept = limit, 0
        for number in range(prefix):
            cost = self._size(self.columns.sums.chars, number, number + 1)
            if limit and (cost <= room or not kept):
                room -= cost
                kept += 1
            else:
                self._leave_out(number, number + 1, Reason.MAX_CHARS)
        return room

    def _only_first_pinned(self, prefix: int) -> bool:
        return prefix == 1 and self.columns.last(self.columns.pins) < self.columns.start_of(1)

    def _drop_between(self, zone: list[Runs], kept: list[Runs], reason: Reason) -> None:
        """Leave out what the zone had and the kept part has not."""
        for low, high in zone:
            start = low
            for first, stop in kept:
                if low <= first and stop <= high:
                    self._leave_out(start, first, reason)
                    start = stop
            self._leave_out(start, high, reason)

    def _leave_out(self, first: int, stop: int, reason: Reason) -> None:
        if first < stop:
            a, b = self.columns.start_of(first), self.columns.start_of(stop)
            if self.columns.free_between(a, b):
                self._cut.bands.append((a, b, reason))

    def _note_limit(self, bands_before: int, reason: Reason, note: str) -> None:
        if len(self._cut.bands) > bands_before:
            self._cut.limits += (reason,)
            self._cut.notes += (note,)
