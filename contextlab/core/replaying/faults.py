"""Faults of a source: results without a call, and calls that nobody answered before the next turn."""

from __future__ import annotations

from collections.abc import Iterable

from contextlab.core.items import KIND_CODE, Kind
from contextlab.core.timeline import FLAG_NO_RESULT_NEEDED, UNKNOWN, Timeline

CALL = KIND_CODE[Kind.TOOL_CALL]
RESULT = KIND_CODE[Kind.TOOL_RESULT]
LISTED = 10
"""Faults named in a report; the rest are counted."""


class FaultList:
    """The faults of the items in memory, kept up as items enter and leave."""

    def __init__(self, timeline: Timeline) -> None:
        """No items yet."""
        self.timeline = timeline
        self._open: set[int] = set()
        """Calls of the current turn that wait for a result."""
        self._faults: dict[int, str] = {}
        self._shown: list[str] | None = []

    def enter(self, position: int) -> None:
        """An item entered memory."""
        kind, pair = self.timeline.kinds[position], self.timeline.pairs[position]
        if kind == CALL and not self.timeline.flags[position] & FLAG_NO_RESULT_NEEDED:
            self._open.add(position)
        elif kind == RESULT:
            self._open.discard(pair)
            self._clear(pair)
            if pair == UNKNOWN:
                self._fault(position, "result without a call")

    def new_turn(self, position: int) -> None:
        """A prompt entered: calls before it that still wait are faults."""
        for call in sorted(self._open):
            if call < position:
                self._fault(call, "call without a result")
                self._open.discard(call)

    def leave(self, positions: Iterable[int]) -> None:
        """Items left memory."""
        for position in positions:
            self._open.discard(position)
            self._clear(position)

    def listed(self) -> list[str]:
        """At most LISTED faults in order, and how many more there are. The list is shared between reports."""
        if self._shown is None:
            named = [
                f"{self._faults[position]}: {self._name(position)}"
                for position in sorted(self._faults)[:LISTED]
            ]
            more = len(self._faults) - len(named)
            self._shown = [*named, f"and {more} more"] if more else named
        return self._shown

    def _name(self, position: int) -> str:
        call_id = self.timeline.call_ids.get(position)
        return f"{call_id} (position {position})" if call_id else f"position {position}"

    def _fault(self, position: int, what: str) -> None:
        self._faults[position] = what
        self._shown = None

    def _clear(self, position: int) -> None:
        if self._faults.pop(position, None) is not None:
            self._shown = None
