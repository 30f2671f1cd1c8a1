"""The source of a policy view as it stands at a step: entries, prompts, results, pins, pairs and sums by index.

The log changes its source rarely; in between items only come. So the columns are built ahead to the end of such a
stretch (`renew`), and a step only says how much of them it sees (`advance`). What a column holds beyond `size` does
not exist yet at the step: whoever reads one looks no farther.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, compress, count, repeat
from operator import eq, ne

from contextlab.core.budget import Budget
from contextlab.core.items import KIND_CODE, Kind, Reason
from contextlab.core.projection import NONE
from contextlab.core.replaying.crossing import Crossing
from contextlab.core.replaying.sizes import REASONING, Sizes
from contextlab.core.replaying.sums import CALL, HELD, RESULT, SUMMED_KINDS, SYSTEM, Sums, taker
from contextlab.core.timeline import FLAG_INJECTED, FLAG_NO_RESULT_NEEDED, FLAG_PINNED

USER, ASSISTANT = KIND_CODE[Kind.USER], KIND_CODE[Kind.ASSISTANT]


@dataclass(slots=True, frozen=True)
class Held:
    """What must stay, summed up. There is little of it: one of these for each number of pins."""

    items: int = 0
    chars: int = 0
    tokens: int = 0
    by_kind: tuple[int, ...] = (0,) * SUMMED_KINDS
    """Tokens by kind code."""
    tools: int = 0
    reasoning: tuple[int, int, int] = (0, 0, 0)
    """Of pinned reasoning: items, tokens, calibrated tokens."""


class Columns:
    """The source, index by index."""

    def __init__(self, sizes: Sizes, budget: Budget) -> None:
        """An empty source."""
        self.sizes = sizes
        self.timeline = sizes.timeline
        self.safe = budget.safe
        self.sums = Sums(sizes, budget)
        self.size = 0
        """Number of items that stand before the step."""
        self.runs = 0
        """Number of entries among them."""
        self.at: list[int] = []
        """Position of each index."""
        self.where = array("q", [NONE]) * (len(self.timeline) + 1)
        """Index of each position, NONE where it is not in the source, and at UNKNOWN."""
        self.run_starts: list[int] = []
        self.run_of: list[int] = []
        self.results: list[int] = []
        self.prompts: list[int] = []
        self.answers: list[int] = []
        self.unanswered: list[int] = []
        """Calls that need a result and get none in this stretch."""
        self.pins: list[int] = []
        self.pin_gaps: list[int] = []
        """Items between each pin and the one before it."""
        self.tool_pins: list[int] = []
        """Pinned calls and results."""
        self.bound_runs: list[int] = []
        """Entries with something that must stay; the others are free."""
        self._bound_from: list[int] = []
        """The first index that binds each of them."""
        self._free_before: list[int] = []
        """How many free entries stand before each of them."""
        self.crossing = Crossing()
        self._held_by_pins = [Held()]
        self.held = self._held_by_pins[0]
        """The sums of what must stay, at the step."""
        self.bound_count = 0
        """Number of entries with something that must stay, at the step."""

    def __len__(self) -> int:
        """Number of items in the source, at the step."""
        return self.size

    def pin(self, index: int) -> Reason | None:
        """Why the item must stay, None when it need not."""
        if not self.safe:
            return None
        position = self.at[index]
        if self.timeline.flags[position] & FLAG_PINNED:
            return Reason.PINNED_BY_PERSON
        return Reason.SYSTEM if self.timeline.kinds[position] == SYSTEM else None

    def kind(self, index: int) -> int:
        """The item's kind code."""
        return self.timeline.kinds[self.at[index]]

    def partner(self, index: int) -> int:
        """Index of a call's result or a result's call, NONE where the source does not have it."""
        other = self.where[self.timeline.pairs[self.at[index]]]
        return other if other < self.size else NONE

    def last(self, indices: list[int]) -> int:
        """The last of some indices that stands before the step, NONE without one."""
        number = bisect_left(indices, self.size)
        return indices[number - 1] if number else NONE

    def run(self, number: int) -> range:
        """The indices of an entry."""
        return range(self.run_starts[number], self.start_of(number + 1))

    def start_of(self, number: int) -> int:
        """The index at which an entry begins; the end for the entry behind the last."""
        return self.run_starts[number] if number < self.runs else self.size

    def free_between(self, a: int, b: int) -> int:
        """Number of free items in [a, b)."""
        return b - a - (bisect_left(self.pins, b) - bisect_left(self.pins, a)) if self.pins else b - a

    def free_run(self, number: int) -> int:
        """The free entry of this number."""
        return number + bisect_right(self._free_before, number, 0, self.bound_count)

    def advance(self, size: int) -> None:
        """The next step sees so many items."""
        self.size = size
        self.runs = self.run_of[size - 1] + 1 if size else 0
        if self.pins or self.bound_count:
            self.bound_count = bisect_left(self._bound_from, size)
            self.held = self._held_by_pins[bisect_left(self.pins, size)]

    def renew(self, same: int, positions: Sequence[int]) -> None:
        """Build from index `same` on; `positions` are those of the whole source, to the end of the stretch."""
        self._cut_back(same)
        new, timeline, where = positions[same:], self.timeline, self.where
        self.at += new
        for index, position in enumerate(new, same):
            where[position] = index
        take = taker(new)
        kinds, flags, pairs = take(timeline.kinds), take(timeline.flags), take(timeline.pairs)
        self._add_runs(same, take(timeline.entries))
        self._add_places(same, kinds, flags, take(timeline.chars))
        self._add_pairs(same, kinds, flags, [where[pair] for pair in pairs])
        self.sums.build(new, self._add_pins(same, new, kinds, flags), where)

    def _add_runs(self, start: int, entries: Sequence[int]) -> None:
        """Neighbours of one entry are one run."""
        before = self.timeline.entries[self.at[start - 1]] if start else NONE
        begins = list(map(ne, entries, (before, *entries)))
        runs = accumulate(begins, initial=len(self.run_starts) - 1)
        next(runs)
        self.run_of += runs
        self.run_starts += compress(range(start, start + len(begins)), begins)

    def _add_pins(
        self, start: int, positions: Sequence[int], kinds: Sequence[int], flags: Sequence[int]
    ) -> list[int]:
        """Note what must stay; returns the kinds, with HELD in the place of its."""
        free = list(kinds)
        if self.safe:
            for number, (kind, flag) in enumerate(zip(kinds, flags, strict=True)):
                if kind == SYSTEM or flag & FLAG_PINNED:
                    self._pin(start + number, positions[number], kind)
                    free[number] = HELD
        return free

    def _pin(self, index: int, position: int, kind: int) -> None:
        self.pin_gaps.append(index - self.pins[-1] - 1 if self.pins else index)
        self.pins.append(index)
        if kind in (CALL, RESULT):
            self.tool_pins.append(index)
        run = self.run_of[index]
        if not self.bound_runs or self.bound_runs[-1] != run:
            self._free_before.append(run - len(self.bound_runs))
            self._bound_from.append(index)
            self.bound_runs.append(run)
        before, tokens, hidden = self._held_by_pins[-1], self.sizes.tokens[position], 0
        by_kind, reasoning = list(before.by_kind), before.reasoning
        by_kind[kind] += tokens
        if kind == REASONING:
            hidden = self.sizes.hidden[position]
            reasoning = (reasoning[0] + 1, reasoning[1] + tokens, reasoning[2] + hidden)
        chars = before.chars + self.timeline.chars[position]
        tools = before.tools + (kind in (CALL, RESULT))
        self._held_by_pins.append(
            Held(before.items + 1, chars, before.tokens + tokens, tuple(by_kind), tools, reasoning)
        )

    def _add_places(
        self, start: int, kinds: Sequence[int], flags: Sequence[int], chars: Sequence[int]
    ) -> None:
        """Where results, prompts and answers stand."""
        self.results += places(kinds, RESULT, start)
        self.prompts += [
            index for index in places(kinds, USER, start) if not flags[index - start] & FLAG_INJECTED
        ]
        self.answers += [index for index in places(kinds, ASSISTANT, start) if chars[index - start] > 0]

    def _add_pairs(
        self, start: int, kinds: Sequence[int], flags: Sequence[int], partners: Sequence[int]
    ) -> None:
        """Which result belongs to which call."""
        calls = list(places(kinds, CALL, start))
        self.crossing.extend(calls, [partners[index - start] for index in calls])
        for index in self.results[bisect_left(self.results, start) :] if start else ():
            call = partners[index - start]
            if NONE < call < start:
                self.crossing.answer(call, index)
        pairs, where = self.timeline.pairs, self.where
        self.unanswered = [call for call in self.unanswered if where[pairs[self.at[call]]] == NONE]
        self.unanswered += [
            call
            for call in calls
            if partners[call - start] == NONE and not flags[call - start] & FLAG_NO_RESULT_NEEDED
        ]

    def _cut_back(self, length: int) -> None:
        """Forget the items from index `length` on."""
        pairs, gone = self.timeline.pairs, self.results[bisect_left(self.results, length) :]
        lost = [call for result in gone if NONE < (call := self.where[pairs[self.at[result]]]) < length]
        for position in self.at[length:]:
            self.where[position] = NONE
        del self.at[length:], self.run_of[length:]
        for ordered in (self.results, self.prompts, self.answers, self.unanswered, self.tool_pins):
            del ordered[bisect_left(ordered, length) :]
        self.unanswered = sorted([*self.unanswered, *lost])
        del self.run_starts[bisect_left(self.run_starts, length) :]
        del self._held_by_pins[bisect_left(self.pins, length) + 1 :]
        del self.pin_gaps[bisect_left(self.pins, length) :]
        del self.pins[bisect_left(self.pins, length) :]
        bound = bisect_left(self._bound_from, length)
        del self._bound_from[bound:], self.bound_runs[bound:], self._free_before[bound:]
        self.crossing.cut_back(length)
        self.sums.cut_back(length)


def places(kinds: Sequence[int], kind: int, start: int) -> Iterator[int]:
    """The indices at which this kind stands, `start` being that of the first one."""
    return compress(count(start), map(eq, kinds, repeat(kind)))
