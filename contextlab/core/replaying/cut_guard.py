"""The pair guard over a cut: looks only at the borders of what is kept, and at pins inside what is not."""

from __future__ import annotations

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
        self.size = len(columns)
        self.last_prompt = columns.prompts[-1] if columns.prompts else NONE
        self.last_answer = columns.answers[-1] if columns.answers else NONE

    def stands(self, index: int) -> bool:
        """Whether the limits left the item in."""
        return self.cut.band_at(index) is None or (not self.cut.empty and self.columns.pin(index) is not None)

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


def guard_cut(columns: Columns, cut: Cut, budget: Budget) -> PairGuard | None:
    """What the guard adds and drops; None when there is nothing to do."""
    if not budget.guarded or cut.empty or not (cut.bands or budget.drop_unanswered_calls):
        return None
    view = CutView(columns, cut)
    split = _split_pairs(columns, cut, view)
    unanswered = _unanswered(columns, view) if budget.drop_unanswered_calls else []
    edges = [first for first, _, _ in cut.bands if first > cut.prefix]
    if not split and not unanswered and not edges:
        return None
    guard = PairGuard(view)
    guard.run(split, unanswered, [guard.behind_reasoning(edge) for edge in edges])
    return guard if guard.added or guard.dropped else None


def _split_pairs(columns: Columns, cut: Cut, view: CutView) -> list[tuple[int, int]]:
    crossing = columns.crossing
    pairs = [
        pair
        for first, stop, _ in cut.bands
        for border in (first, stop)
        if 0 < border < cut.size
        for pair in crossing.over(border)
    ]
    pinned = [(index, partner) for index in columns.tool_pins if (partner := columns.partner(index)) != NONE]
    pairs += [(min(pair), max(pair)) for pair in pinned]
    return [pair for pair in set(pairs) if view.stands(pair[0]) != view.stands(pair[1])]


def _unanswered(columns: Columns, view: CutView) -> list[int]:
    """Calls that stand and have no result, not counting those at the open end of the current turn."""
    open_end = max(view.last_prompt, view.last_answer)
    return [index for index in sorted(columns.waiting) if index < open_end and view.stands(index)]
