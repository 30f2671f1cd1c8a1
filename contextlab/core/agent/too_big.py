"""Which part of a memory is why compactions do not bring it below the threshold.

| part             | items                                                         |
|------------------|---------------------------------------------------------------|
| pinned items     | system items and a person's pins: nothing takes them          |
| the summary      | what stands for items that went (a rule in tokens alone)      |
| the current turn | from the last prompt on: it stays as long as it is open       |
| earlier turns    | all else                                                      |

A part that is over the threshold by itself is named as that, two that are over it together, else the largest one.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress

from contextlab.core.compaction import Decision, Deps, Snapshot
from contextlab.core.items import Item
from contextlab.core.measuring.memory_size import count_entries, items_tokens, text_tokens
from contextlab.core.projection import is_prompt, last_index
from contextlab.core.summarising.outcomes import snapshot_staying

PINNED, SUMMARY, TURN, EARLIER = "pinned items", "summary", "current turn", "earlier turns"
_UNITS = {"tokens": "tokens", "items": "entries", "messages": "entries"}
"""Unit of a rule by its first word; of others no part can be measured."""


@dataclass(slots=True, frozen=True)
class TooBig:
    """The sizes of memory's parts, in the unit of the rule, largest first."""

    parts: tuple[tuple[str, int], ...]
    threshold: int
    unit: str

    @property
    def pins_alone(self) -> bool:
        """Whether what is pinned is over the threshold by itself: no compaction can help."""
        return dict(self.parts).get(PINNED, 0) > self.threshold

    @property
    def words(self) -> str:
        """For people."""
        of = f"of {self.threshold:,} {self.unit}"
        sizes = dict(self.parts)
        for name in (PINNED, TURN, SUMMARY):
            if sizes.get(name, 0) > self.threshold:
                return f"the {name} alone {_are(name)} {sizes[name]:,} {of}"
        together = sizes.get(PINNED, 0) + sizes.get(TURN, 0)
        if together > self.threshold:
            return f"the {PINNED} ({sizes[PINNED]:,}) and the {TURN} ({sizes[TURN]:,}) are {together:,} {of}"
        name, size = self.parts[0]
        return f"the largest part {_are('')} the {name}: {size:,} {of}"


def pins_too_big(memory: Snapshot, decision: Decision, deps: Deps) -> TooBig | None:
    """As `too_big` where what is pinned is over the threshold by itself; else None."""
    unit = _UNITS.get(decision.rule.partition(" ")[0])
    pinned = list(compress(memory.items, snapshot_staying(memory, deps)))
    if unit is None or decision.threshold is None or _size(pinned, unit, deps) <= decision.threshold:
        return None
    return too_big(memory, decision, deps)


def too_big(memory: Snapshot, decision: Decision, deps: Deps) -> TooBig | None:
    """The parts by the rule that fired; None where it goes by something that has no parts."""
    unit = _UNITS.get(decision.rule.partition(" ")[0])
    if unit is None or decision.threshold is None:
        return None
    prompt = max(0, last_index(memory.items, is_prompt))
    pinned = snapshot_staying(memory, deps)
    free = [not stays for stays in pinned]
    groups = {
        PINNED: list(compress(memory.items, pinned)),
        TURN: list(compress(memory.items[prompt:], free[prompt:])),
        EARLIER: list(compress(memory.items[:prompt], free)),
    }
    sizes = {name: _size(items, unit, deps) for name, items in groups.items()}
    if memory.summary and unit == "tokens":
        sizes[SUMMARY] = text_tokens(memory.summary, deps.count)
    parts = sorted(sizes.items(), key=lambda part: -part[1])
    return TooBig(tuple(parts), decision.threshold, unit)


def _size(items: list[Item], unit: str, deps: Deps) -> int:
    return items_tokens(items, deps.count) if unit == "tokens" else count_entries(items)


def _are(name: str) -> str:
    return "are" if name.endswith("s") else "is"
