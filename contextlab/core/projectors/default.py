"""Pinned head and recent tail: limits on entries, characters and tokens, in this order.

A limit takes whole entries. Items pinned by a person and system items are never taken (only max_items 0 empties
everything); the pinned prefix yields to max_items alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

from contextlab.core.budget import Budget
from contextlab.core.documents.options import LIMITS, read_budget
from contextlab.core.items import Reason
from contextlab.core.projecting.draft import Draft
from contextlab.core.projecting.pair_guard import guard_pairs
from contextlab.core.projection import Projection, Source

NO_RECENT = "no recent items retained"
PINS_EXCEED = "pinned prefix exceeds maxApproxChars"


@dataclass(slots=True, frozen=True)
class DefaultProjector:
    """Limits in entries, characters and tokens, and a pinned beginning.

    Tiers of the budget are not its business: see type_aware.
    """

    kind: ClassVar[str] = "default"
    budget: Budget = field(default_factory=Budget)

    @classmethod
    def from_options(cls, options: Mapping[str, object], mode: str) -> Self:
        """Make one from a policy document's options."""
        return cls(read_budget(options, LIMITS, mode))

    def as_budget(self) -> Budget:
        """The budget without tiers."""
        return replace(self.budget, max_recent_tool_results=None, trim_old_reasoning=False)

    def project(self, source: Source) -> Projection:
        """Apply the limits, then guard the pairs."""
        draft = Draft.start(source, self.budget)
        apply_limits(draft)
        return draft.finish()


PROJECTOR = DefaultProjector


def apply_limits(draft: Draft) -> None:
    """Run all limits and the guard over a draft (the type-aware tiers may have worked on it before)."""
    budget = draft.budget
    limit_items(draft)
    draft.pin_prefix()
    if budget.max_approx_chars is not None:
        limit_chars(draft, budget.max_approx_chars)
    if budget.max_tokens is not None:
        limit_tokens(draft, budget.max_tokens)
    if budget.guarded:
        guard_pairs(draft)


def limit_items(draft: Draft) -> None:
    """Keep at most max_items entries: what must stay, then the prefix, then the newest."""
    cap = draft.budget.max_items
    if cap is None or len(draft.runs) <= cap:
        return
    draft.limits.add(Reason.MAX_ITEMS)
    draft.notes.append(f"maxItems applied: {cap}")
    if cap == 0:
        draft.pins = [None] * len(draft.pins)
        draft.prefix = 0
    tail = _fill(draft, cap)
    if tail == len(draft.runs) and cap and draft.budget.safe:
        draft.notes.append(NO_RECENT)
    for run in draft.runs[draft.prefix : tail]:
        for index in draft.free(run):
            draft.drop(index, Reason.MAX_ITEMS)


def _fill(draft: Draft, cap: int) -> int:
    """Give the places out: shortens the prefix if need be, returns the number of the tail's first entry."""
    bound = [any(draft.pins[index] is not None for index in run) for run in draft.runs]
    places = cap - sum(bound)
    for number in range(draft.prefix):
        if not bound[number]:
            if places <= 0:
                draft.prefix = number
                break
            places -= 1
    tail = number = len(draft.runs)
    while places > 0 and number > draft.prefix:
        number -= 1
        if not bound[number]:
            places -= 1
            tail = number
    return tail


def limit_chars(draft: Draft, limit: int) -> None:
    """Keep the pins, then from the newest entry back each one that still fits (small old ones may survive)."""
    sizes = [item.chars for item in draft.shown]
    room = _room(draft, sizes, limit)
    if room is None:
        return
    before = len(draft.dropped)
    if not draft.budget.safe:
        room = _drop_pins(draft, sizes, limit)
    newest = True
    for run in _standing(draft):
        free = draft.free(run)
        cost = sum(sizes[index] for index in free)
        if (newest and limit) or (free and limit and cost <= room):
            room -= cost
        else:
            for index in free:
                draft.drop(index, Reason.MAX_CHARS)
        newest = False
    if len(draft.dropped) > before:
        draft.limits.add(Reason.MAX_CHARS)
        draft.notes.append(f"maxApproxChars applied: {limit}")
    if draft.budget.safe and _pins_outgrow(draft, sizes, limit):
        draft.notes.append(PINS_EXCEED)


def limit_tokens(draft: Draft, limit: int) -> None:
    """Keep the pins and a tail without gaps: the newest entry always, older ones until the first that does not fit."""
    room = _room(draft, draft.tokens, limit)
    if room is None:
        return
    before = len(draft.dropped)
    newest, full = True, limit == 0
    for run in _standing(draft):
        free = draft.free(run)
        cost = sum(draft.tokens[index] for index in free)
        full = full or (bool(free) and not newest and cost > room)
        if full:
            for index in free:
                draft.drop(index, Reason.MAX_TOKENS)
        room -= cost
        newest = False
    if len(draft.dropped) > before:
        draft.limits.add(Reason.MAX_TOKENS)
        draft.notes.append(f"maxTokens applied: {limit}")


def _standing(draft: Draft) -> list[range]:
    """The entries of which something stands, the newest first."""
    return [run for run in reversed(draft.runs) if any(draft.kept[index] for index in run)]


def _room(draft: Draft, sizes: list[int], limit: int) -> int | None:
    """What the pins leave of the limit; None when everything fits."""
    total = sum(size for size, kept in zip(sizes, draft.kept, strict=True) if kept)
    if total <= limit:
        return None
    return limit - _pinned_size(draft, sizes)


def _pinned_size(draft: Draft, sizes: list[int]) -> int:
    return sum(size for size, pin, kept in zip(sizes, draft.pins, draft.kept, strict=True) if pin and kept)


def _drop_pins(draft: Draft, sizes: list[int], limit: int) -> int:
    """Reference mode: only the first pin may exceed the limit; later ones stay if they fit. Returns what is left."""
    room, kept = limit, 0
    for run in draft.runs[: draft.prefix]:
        cost = sum(sizes[index] for index in run)
        if limit and (cost <= room or not kept):
            room -= cost
            kept += 1
            continue
        for index in run:
            draft.drop(index, Reason.MAX_CHARS)
            draft.pins[index] = None
    return room


def _pins_outgrow(draft: Draft, sizes: list[int], limit: int) -> bool:
    """Whether a pin stays that the original would have dropped: it lets only the first entry of the prefix exceed."""
    if _pinned_size(draft, sizes) <= limit:
        return False
    first = draft.runs[0]
    only_first = draft.prefix > 0 and not any(draft.pins[first.stop :])
    return not only_first or limit == 0
