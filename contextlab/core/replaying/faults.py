"""Faults of a source: results without a call, and calls that nobody answered before the next turn."""

from __future__ import annotations

from collections.abc import Iterable

from contextlab.core.items import KIND_CODE, Kind
from contextlab.core.timeline import FLAG_INJECTED, FLAG_NO_RESULT_NEEDED, UNKNOWN, Timeline

USER = KIND_CODE[Kind.USER]
CALL = KIND_CODE[Kind.TOOL_CALL]
RESULT = KIND_CODE[Kind.TOOL_RESULT]
TOLD_APART = frozenset({USER, CALL, RESULT})
"""Kinds that faults come of, or end with."""
LISTED = 10
"""Faults named in a report; the rest are counted."""
NO_CALL, NO_RESULT = "result without a call", "call without a result"


class FaultList:
    """The faults of the items in memory, kept up as items enter and leave."""

    def __init__(self, timeline: Timeline) -> None:
        """No items yet."""
        self.timeline = timeline
        self._open: set[int] = set()
        """Calls of the current turn that wait for a result."""
        self._prompt = UNKNOWN
        self._faults: dict[int, str] = {}
        self._shown: list[str] | None = []

    def enter(self, position: int) -> None:
        """An item entered memory behind all others."""
        kind = self.timeline.kinds[position]
        if kind == CALL:
            if not self.timeline.flags[position] & FLAG_NO_RESULT_NEEDED:
                self._open.add(position)
        elif kind == RESULT:
            self._answer(position)
        elif kind == USER and not self.timeline.flags[position] & FLAG_INJECTED:
            self._prompt = position
            self._end_turn()

    def enter_all(self, positions: Iterable[int]) -> None:
        """Items entered memory behind all others, in order."""
        kinds, pairs, waiting, faults = self.timeline.kinds, self.timeline.pairs, self._open, self._faults
        for position in positions:
            kind = kinds[position]
            # The usual result, told here because there are so many: its call waits for it and is no fault.
            if kind == RESULT and pairs[position] in waiting and pairs[position] not in faults:
                waiting.remove(pairs[position])
            elif kind in TOLD_APART:
                self.enter(position)

    def leave(self, positions: Iterable[int]) -> None:
        """Items left memory. What the log answered stays answered: no new fault comes of it."""
        for position in positions:
            self._open.discard(position)
            self._clear(position)

    def come_back(self, position: int) -> None:
        """An item is in memory again: the faults that the log itself has with it are back."""
        kind, pair = self.timeline.kinds[position], self.timeline.pairs[position]
        if kind == RESULT and pair == UNKNOWN:
            self._fault(position, NO_CALL)
        elif kind == CALL and pair == UNKNOWN and not self.timeline.flags[position] & FLAG_NO_RESULT_NEEDED:
            self._open.add(position)
            self._end_turn()

    def listed(self) -> list[str]:
        """At most LISTED faults in order, and how many more there are. The list is shared between reports."""
        if self._shown is None:
            names = [f"{self._faults[position]}: {self._name(position)}" for position in sorted(self._faults)]
            self._shown = shortened(names)
        return self._shown

    def _answer(self, result: int) -> None:
        call = self.timeline.pairs[result]
        if call == UNKNOWN:
            self._fault(result, NO_CALL)
        else:
            self._open.discard(call)
            self._clear(call)

    def _end_turn(self) -> None:
        """Calls before the last prompt that still wait are faults."""
        for call in [call for call in self._open if call < self._prompt]:
            self._fault(call, NO_RESULT)
            self._open.discard(call)

    def _name(self, position: int) -> str:
        call_id = self.timeline.call_id(position)
        return f"{call_id} (position {position})" if call_id else f"position {position}"

    def _fault(self, position: int, what: str) -> None:
        self._faults[position] = what
        self._shown = None

    def _clear(self, position: int) -> None:
        if self._faults.pop(position, None) is not None:
            self._shown = None


def shortened(faults: list[str]) -> list[str]:
    """At most LISTED of them, and how many more there are."""
    more = len(faults) - LISTED
    return faults if more <= 0 else [*faults[:LISTED], f"and {more} more"]
