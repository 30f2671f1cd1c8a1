"""Spans: verdicts as rectangles over items and steps.

A span says that the items first_item..last_item (positions, inclusive) had one verdict, for one reason, from
first_step up to but not including end_step (None = to the end). `kept` is not stored: it is the default from an
item's first step on. Spans of one view never overlap.
"""

from __future__ import annotations

from dataclasses import dataclass

from contextlab.core.items import Reason, Verdict


@dataclass(slots=True, frozen=True)
class Span:
    """A rectangle of one verdict: positions inclusive, steps half-open."""

    first_item: int
    last_item: int
    verdict: Verdict
    reason: Reason | None
    first_step: int
    end_step: int | None = None

    def covers(self, position: int, step: int) -> bool:
        """Whether the item at `position` has this verdict at `step`."""
        in_steps = self.first_step <= step and (self.end_step is None or step < self.end_step)
        return in_steps and self.first_item <= position <= self.last_item
