"""The source of a policy view as it stands at a step: grown item by item, and cut back when the log takes some out.

Sizes are in prefix sums (sums.py), built ahead; here is what depends on where the step stands: entries, prompts,
results, pins, pairs. What must stay is always there and kept in plain totals.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

from contextlab.core.budget import Budget
from contextlab.core.items import KIND_CODE, Kind, Reason
from contextlab.core.projection import NONE
from contextlab.core.replaying.crossing import Crossing
from contextlab.core.replaying.sizes import REASONING, Sizes
from contextlab.core.replaying.sums import CALL, RESULT, SUMMED_KINDS, SYSTEM, Sums
from contextlab.core.timeline import FLAG_INJECTED, FLAG_NO_RESULT_NEEDED, FLAG_PINNED, UNKNOWN

USER, ASSISTANT = KIND_CODE[Kind.USER], KIND_CODE[Kind.ASSISTANT]


@dataclass(slots=True)
class Totals:
    """The whole source (items, characters, tokens) and what of it must stay: sums that need no prefix."""

    chars: int = 0
    tokens: int = 0
    uncounted: int = 0
    pinned_chars: int = 0
    pinned_by_kind: list[int] = field(default_factory=lambda: [0] * SUMMED_KINDS)
    pinned_tools: int = 0
    pinned_reasoning: list[int] = field(default_factory=lambda: [0, 0, 0])
    """Of pinned reasoning: items, tokens, calibrated tokens."""


class Columns:
    """The source of a step. `append` the next item, `cut_back` when the log takes items out again."""

    def __init__(self, sizes: Sizes, budget: Budget) -> None:
        """An empty source."""
        self.sizes = sizes
        self.timeline = sizes.timeline
        self.safe = budget.safe
        clears, trims = budget.max_recent_tool_results is not None, budget.trim_old_reasoning
        self.sums = Sums(sizes, safe=budget.safe, clears=clears, trims=trims)
        self.at: list[int] = []
        """Position of each index."""
        self.where = array("q", [NONE]) * len(self.timeline)
        """Index of each position, NONE where it is not in the source."""
        self.run_starts: list[int] = []
        self.run_of: list[int] = []
        self.free_runs: list[int] = []
        self.bound_runs: list[int] = []
        """Entries with something that must stay; the others are free."""
        self.results: list[int] = []
        self.prompts: list[int] = []
        self.answers: list[int] = []
        self.pins: list[int] = []
        self.tool_pins: list[int] = []
        """Pinned calls and results."""
        self.waiting: set[int] = set()
        """Calls without a result."""
        self.crossing = Crossing()
        self.totals = Totals()

    def __len__(self) -> int:
        """Number of items in the source."""
        return len(self.at)

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
        other = self.timeline.pairs[self.at[index]]
        return NONE if other == UNKNOWN else self.where[other]

    def run(self, number: int) -> range:
        """The indices of an entry."""
        return range(self.run_starts[number], self.start_of(number + 1))

    def start_of(self, number: int) -> int:
        """The index at which an entry begins; the end for the entry behind the last."""
        return self.run_starts[number] if number < len(self.run_starts) else len(self.at)

    def free_between(self, a: int, b: int) -> int:
        """Number of free items in [a, b)."""
        return b - a - (bisect_left(self.pins, b) - bisect_left(self.pins, a)) if self.pins else b - a

    def extend(self, positions: Sequence[int]) -> None:
        """The next items of the source; their sums must have been built."""
        timeline, totals, at, where = self.timeline, self.totals, self.at, self.where
        kinds, flags, entries = timeline.kinds, timeline.flags, timeline.entries
        tokens, counted, chars = self.sizes.tokens, timeline.tokens, timeline.chars
        for position in positions:
            index = len(at)
            if index == 0 or entries[position] != entries[at[-1]]:
                self.free_runs.append(len(self.run_starts))
                self.run_starts.append(index)
            self.run_of.append(len(self.run_starts) - 1)
            at.append(position)
            where[position] = index
            totals.chars += chars[position]
            totals.tokens += tokens[position]
            if counted[position] == UNKNOWN:
                totals.uncounted += 1
            if self.safe and (kinds[position] == SYSTEM or flags[position] & FLAG_PINNED):
                self._pin(index, position, kinds[position])
            self._note(index, kinds[position], flags[position], chars[position])

    def _note(self, index: int, kind: int, flags: int, chars: int) -> None:
        """Remember where prompts, answers, calls and results stand."""
        if kind == RESULT:
            self._result(index)
        elif kind == CALL:
            self.crossing.call(index)
            if not flags & FLAG_NO_RESULT_NEEDED:
                self.waiting.add(index)
        elif kind == USER and not flags & FLAG_INJECTED:
            self.prompts.append(index)
        elif kind == ASSISTANT and chars > 0:
            self.answers.append(index)

    def _result(self, index: int) -> None:
        self.results.append(index)
        call = self.partner(index)
        if call != NONE:
            self.waiting.discard(call)
            self.crossing.answer(call, index)

    def _pin(self, index: int, position: int, kind: int) -> None:
        self.pins.append(index)
        if kind in (CALL, RESULT):
            self.tool_pins.append(index)
        number = self.run_of[index]
        if self.free_runs and self.free_runs[-1] == number:
            self.free_runs.pop()
            self.bound_runs.append(number)
        self._book_pin(position, kind, 1)

    def _book_pin(self, position: int, kind: int, sign: int) -> None:
        """Book an item that must stay (1), or take it off the books (-1)."""
        totals, tokens = self.totals, self.sizes.tokens[position]
        totals.pinned_chars += sign * self.timeline.chars[position]
        totals.pinned_by_kind[kind] += sign * tokens
        totals.pinned_tools += sign * (kind in (CALL, RESULT))
        if kind == REASONING:
            for place, value in enumerate((1, tokens, self.sizes.hidden[position])):
                totals.pinned_reasoning[place] += sign * value

    def cut_back(self, length: int) -> None:
        """Forget the items from index `length` on."""
        for index in range(len(self.at) - 1, length - 1, -1):
            self._forget(index)
        self.sums.cut_back(length)
        for ordered in (self.results, self.prompts, self.answers, self.pins, self.tool_pins):
            del ordered[bisect_left(ordered, length) :]
        del self.at[length:], self.run_of[length:]
        del self.run_starts[bisect_left(self.run_starts, length) :]
        runs = len(self.run_starts)
        for numbers in (self.free_runs, self.bound_runs):
            del numbers[bisect_left(numbers, runs) :]
        if runs:
            self._rebind(runs - 1)
        self.crossing.cut_back(length)

    def _forget(self, index: int) -> None:
        position = self.at[index]
        timeline, totals, kind = self.timeline, self.totals, self.timeline.kinds[position]
        totals.chars -= timeline.chars[position]
        totals.tokens -= self.sizes.tokens[position]
        totals.uncounted -= timeline.tokens[position] == UNKNOWN
        if self.pin(index) is not None:
            self._book_pin(position, kind, -1)
        self.waiting.discard(index)
        partner = self.partner(index)
        if kind == RESULT and partner != NONE:
            self.waiting.add(partner)
        self.where[position] = NONE

    def _rebind(self, number: int) -> None:
        """Tell anew whether the last entry is free (its pinned items may be gone)."""
        bound = any(self.pin(index) is not None for index in self.run(number))
        for numbers, belongs in ((self.bound_runs, bound), (self.free_runs, not bound)):
            listed = bool(numbers) and numbers[-1] == number
            if belongs and not listed:
                numbers.append(number)
            elif listed and not belongs:
                numbers.pop()
