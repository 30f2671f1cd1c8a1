"""Prefix sums over the source of a policy view, index by index, built ahead in one sweep.

Every sum of sizes is over the items that may be left out ("free"); what must stay (system items, a person's pins)
counts as nothing there. With the two thresholds of the type-aware tiers (results before `clear` and reasoning before
`trim` are placeholders) the size of any stretch [a, b) is a closed expression. Only what is asked for is summed up:
what a step sees needs the measures that have a limit, its report all of them.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, islice
from operator import itemgetter

from contextlab.core.budget import Budget
from contextlab.core.items import KIND_CODE, Kind
from contextlab.core.projecting.stand_ins import REASONING_CLEARED
from contextlab.core.replaying.sizes import REASONING, Sizes
from contextlab.core.timeline import UNKNOWN

SYSTEM = KIND_CODE[Kind.SYSTEM]
CALL, RESULT = KIND_CODE[Kind.TOOL_CALL], KIND_CODE[Kind.TOOL_RESULT]
SUMMED_KINDS = 6
"""Kinds that occur in a policy view's source: the first six, without summary and ui."""
ITEMS, CHARS, RESULTS, REASONINGS, TOOLS, HIDDEN = range(SUMMED_KINDS, SUMMED_KINDS + 6)
"""Places in a row of sums, behind the tokens by kind: number of items, characters, number of results, of reasoning
items, of calls and results, calibrated tokens of reasoning."""
WIDTH = SUMMED_KINDS + 6
HELD = UNKNOWN
"""Stands in the place of a kind for what must stay."""


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

    def columns(self) -> tuple[array[int], ...]:
        """All its columns."""
        return self.raw, self.results, self.reasoning


class Sums:
    """All prefix sums. Those of a tier that is off are not built, nor, unless `reports`, those that no limit needs."""

    def __init__(self, sizes: Sizes, budget: Budget) -> None:
        """An empty source."""
        self.sizes = sizes
        self.clears, self.trims = budget.max_recent_tool_results is not None, budget.trim_old_reasoning
        self.limits_chars, self.limits_tokens = (
            budget.max_approx_chars is not None,
            budget.max_tokens is not None,
        )
        self.reports = False
        """Whether sums are built that only reports need; to be set before anything is built."""
        self.chars, self.tokens = Measure(), Measure()
        self.rows = array("q", [0] * WIDTH)
        """Of free items, WIDTH sums side by side for each index: they are always read together."""
        self.all_chars, self.all_tokens, self.uncounted = array("q", [0]), array("q", [0]), array("q", [0])
        """Of the whole source: what must stay is in these."""

    def cut_back(self, length: int) -> None:
        """Forget the items from index `length` on."""
        del self.rows[(length + 1) * WIDTH :]
        for column in self._columns():
            del column[length + 1 :]

    def row(self, index: int) -> array[int]:
        """The sums of the free items before an index."""
        return self.rows[index * WIDTH : (index + 1) * WIDTH]

    def count(self, index: int, place: int) -> int:
        """One of the sums before an index."""
        return self.rows[index * WIDTH + place]

    def build(self, positions: Sequence[int], kinds: Sequence[int], where: Sequence[int]) -> None:
        """Sum up the next items. `kinds` has HELD for what must stay, `where` is each position's index or NONE."""
        timeline, sizes = self.sizes.timeline, self.sizes
        take = taker(positions)
        chars, tokens = take(timeline.chars), take(sizes.tokens)
        if self.reports:
            extend(self.all_chars, chars)
            extend(self.all_tokens, tokens)
            extend(self.uncounted, [size == UNKNOWN for size in take(timeline.tokens)])
        if HELD in kinds:
            chars = [0 if kind == HELD else size for kind, size in zip(kinds, chars, strict=True)]
            tokens = [0 if kind == HELD else size for kind, size in zip(kinds, tokens, strict=True)]
        if self._wanted(self.chars):
            extend(self.chars.raw, chars)
        if self._wanted(self.tokens):
            extend(self.tokens.raw, tokens)
        if self.reports:
            self._add_rows(positions, kinds, chars, tokens)
        if self.clears:
            self._clear(positions, kinds, chars, tokens, where)
        if self.trims:
            self._trim(kinds, chars, tokens)

    def _wanted(self, measure: Measure) -> bool:
        return self.reports or (self.limits_chars if measure is self.chars else self.limits_tokens)

    def _add_rows(
        self, positions: Sequence[int], kinds: Sequence[int], chars: Sequence[int], tokens: Sequence[int]
    ) -> None:
        """What reports tell apart, of each item."""
        hidden, both = self.sizes.hidden, zip(kinds, positions, strict=True)
        by_kind = [[0] * len(kinds) for _ in range(SUMMED_KINDS)]
        for number, (kind, size) in enumerate(zip(kinds, tokens, strict=True)):
            by_kind[kind][number] = size  # where it is HELD, the size is 0
        values: list[Iterable[int]] = [
            *by_kind,
            [kind != HELD for kind in kinds],
            chars,
            [kind == RESULT for kind in kinds],
            [kind == REASONING for kind in kinds],
            [kind in (CALL, RESULT) for kind in kinds],
            [hidden[at] if kind == REASONING else 0 for kind, at in both],
        ]
        start = len(self.rows)
        last = self.rows[-WIDTH:]
        self.rows.extend(array("q", [0]) * (WIDTH * len(kinds)))
        for place, column in enumerate(values):
            added = islice(accumulate(column, initial=last[place]), 1, None)
            self.rows[start + place :: WIDTH] = array("q", added)

    def _clear(
        self,
        positions: Sequence[int],
        kinds: Sequence[int],
        chars: Sequence[int],
        tokens: Sequence[int],
        where: Sequence[int],
    ) -> None:
        """What clearing each result adds (mostly less than nothing)."""
        results = [number for number, kind in enumerate(kinds) if kind == RESULT]
        texts = self.sizes.cleared_texts([positions[number] for number in results], where)
        for column, sizes, measure in (
            (self.chars, chars, len),
            (self.tokens, tokens, self.sizes.of_text),
        ):
            if self._wanted(column):
                more = [0] * len(kinds)
                for number, size in zip(results, map(measure, texts), strict=True):
                    more[number] = size - sizes[number]
                extend(column.results, more)

    def _trim(self, kinds: Sequence[int], chars: Sequence[int], tokens: Sequence[int]) -> None:
        """What clearing each reasoning item adds."""
        stub_chars, stub_tokens = len(REASONING_CLEARED), self.sizes.of_text(REASONING_CLEARED)
        here = REASONING in kinds
        for column, sizes, stub in ((self.chars, chars, stub_chars), (self.tokens, tokens, stub_tokens)):
            if self._wanted(column) and here:
                both = zip(kinds, sizes, strict=True)
                extend(column.reasoning, [stub - size if kind == REASONING else 0 for kind, size in both])
            elif self._wanted(column):
                level(column.reasoning, len(kinds))

    def _columns(self) -> Iterable[array[int]]:
        yield from (*self.chars.columns(), *self.tokens.columns())
        yield from (self.all_chars, self.all_tokens, self.uncounted)


def taker(positions: Sequence[int]) -> Callable[[Sequence[int]], Sequence[int]]:
    """Takes the values at some positions out of a column, all at once."""
    if len(positions) > 1:
        return itemgetter(*positions)
    return lambda column: [column[position] for position in positions]


def extend(column: array[int], values: Iterable[int]) -> None:
    """Extend a column of prefix sums by the sums of further values."""
    column.extend(islice(accumulate(values, initial=column[-1]), 1, None))


def level(column: array[int], more: int) -> None:
    """Extend a column of prefix sums by nothing but zeros."""
    column.extend(array("q", [column[-1]]) * more)
