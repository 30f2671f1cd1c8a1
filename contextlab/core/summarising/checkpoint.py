"""A checkpoint's plan: which entries are history, which begin a turn that goes on, which stay.

| rule                                                                                                     |
|----------------------------------------------------------------------------------------------------------|
| from the end, entries are kept until `keep_recent` tokens are reached                                     |
| the cut is the nearest message at or before that point: never a tool result                               |
| a cut inside a turn splits it: what stands before the turn is history, its beginning is the turn's prefix |
| asked for by a person and less than `keep_recent` there: everything goes                                  |
"""

from __future__ import annotations

from dataclasses import dataclass

from contextlab.core.items import Item, Kind
from contextlab.core.summarising.cut import Entries, safe_cut
from contextlab.core.summarising.micro_compaction import total


@dataclass(slots=True, frozen=True)
class Plan:
    """Three lists that together are memory."""

    history: tuple[Item, ...]
    turn_prefix: tuple[Item, ...]
    kept: tuple[Item, ...]

    @property
    def split_turn(self) -> bool:
        """Whether a turn is cut in two."""
        return bool(self.turn_prefix)

    @property
    def covered(self) -> tuple[Item, ...]:
        """All that goes into the summary."""
        return self.history + self.turn_prefix


def plan(items: tuple[Item, ...], keep_recent: int, mode: str = "safe") -> Plan:
    """The plan for these items."""
    entries = Entries(items)
    cut = _wanted(entries, keep_recent)
    if mode != "reference":
        cut = safe_cut(entries, cut)
    prompt = _turn_start(entries, cut)
    history, index = entries.start(prompt), entries.start(cut)
    return Plan(items[:history], items[history:index], items[index:])


def message_places(entries: Entries) -> list[int]:
    """The entries before which memory may be cut: all but results, and reasoning counts with what it led to."""
    return [place for place in range(len(entries)) if entries.of(place)[0].kind != Kind.TOOL_RESULT]


def _wanted(entries: Entries, keep_recent: int) -> int:
    size = 0
    for place in range(len(entries) - 1, -1, -1):
        size += total(entries.of(place))
        if size >= keep_recent:
            return max((one for one in message_places(entries) if one <= place), default=0)
    return len(entries)


def _turn_start(entries: Entries, cut: int) -> int:
    """The place at which the turn begins that the cut goes through; the cut itself where it goes through none."""
    if cut >= len(entries) or entries.has_prompt(cut):
        return cut
    return max((place for place in range(cut) if entries.has_prompt(place)), default=cut)
