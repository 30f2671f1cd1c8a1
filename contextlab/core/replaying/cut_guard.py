"""The pair guard over a cut: looks only at the borders of what is kept, and at pins inside what is not."""

from __future__ import annotations

from bisect import bisect_left

from contextlab.core.budget import Budget
from contextlab.core.items import KINDS, Kind
from contextlab.core.projecting.pair_guard import PairGuard
from contextlab.core.projection import NONE
from contextlab.core.replaying.columns import Columns
from contextlab.core.replaying.cuts import Cut


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


def guard_cut(columns: Columns, cut: Cut, budget: Budget) -> PairGuard | None:
    """What the guard adds and drops; None when there is nothing to do."""
    bands = cut.bands
    if not budget.guarded or cut.empty or not (bands or budget.drop_unanswered_calls):
        return None
    if len(bands) == 1 and not (columns.tool_pins or budget.drop_unanswered_calls):
        first, stop, _ = bands[0]
        if first <= cut.prefix and not columns.crossing.over(first):
            orphans = columns.crossing.over(stop)
            if not orphans:
                return None
            if (guard := _drop_orphans(columns, cut, orphans)) is not None:
                return guard
    split = _split_pairs(columns, cut)
    edges = [first for first, _, _ in bands if first > cut.prefix]
    if not split and not edges and not budget.drop_unanswered_calls:
        return None
    view = CutView(columns, cut)
    guard = PairGuard(view)
    unanswered = _unanswered(columns, view) if budget.drop_unanswered_calls else []
    guard.run(split, unanswered, [guard.behind_reasoning(edge) for edge in edges])
    return guard if guard.added or guard.dropped else None


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
