"""What the steps of a session come to, without going through all of them each time that some are added.

The last steps may still change; those before are settled: what they come to is remembered. Figures that come late for
one of them are rare, and all is gone through again then.
"""

from __future__ import annotations

from collections.abc import Sequence

from contextlab.core.timeline import Step
from contextlab.services.ingest import counters, rows
from contextlab.services.ingest.lean import from_place

UNSETTLED = 64
"""Last steps that are looked at each time."""

Usage = dict[str, int | None]


class Settled:
    """The sums of usage and the disproved models of steps that are only added to."""

    __slots__ = ("_disproved", "_disproved_to", "_from", "_sums", "_sums_to")

    def __init__(self) -> None:
        self._disproved: set[str | None] = set()
        self._sums: Usage = {}
        self._disproved_to = self._sums_to = self._from = 0

    def changed(self, place: int) -> None:
        """The step at a place is known better now."""
        self._disproved_to = min(self._disproved_to, place)
        if place < self._sums_to:
            self._sums, self._sums_to = {}, 0

    def disproved(self, steps: Sequence[Step]) -> set[str | None]:
        """Models of whose table limit some step shows that it is too small."""
        self._disproved |= rows.disproved_models(from_place(steps, self._disproved_to))
        self._disproved_to = max(self._disproved_to, len(steps) - UNSETTLED)
        return self._disproved

    def usage(self, steps: Sequence[Step], first: int) -> Usage:
        """The sums of what the provider reported for the steps from place `first` on."""
        if first != self._from:
            self._sums, self._sums_to, self._from = {}, 0, first
        start, end = max(self._sums_to, first), max(self._sums_to, first, len(steps) - UNSETTLED)
        fresh = counters.usage(steps[place] for place in range(start, end))
        self._sums, self._sums_to = counters.added(self._sums, fresh), end
        return counters.added(self._sums, counters.usage(from_place(steps, end)))
