"""A step of a view as lists need it, and the spans around it, each region read once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from contextlab.queries import fates
from contextlab.queries.fates import SPANS_READ, Fate


@dataclass(frozen=True, slots=True)
class Scope:
    """A step of a view, with what its report says about where items were left out.

    The head [0, head_end), what is left out as a whole [head_end, tail_start), and the tail [tail_start, upto).
    """

    session_id: int
    revision: int
    view_id: int
    step: int
    upto: int
    previous_upto: int
    """Items at or beyond it are new at this step."""
    head_end: int = 0
    tail_start: int = 0
    previous_tail: int = 0
    """Where the tail of the step before began; 0 when nothing was left out as a whole."""

    @property
    def has_gap(self) -> bool:
        """Whether a stretch is left out as a whole."""
        return self.tail_start > self.head_end


class Reading:
    """The spans of a step: the oldest of head and middle, the newest of the tail; SPANS_READ of each at most."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    @cached_property
    def front(self) -> list[Fate]:
        """Fates of [0, tail_start), oldest first."""
        scope = self.scope
        return fates.oldest_fates(scope.view_id, scope.step, 0, scope.tail_start) if scope.tail_start else []

    @cached_property
    def back(self) -> list[Fate]:
        """Fates of [tail_start, upto), newest first."""
        scope = self.scope
        return fates.newest_fates(scope.view_id, scope.step, scope.tail_start, scope.upto)

    def back_before(self, before: int) -> list[Fate]:
        """Fates of [tail_start, before), newest first."""
        scope = self.scope
        if len(self.back) < SPANS_READ or before >= scope.upto:
            found = (fate for fate in self.back if fate.first < before)
            return [fates.clip(fate, scope.tail_start, before) for fate in found]
        return fates.newest_fates(scope.view_id, scope.step, scope.tail_start, before)

    @cached_property
    def middle(self) -> list[Fate]:
        """Fates of [head_end, tail_start), oldest first; complete only where `middle_is_whole`."""
        head_end, tail_start = self.scope.head_end, self.scope.tail_start
        return [fates.clip(fate, head_end, tail_start) for fate in self.front if fate.last >= head_end]

    @property
    def middle_is_whole(self) -> bool:
        """Whether every span of the middle was read."""
        return len(self.front) < SPANS_READ

    @property
    def is_whole(self) -> bool:
        """Whether every span in force was read."""
        return self.middle_is_whole and len(self.back) < SPANS_READ

    @cached_property
    def head(self) -> list[Fate]:
        """Fates of [0, head_end), oldest first."""
        head_end = self.scope.head_end
        return [fates.clip(fate, 0, head_end) for fate in self.front if fate.first < head_end]

    @cached_property
    def newest_of_middle(self) -> list[Fate]:
        """A few of the newest spans of the middle, where not all were read."""
        scope = self.scope
        return fates.newest_fates(scope.view_id, scope.step, scope.head_end, scope.tail_start, limit=12)

    def known(self) -> list[Fate]:
        """All that was read, oldest first."""
        return [*self.front, *reversed(self.back)]
