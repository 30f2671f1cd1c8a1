"""What changed in a context from one step to a later one of the same view, in positions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from contextlab.core.items import IN_CONTEXT, Reason, Verdict
from contextlab.core.spans import Painted, Span, verdicts_at

KEPT: Painted = (Verdict.KEPT, None)


@dataclass(slots=True, frozen=True)
class Change:
    """A run of items (positions inclusive) with one fate before and one after; None = not in memory yet."""

    first: int
    last: int
    before: Painted | None
    after: Painted


@dataclass(slots=True)
class Changes:
    """The differences between two steps, each list in order of positions."""

    entered: list[Change] = field(default_factory=list)
    """New to the context: new items, and such as came back."""
    left: list[Change] = field(default_factory=list)
    changed: list[Change] = field(default_factory=list)
    """Another fate, but neither entered nor left."""
    unseen: list[Change] = field(default_factory=list)
    """New items that are left out from the start."""


def in_context(fate: Painted | None) -> bool:
    """Whether an item of this fate stands in the context, itself or a stub of it."""
    return fate is not None and fate[0] in IN_CONTEXT and fate[1] != Reason.PROVIDER_STRIPS


def changes(spans: Iterable[Span], before: tuple[int, int], after: tuple[int, int]) -> Changes:
    """The differences between two steps, each given as (number, upto); `before` must be the earlier one.

    Of the view's spans only those that begin or end in the steps (before, after] matter; more do no harm.
    """
    moved = [span for span in spans if _moves(span, before[0], after[0])]
    edges = {before[1], after[1]}
    for span in moved:
        edges |= {min(span.first_item, after[1]), min(span.last_item + 1, after[1])}
    starts = sorted(edges)
    old = verdicts_at(moved, before[0], starts)
    new = verdicts_at(moved, after[0], starts)
    found = Changes()
    for number, (first, stop) in enumerate(pairwise(starts)):
        fate = None if first >= before[1] else old[number]
        _sort_in(found, Change(first, stop - 1, fate, new[number]))
    return found


def _moves(span: Span, before: int, after: int) -> bool:
    """Whether a span begins or ends between the steps."""
    ends = span.end_step is not None and before < span.end_step <= after
    return ends or before < span.first_step <= after


def _sort_in(found: Changes, change: Change) -> None:
    was, now = in_context(change.before), in_context(change.after)
    if change.before == change.after:
        return
    if change.before is None:
        (found.entered if now else found.unseen).append(change)
    elif was == now:
        found.changed.append(change)
    else:
        (found.entered if now else found.left).append(change)
