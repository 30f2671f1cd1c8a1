"""Where a policy that keeps the newest entries cuts: at a turn's start, else inside a turn that has become too long.

| where            | rule                                                                                           |
|------------------|------------------------------------------------------------------------------------------------|
| turn's start     | the nearest at or before the wanted place; what is open, and every pair, stays whole (cut.py)  |
| inside the turn  | where that would leave nothing to cover, or next to nothing against what the turn holds: at    |
|                  | the wanted place, pairs and unread results whole; the prompt that began the turn stays         |
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from contextlab.core.items import Item, Kind
from contextlab.core.projection import NONE, is_answer, is_prompt, last_index
from contextlab.core.summarising.cut import Entries, safe_cut, turn_boundary, whole_pairs

TOO_LONG = 4
"""A turn is too long when that many times as much could go from inside of it as from before it: a summary of the little
before it would free next to nothing, or be longer than what it stands for, and memory would never shrink."""


def coverable(items: Sequence[Item], keep_recent: int, pins: Collection[str]) -> list[Item]:
    """The items that may go into a summary when the newest `keep_recent` entries stay, and pins with them."""
    entries = Entries(items)
    wanted = max(0, len(entries) - keep_recent)
    cut = safe_cut(entries, turn_boundary(entries, wanted))
    before = _free(items[: entries.start(cut)], pins)
    inside = _free(_inside(entries, wanted), pins)
    return inside if _chars(inside) > (1 + TOO_LONG) * _chars(before) else before


def _inside(entries: Entries, wanted: int) -> list[Item]:
    """What stands before the wanted place, without the prompt of the turn that it is in."""
    cut = whole_pairs(entries, min(wanted, _unread(entries)))
    covered = entries.items[: entries.start(cut)]
    opening = next((item.entry for item in reversed(covered) if is_prompt(item)), None)
    return [item for item in covered if item.entry != opening]


def _free(items: Sequence[Item], pins: Collection[str]) -> list[Item]:
    return [item for item in items if item.id not in pins]


def _chars(items: Sequence[Item]) -> int:
    return sum(item.chars for item in items)


def _unread(entries: Entries) -> int:
    """The entry with the first call or result that no answer, and no later call, shows as read."""
    items = entries.items
    answer = last_index(items, is_answer)
    last_call = last_index(items, lambda item: item.kind == Kind.TOOL_CALL)
    read = next((i for i in range(last_call, NONE, -1) if items[i].kind == Kind.TOOL_RESULT), NONE)
    first = max(answer, read) + 1
    return entries.place(first) if first < len(items) else len(entries)
