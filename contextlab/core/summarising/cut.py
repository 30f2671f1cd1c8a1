"""Where memory may be cut: what stands before goes into a summary, the rest stays.

| step           | rule                                                                                          |
|----------------|-----------------------------------------------------------------------------------------------|
| turn boundary  | back from the wanted place to the nearest user entry; the place itself where there is none    |
| whole pairs    | back before a call whose result stays, and before the reasoning that led to it                |
| what is open   | back before an unanswered prompt, and before calls and results that no answer has read yet    |

Places are in entries. The first step alone is what the original does.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from contextlab.core.items import Item, Kind
from contextlab.core.measuring.memory_size import entry_starts
from contextlab.core.projection import NONE, is_answer, is_prompt, last_index, pair_up

GLANCES = 4
"""How often a cut is moved by looking only at what stands behind it; then all pairs are found, once."""


@dataclass(slots=True)
class Entries:
    """Items grouped to entries (neighbours with one entry id), with what cutting needs to know of them."""

    items: Sequence[Item]
    starts: list[int] = field(default_factory=list)
    """Index of the first item of each entry."""

    def __post_init__(self) -> None:
        """Find the entries where they are not known."""
        self.starts = self.starts or entry_starts(self.items)

    def __len__(self) -> int:
        """How many entries."""
        return len(self.starts)

    def start(self, place: int) -> int:
        """Index of the first item behind a place."""
        return self.starts[place] if place < len(self.starts) else len(self.items)

    def place(self, index: int) -> int:
        """The entry that an item is part of."""
        return bisect_right(self.starts, index) - 1

    def places(self) -> list[int]:
        """The entry of each item."""
        places = [0] * len(self.items)
        for place, start in enumerate(self.starts):
            for index in range(start, self.start(place + 1)):
                places[index] = place
        return places

    def of(self, place: int) -> Sequence[Item]:
        """The items of an entry."""
        return self.items[self.start(place) : self.start(place + 1)]

    def has_prompt(self, place: int, *, any_user: bool = False) -> bool:
        """Whether a turn starts there (`any_user`: also with injected text, as the original sees it)."""
        return any(is_prompt(item) or (any_user and item.kind == Kind.USER) for item in self.of(place))


def turn_boundary(entries: Entries, wanted: int, *, any_user: bool = False) -> int:
    """The nearest user entry at or before the wanted place; the wanted place at both ends and where there is none."""
    if not 0 < wanted < len(entries):
        return wanted
    for place in range(wanted, -1, -1):
        if entries.has_prompt(place, any_user=any_user):
            return place
    return wanted


def whole_pairs(entries: Entries, cut: int) -> int:
    """The last place at or before the cut that separates no pair, and no reasoning from what it led to."""
    for _ in range(GLANCES):
        if not 0 < cut < len(entries):
            return cut
        moved = _moved(entries, cut, _first_call_behind(entries, cut))
        if moved == cut:
            return cut
        cut = moved
    first_call = _first_calls(entries)
    while 0 < cut < len(entries) and (moved := _moved(entries, cut, first_call[cut])) != cut:
        cut = moved
    return cut


def whole_pairs_after(entries: Entries, cut: int) -> int:
    """The first place at or behind the cut that separates none; the end where there is none."""
    first_call = _first_calls(entries)
    while 0 < cut < len(entries) and _moved(entries, cut, first_call[cut]) != cut:
        cut += 1
    return cut


def _first_call_behind(entries: Entries, cut: int) -> int:
    """The entry of the first call whose result stands behind the cut, looked for from there (see `pair_up`)."""
    start = entries.start(cut)
    behind = _Waiting()
    missing = [item for item in entries.items[start:] if behind.call_of(item, 0) == NONE]
    if not missing:
        return len(entries)
    wanted, before = {item.call_id for item in missing}, _Waiting()
    for index in range(start):
        if entries.items[index].call_id in wanted:
            before.call_of(entries.items[index], index)
    calls = [before.call_of(item, 0) for item in missing]
    found = [call for call in calls if call is not None and call != NONE]
    return entries.place(min(found)) if found else len(entries)


class _Waiting:
    """Calls that wait for their results."""

    def __init__(self) -> None:
        self.calls: dict[str, list[int]] = {}

    def call_of(self, item: Item, index: int) -> int | None:
        """For a result the call that it answers, NONE without one; a call waits from now on."""
        if item.call_id is None:
            return None
        if item.kind == Kind.TOOL_CALL and item.needs_result:
            self.calls.setdefault(item.call_id, []).append(index)
        elif item.kind == Kind.TOOL_RESULT:
            waiting = self.calls.get(item.call_id)
            return waiting.pop() if waiting else NONE
        return None


def _first_calls(entries: Entries) -> list[int]:
    """By place: the entry of the first call whose result stands there or behind."""
    places, pairs = entries.places(), pair_up(entries.items)
    first_call = [len(entries)] * (len(entries) + 1)
    for index in range(len(entries.items) - 1, -1, -1):
        call, place = pairs[index], places[index]
        first_call[place] = min(first_call[place], first_call[place + 1])
        if NONE < call < index:
            first_call[place] = min(first_call[place], places[call])
    return first_call


def _moved(entries: Entries, cut: int, first_call: int) -> int:
    """One step back where the cut separates something."""
    moved = min(cut, first_call)
    while moved > 0 and _led_on(entries, moved):
        moved -= 1
    return moved


def open_part(entries: Entries) -> int:
    """The place from which on everything is still open: an unanswered prompt, or results that nobody has read.

    Without any answer in memory only the last calls count as unread: the later ones show that the others were read.
    """
    items = entries.items
    prompt, answer = last_index(items, is_prompt), last_index(items, is_answer)
    if prompt > answer:
        return entries.place(prompt)
    if answer == NONE:
        answer = _before_last_calls(items)
    calls = (i for i in range(answer + 1, len(items)) if items[i].kind in (Kind.TOOL_CALL, Kind.TOOL_RESULT))
    first = next(calls, NONE)
    return len(entries) if first == NONE else entries.place(first)


def open_prompt(items: Sequence[Item]) -> str | None:
    """Id of the last prompt where no answer follows it."""
    prompt, answer = last_index(items, is_prompt), last_index(items, is_answer)
    return items[prompt].id if prompt > answer else None


def safe_cut(entries: Entries, cut: int) -> int:
    """The last place at or before the cut that leaves what is open and every pair whole."""
    return whole_pairs(entries, min(cut, open_part(entries)))


def _led_on(entries: Entries, place: int) -> bool:
    """Whether the entry before the place is reasoning that led to what stands there."""
    return entries.items[entries.start(place) - 1].kind == Kind.REASONING and entries.of(place)[0].kind in (
        Kind.TOOL_CALL,
        Kind.ASSISTANT,
        Kind.REASONING,
    )


def _before_last_calls(items: Sequence[Item]) -> int:
    """Index of the last result that has a call behind it, NONE when there is none."""
    last_call = last_index(items, lambda item: item.kind == Kind.TOOL_CALL)
    return next((i for i in range(last_call, -1, -1) if items[i].kind == Kind.TOOL_RESULT), NONE)
