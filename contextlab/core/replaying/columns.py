"""The source of a policy view in columns and prefix sums, index by index, grown and cut back as a session plays.

Every sum is over the items that may be left out ("free"); what must stay (system items, a person's pins) is always
there and kept in plain totals. With the two thresholds of the type-aware tiers (results before T and reasoning
before U are placeholders) the size of any stretch [a, b) is a closed expression of prefix sums.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from dataclasses import dataclass

from contextlab.core.budget import Budget
from contextlab.core.items import KIND_CODE, Kind, Reason
from contextlab.core.projection import NONE
from contextlab.core.replaying.crossing import Crossing
from contextlab.core.replaying.sizes import Sizes
from contextlab.core.stand_ins import REASONING_CLEARED
from contextlab.core.timeline import FLAG_INJECTED, FLAG_NO_RESULT_NEEDED, FLAG_PINNED, UNKNOWN

SYSTEM, USER, ASSISTANT = KIND_CODE[Kind.SYSTEM], KIND_CODE[Kind.USER], KIND_CODE[Kind.ASSISTANT]
REASONING, CALL, RESULT = KIND_CODE[Kind.REASONING], KIND_CODE[Kind.TOOL_CALL], KIND_CODE[Kind.TOOL_RESULT]
SUMMED_KINDS = 6
"""Kinds that occur in a policy view's source: the first six, without summary and ui."""


class Measure:
    """Prefix sums of one measure (characters or tokens): as they stand, and what clearing changes."""

    __slots__ = ("raw", "reasoning", "results")

    def __init__(self) -> None:
        """No items: one leading zero each."""
        self.raw = array("q", [0])
        self.results = array("q", [0])
        self.reasoning = array("q", [0])

    def between(self, a: int, b: int, clear: int, trim: int) -> int:
        """Size of the free items in [a, b) when results before `clear` and reasoning before `trim` are cleared."""
        size = self.raw[b] - self.raw[a]
        if a < clear:
            size += self.results[b if b < clear else clear] - self.results[a]
        if a < trim:
            size += self.reasoning[b if b < trim else trim] - self.reasoning[a]
        return size

    def cut_back(self, length: int) -> None:
        """Forget the items from index `length` on."""
        for column in (self.raw, self.results, self.reasoning):
            del column[length + 1 :]


@dataclass(slots=True)
class Totals:
    """What must stay, and the whole source: sums that need no prefix."""

    chars: int = 0
    tokens: int = 0
    uncounted: int = 0
    pinned_chars: int = 0
    pinned_tokens: int = 0


class Columns:
    """The columns. `append` the next item of the source, `cut_back` when the log takes items out again."""

    def __init__(self, sizes: Sizes, budget: Budget) -> None:
        """An empty source."""
        self.sizes = sizes
        self.timeline = sizes.timeline
        self.safe = budget.safe
        self.at: list[int] = []
        """Position of each index."""
        self.where = array("q", [NONE]) * len(self.timeline)
        """Index of each position, NONE where it is not in the source."""
        self.chars, self.tokens = Measure(), Measure()
        self.by_kind = [array("q", [0]) for _ in range(SUMMED_KINDS)]
        """Tokens as they stand, by kind code."""
        self.result_count, self.reasoning_count = array("q", [0]), array("q", [0])
        self.hidden = array("q", [0])
        """Calibrated reasoning."""
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
        self.pinned_by_kind = [0] * SUMMED_KINDS
        self.pinned_reasoning = [0, 0, 0]
        """Of pinned reasoning: items, tokens, calibrated tokens."""
        self.waiting: set[int] = set()
        """Calls without a result."""
        self.crossing = Crossing()
        self.totals = Totals()
        self.stub_chars = len(REASONING_CLEARED)
        self.stub_tokens = sizes.of_text(REASONING_CLEARED)

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
        return range(self.run_starts[number], self.run_end(number))

    def run_end(self, number: int) -> int:
        """The index behind an entry."""
        return self.run_starts[number + 1] if number + 1 < len(self.run_starts) else len(self.at)

    def start_of(self, number: int) -> int:
        """The index at which an entry begins; the end for the entry behind the last."""
        return self.run_starts[number] if number < len(self.run_starts) else len(self.at)

    def free_between(self, a: int, b: int) -> int:
        """Number of free items in [a, b)."""
        return b - a - (bisect_left(self.pins, b) - bisect_left(self.pins, a)) if self.pins else b - a

    def append(self, position: int) -> None:
        """The next item of the source."""
        timeline, index = self.timeline, len(self.at)
        kind, chars, tokens = timeline.kinds[position], timeline.chars[position], self.sizes.tokens[position]
        self.at.append(position)
        self.where[position] = index
        self._join_run(index, position)
        self.totals.chars += chars
        self.totals.tokens += tokens
        self.totals.uncounted += timeline.tokens[position] == UNKNOWN
        pinned = self.safe and (kind == SYSTEM or bool(timeline.flags[position] & FLAG_PINNED))
        if pinned:
            self._pin(index, kind, chars, tokens, 1)
            self._sum(NONE, 0, 0, 0, 0)
        elif kind == RESULT:
            text = self.sizes.cleared_text(position, self._call_of(position))
            self._sum(kind, chars, tokens, len(text) - chars, self.sizes.of_text(text) - tokens)
        elif kind == REASONING:
            self._sum(kind, chars, tokens, self.stub_chars - chars, self.stub_tokens - tokens)
            self.hidden[-1] += self.sizes.hidden[position]
        else:
            self._sum(kind, chars, tokens, 0, 0)
        self._note_kind(index, position, kind, chars)

    def cut_back(self, length: int) -> None:
        """Forget the items from index `length` on."""
        for index in range(len(self.at) - 1, length - 1, -1):
            self._forget(index)
        for measure in (self.chars, self.tokens):
            measure.cut_back(length)
        for column in (*self.by_kind, self.result_count, self.reasoning_count, self.hidden):
            del column[length + 1 :]
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
        timeline = self.timeline
        kind, chars, tokens = timeline.kinds[position], timeline.chars[position], self.sizes.tokens[position]
        self.totals.chars -= chars
        self.totals.tokens -= tokens
        self.totals.uncounted -= timeline.tokens[position] == UNKNOWN
        if self.pin(index) is not None:
            self._pin(index, kind, chars, tokens, -1)
        self.waiting.discard(index)
        partner = self.partner(index)
        if kind == RESULT and partner != NONE:
            self.waiting.add(partner)
        self.where[position] = NONE

    def _join_run(self, index: int, position: int) -> None:
        entries = self.timeline.entries
        if index == 0 or entries[position] != entries[self.at[index - 1]]:
            self.free_runs.append(len(self.run_starts))
            self.run_starts.append(index)
        self.run_of.append(len(self.run_starts) - 1)

    def _rebind(self, number: int) -> None:
        """Tell anew whether the last entry is free (its pinned items may be gone)."""
        bound = any(self.pin(index) is not None for index in self.run(number))
        for numbers, belongs in ((self.bound_runs, bound), (self.free_runs, not bound)):
            listed = bool(numbers) and numbers[-1] == number
            if belongs and not listed:
                numbers.append(number)
            elif listed and not belongs:
                numbers.pop()

    def _call_of(self, position: int) -> int:
        """Position of a result's call, UNKNOWN where the source does not have it."""
        call = self.timeline.pairs[position]
        return call if call != UNKNOWN and self.where[call] != NONE else UNKNOWN

    def _pin(self, index: int, kind: int, chars: int, tokens: int, sign: int) -> None:
        """Book an item that must stay (1), or take it off the books (-1)."""
        self.totals.pinned_chars += sign * chars
        self.totals.pinned_tokens += sign * tokens
        self.pinned_by_kind[kind] += sign * tokens
        if kind == REASONING:
            hidden = self.sizes.hidden[self.at[index]]
            for place, value in enumerate((1, tokens, hidden)):
                self.pinned_reasoning[place] += sign * value
        if sign < 0:
            return
        self.pins.append(index)
        if kind in (CALL, RESULT):
            self.tool_pins.append(index)
        number = self.run_of[index]
        if self.free_runs and self.free_runs[-1] == number:
            self.free_runs.pop()
            self.bound_runs.append(number)

    def _sum(self, kind: int, chars: int, tokens: int, less_chars: int, less_tokens: int) -> None:
        """Extend all prefix sums by one item (of kind NONE when it must stay); `less_*` is what clearing adds."""
        result, reasoning = kind == RESULT, kind == REASONING
        for measure, size, less in ((self.chars, chars, less_chars), (self.tokens, tokens, less_tokens)):
            measure.raw.append(measure.raw[-1] + size)
            measure.results.append(measure.results[-1] + (less if result else 0))
            measure.reasoning.append(measure.reasoning[-1] + (less if reasoning else 0))
        for code, column in enumerate(self.by_kind):
            column.append(column[-1] + tokens if code == kind else column[-1])
        self.result_count.append(self.result_count[-1] + result)
        self.reasoning_count.append(self.reasoning_count[-1] + reasoning)
        self.hidden.append(self.hidden[-1])

    def _note_kind(self, index: int, position: int, kind: int, chars: int) -> None:
        flags = self.timeline.flags[position]
        if kind == RESULT:
            self.results.append(index)
            call = self.partner(index)
            if call != NONE:
                self.waiting.discard(call)
                self.crossing.answer(call, index)
        elif kind == CALL:
            self.crossing.call(index)
            if not flags & FLAG_NO_RESULT_NEEDED:
                self.waiting.add(index)
        elif kind == USER and not flags & FLAG_INJECTED:
            self.prompts.append(index)
        elif kind == ASSISTANT and chars > 0:
            self.answers.append(index)
