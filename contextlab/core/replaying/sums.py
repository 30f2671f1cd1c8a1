"""Prefix sums over the source of a policy view, index by index, built ahead in one sweep.

Every sum is over the items that may be left out ("free"); what must stay (system items, a person's pins) counts as
nothing here. With the two thresholds of the type-aware tiers (results before `clear` and reasoning before `trim`
are placeholders) the size of any stretch [a, b) is a closed expression.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import accumulate, islice

from contextlab.core.items import KIND_CODE, Kind
from contextlab.core.projecting.stand_ins import REASONING_CLEARED
from contextlab.core.replaying.sizes import REASONING, Sizes
from contextlab.core.timeline import FLAG_PINNED, UNKNOWN

SYSTEM = KIND_CODE[Kind.SYSTEM]
CALL, RESULT = KIND_CODE[Kind.TOOL_CALL], KIND_CODE[Kind.TOOL_RESULT]
SUMMED_KINDS = 6
"""Kinds that occur in a policy view's source: the first six, without summary and ui."""


class Measure:
    """Prefix sums of one measure (characters or tokens): as items stand, and what clearing them adds."""

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


class Sums:
    """All prefix sums. Those of a tier that is off are not built."""

    def __init__(self, sizes: Sizes, *, safe: bool, clears: bool, trims: bool) -> None:
        """An empty source. `safe`: system items and a person's pins must stay."""
        self.sizes = sizes
        self.safe, self.clears, self.trims = safe, clears, trims
        self.chars, self.tokens = Measure(), Measure()
        self.by_kind = [array("q", [0]) for _ in range(SUMMED_KINDS)]
        """Tokens as they stand, by kind code."""
        self.result_count, self.reasoning_count = array("q", [0]), array("q", [0])
        self.tool_count = array("q", [0])
        """Calls and results."""
        self.hidden = array("q", [0])
        """Calibrated reasoning."""

    def __len__(self) -> int:
        """Number of items summed up."""
        return len(self.chars.raw) - 1

    def cut_back(self, length: int) -> None:
        """Forget the items from index `length` on."""
        for column in self._columns():
            del column[length + 1 :]

    def build(self, positions: Sequence[int], where: Sequence[int]) -> None:
        """Sum up the next items. `where` tells which positions stand in the source before them."""
        timeline = self.sizes.timeline
        kinds = [timeline.kinds[position] for position in positions]
        if self.safe:
            flags = timeline.flags
            for number, position in enumerate(positions):
                if kinds[number] == SYSTEM or flags[position] & FLAG_PINNED:
                    kinds[number] = UNKNOWN
        chars = [0 if kind < 0 else timeline.chars[at] for kind, at in zip(kinds, positions, strict=True)]
        tokens = [0 if kind < 0 else self.sizes.tokens[at] for kind, at in zip(kinds, positions, strict=True)]
        extend(self.chars.raw, chars)
        extend(self.tokens.raw, tokens)
        for code, column in enumerate(self.by_kind):
            extend(column, [size if kind == code else 0 for kind, size in zip(kinds, tokens, strict=True)])
        extend(self.result_count, [kind == RESULT for kind in kinds])
        extend(self.reasoning_count, [kind == REASONING for kind in kinds])
        extend(self.tool_count, [kind in (CALL, RESULT) for kind in kinds])
        hidden = self.sizes.hidden
        extend(
            self.hidden,
            [hidden[at] if kind == REASONING else 0 for kind, at in zip(kinds, positions, strict=True)],
        )
        if self.clears:
            self._clear(positions, kinds, chars, tokens, where)
        if self.trims:
            self._trim(kinds, chars, tokens)

    def _clear(
        self,
        positions: Sequence[int],
        kinds: list[int],
        chars: list[int],
        tokens: list[int],
        where: Sequence[int],
    ) -> None:
        """What clearing each result adds (mostly less than nothing)."""
        pairs, coming = self.sizes.timeline.pairs, set(positions)
        more_chars, more_tokens = [0] * len(kinds), [0] * len(kinds)
        for number, kind in enumerate(kinds):
            if kind == RESULT:
                call = pairs[positions[number]]
                known = call != UNKNOWN and (where[call] != UNKNOWN or call in coming)
                text = self.sizes.cleared_text(positions[number], call if known else UNKNOWN)
                more_chars[number] = len(text) - chars[number]
                more_tokens[number] = self.sizes.of_text(text) - tokens[number]
        extend(self.chars.results, more_chars)
        extend(self.tokens.results, more_tokens)

    def _trim(self, kinds: list[int], chars: list[int], tokens: list[int]) -> None:
        """What clearing each reasoning item adds."""
        stub_chars, stub_tokens = len(REASONING_CLEARED), self.sizes.of_text(REASONING_CLEARED)
        for column, sizes, stub in ((self.chars, chars, stub_chars), (self.tokens, tokens, stub_tokens)):
            more = [stub - size if kind == REASONING else 0 for kind, size in zip(kinds, sizes, strict=True)]
            extend(column.reasoning, more)

    def _columns(self) -> Iterable[array[int]]:
        yield from self.by_kind
        yield from (self.result_count, self.reasoning_count, self.tool_count, self.hidden)
        for measure in (self.chars, self.tokens):
            yield from (measure.raw, measure.results, measure.reasoning)


def extend(column: array[int], values: Iterable[int]) -> None:
    """Extend a column of prefix sums by the sums of further values."""
    column.extend(islice(accumulate(values, initial=column[-1]), 1, None))
