"""The pair guard over a cut: looks only at the borders of what is kept, and at pins inside what is not.

Where there are many borders most of them were there a step before, and so is what the guard did at them: only what
lies behind the first change is looked at anew, and the current turn's pairs, which may come back (`_Settled`).
"""

from __future__ import annotations

from bisect import bisect_left

from contextlab.core.budget import Budget
from contextlab.core.items import KINDS, Kind
from contextlab.core.projecting.pair_guard import GUARDED_BY_REASONING, PairGuard
from contextlab.core.projection import NONE
from contextlab.core.replaying.columns import Columns
from contextlab.core.replaying.cuts import Cut
from contextlab.core.replaying.islands import Band

FEW = 2
"""Bands that are looked at anew at every step."""


class CutView:
    """A cut as the guard sees it."""

    def __init__(self, columns: Columns, cut: Cut) -> None:
        """Of the source as it stands."""
        self.columns = columns
        self.cut = cut
        self.size = columns.size

    @property
    def last_prompt(self) -> int:
        """The last real user item."""
        return self.columns.last(self.columns.prompts)

    @property
    def last_answer(self) -> int:
        """The last text of the assistant."""
        return self.columns.last(self.columns.answers)

    def stands(self, index: int) -> bool:
        """Whether the limits left the item in."""
        return stands(self.columns, self.cut, index)

    def pinned(self, index: int) -> bool:
        """Whether the item must stay."""
        return self.stands(index) and (index < self.cut.prefix or self.columns.pin(index) is not None)

    def partner(self, index: int) -> int:
        """The other one of a pair, NONE where the source does not have it."""
        return self.columns.partner(index)

    def message(self, index: int) -> range:
        """The item's entry."""
        return self.columns.run(self.columns.run_of[index])

    def kind(self, index: int) -> Kind:
        """The item's kind."""
        return KINDS[self.columns.kind(index)]


def stands(columns: Columns, cut: Cut, index: int) -> bool:
    """Whether the limits left the item in."""
    return cut.band_at(index) is None or (not cut.empty and columns.pin(index) is not None)


class CutGuard:
    """Guards the cuts of one view, one after the other."""

    def __init__(self, columns: Columns, budget: Budget) -> None:
        """Nothing guarded yet."""
        self.columns = columns
        self.budget = budget
        self._settled = _Settled(columns)

    def cut_back(self) -> None:
        """The source changed otherwise than by growing."""
        self._settled.forget()

    def guard(self, cut: Cut) -> PairGuard | None:
        """What the guard adds and drops; None when there is nothing to do."""
        bands, columns, budget = cut.bands, self.columns, self.budget
        if not budget.guarded or cut.empty or not (bands or budget.drop_unanswered_calls):
            self._settled.forget()
            return None
        plain = not (columns.tool_pins or budget.drop_unanswered_calls)
        if plain and len(bands) > FEW and not (cut.prefix and columns.crossing.over(cut.prefix)):
            return self._settled.guard(cut)
        self._settled.forget()
        if plain and (edges := _one_band(bands)) and edges[0] <= cut.prefix:
            orphans = columns.crossing.over(edges[1]) if not columns.crossing.over(edges[0]) else None
            if orphans == []:
                return None
            if orphans and (guard := _drop_orphans(columns, cut, orphans)) is not None:
                return guard
        return self._all(cut)

    def _all(self, cut: Cut) -> PairGuard | None:
        """Look at everything."""
        columns, unanswered = self.columns, list[int]()
        split = _split_pairs(columns, cut)
        edges = [first for first, _, _ in cut.bands if first > cut.prefix]
        if not split and not edges and not self.budget.drop_unanswered_calls:
            return None
        view = CutView(columns, cut)
        guard = PairGuard(view)
        if self.budget.drop_unanswered_calls:
            unanswered = _unanswered(columns, view)
        guard.run(split, unanswered, [guard.behind_reasoning(edge) for edge in edges])
        return guard if guard.added or guard.dropped else None


class _Settled:
    """What the guard drops at many borders, as far as it can be said from what stands before a place."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._done: list[tuple[int, tuple[int, ...]]] = []
        """What is dropped, with the farthest index that this depends on, in the order of these."""
        self._upto = 0
        """All that depends on indices before this one only is done."""
        self._bands: list[Band] = []
        self._size = 0

    def forget(self) -> None:
        """Begin anew (mostly nothing is known: this is asked for at every step)."""
        if self._size:
            self._done, self._upto, self._bands, self._size = [], 0, [], 0

    def guard(self, cut: Cut) -> PairGuard | None:
        """What the guard does to the cut; None when that is nothing."""
        view = CutView(self._columns, cut)
        guard = PairGuard(view)
        live = self._live(view)
        start = min(self._first_change(cut), self._upto, live)
        done = self._done
        while done and done[-1][0] >= start:
            done.pop()
        split, gone = self._pairs(view, start), self._gone(cut, start, guard)
        settled = [(pair[1], self._lost(view, pair)) for pair in split if pair[1] < live]
        settled += [
            (index, self._reasoning_before(view, index))
            for index in gone
            if index < live and not view.stands(index) and view.kind(index) in GUARDED_BY_REASONING
        ]
        done += sorted(settled)
        self._upto, self._bands, self._size = live, cut.bands, cut.size
        guard.run([pair for pair in split if pair[1] >= live], (), [index for index in gone if index >= live])
        for _, dropped in done:
            guard.dropped.update(dropped)
        return guard if guard.added or guard.dropped else None

    def _first_change(self, cut: Cut) -> int:
        """The first index of which something may be otherwise than at the step before."""
        old, new, same = self._bands, cut.bands, 0
        for one, other in zip(old, new, strict=False):
            if one != other:
                break
            same += 1
        starts = [bands[same][0] for bands in (old, new) if same < len(bands)]
        return min(*starts, self._size) if starts else self._size

    def _live(self, view: CutView) -> int:
        """From this index on the current turn's unread pairs may bring something back."""
        columns, answer = self._columns, view.last_answer
        over = [
            call
            for call, result in columns.crossing.over(answer + 1)
            if result < view.size and call <= answer
        ]
        first = max(view.last_prompt + 1, min(over, default=answer + 1))
        if first >= view.size:
            return view.size
        first = view.message(first).start
        while first > 0 and view.kind(first - 1) == Kind.REASONING:
            first -= 1
        return first

    def _pairs(self, view: CutView, start: int) -> set[tuple[int, int]]:
        """Split pairs whose result stands at `start` or behind it."""
        cut, over = view.cut, self._columns.crossing.over
        pairs = set(over(start))
        for first, stop, _ in reversed(cut.bands):
            if stop < start:
                break
            pairs.update(over(stop), over(first) if first >= start else ())
        return {
            (call, result)
            for call, result in pairs
            if result < cut.size and view.stands(call) != view.stands(result)
        }

    def _gone(self, cut: Cut, start: int, guard: PairGuard) -> list[int]:
        """What reasoning at the edges led to, from `start` on."""
        gone = []
        for first, _, _ in reversed(cut.bands):
            if first > cut.prefix and (index := guard.behind_reasoning(first)) != NONE:
                if index < start:
                    break
                gone.append(index)
        return gone

    def _lost(self, view: CutView, pair: tuple[int, int]) -> tuple[int, ...]:
        """The one of a split pair that is left, and the reasoning before it."""
        left = pair[0] if view.stands(pair[0]) else pair[1]
        before = self._reasoning_before(view, left) if view.kind(left) in GUARDED_BY_REASONING else ()
        return (left, *before)

    def _reasoning_before(self, view: CutView, index: int) -> tuple[int, ...]:
        found = []
        while index > 0 and view.kind(index - 1) == Kind.REASONING:
            index -= 1
            if view.stands(index) and not view.pinned(index):
                found.append(index)
        return tuple(found)


def _one_band(bands: list[Band]) -> tuple[int, int] | None:
    """Where the only band begins and ends: two limits may have left out neighbouring stretches."""
    if len(bands) == 1:
        return bands[0][0], bands[0][1]
    if len(bands) == FEW and bands[0][1] == bands[1][0]:
        return bands[0][0], bands[1][1]
    return None


def _drop_orphans(columns: Columns, cut: Cut, orphans: list[tuple[int, int]]) -> PairGuard | None:
    """The common case in short: one band, and results behind it that were read go with their calls; else None."""
    guard = PairGuard(CutView(columns, cut))
    last_prompt = guard.view.last_prompt
    for call, result in orphans:
        if call > last_prompt and result > guard.view.last_answer:
            return None
        if result < cut.size:
            guard.dropped.add(result)
    return guard if guard.dropped else None


def _split_pairs(columns: Columns, cut: Cut) -> list[tuple[int, int]]:
    """Pairs of which one stands: they reach over the border of a band, or a pin holds one of them."""
    size, over = cut.size, columns.crossing.over
    pairs: set[tuple[int, int]] = set()
    for first, stop, _ in cut.bands:
        pairs.update(over(first), over(stop))
    for index in columns.tool_pins[: bisect_left(columns.tool_pins, size)]:
        partner = columns.partner(index)
        if partner != NONE:
            pairs.add((min(index, partner), max(index, partner)))
    return [
        (call, result)
        for call, result in pairs
        if result < size and stands(columns, cut, call) != stands(columns, cut, result)
    ]


def _unanswered(columns: Columns, view: CutView) -> list[int]:
    """Calls that stand and have no result, not counting those at the open end of the current turn."""
    open_end = max(view.last_prompt, view.last_answer)
    calls = columns.unanswered[: bisect_left(columns.unanswered, open_end)]
    calls += [call for call, _ in columns.crossing.over(view.size) if call < open_end]
    return [call for call in sorted(calls) if view.stands(call)]
