"""What stands of a source, summed up stretch by stretch from the prefix sums."""

from __future__ import annotations

from operator import add, sub

from contextlab.core.replaying.columns import Columns
from contextlab.core.replaying.cuts import Cut
from contextlab.core.replaying.sizes import REASONING, Sent
from contextlab.core.replaying.sums import (
    CHARS,
    HIDDEN,
    ITEMS,
    REASONINGS,
    RESULT,
    RESULTS,
    SUMMED_KINDS,
    TOOLS,
    WIDTH,
)

NOTHING = [0] * WIDTH
"""The row of a tally to which nothing was added."""


class Tally:
    """The sums of what stands, built up stretch by stretch and item by item."""

    __slots__ = ("cleared", "columns", "cut", "entries", "loud", "pinned", "quiet", "row", "trimmed")

    def __init__(self, columns: Columns, cut: Cut) -> None:
        """Nothing stands yet."""
        self.columns = columns
        self.cut = cut
        # Never changed in place: it may be NOTHING, or shared with a copy.
        self.row = NOTHING
        self.entries = self.pinned = self.cleared = self.trimmed = 0
        # Of reasoning that stands: items, tokens.
        self.loud = self.quiet = 0

    def add_held(self) -> None:
        """What must stay (unless the cut is empty)."""
        held = self.columns.held
        if self.cut.empty or not held.items:
            return
        loud, quiet, hidden = held.reasoning
        more = [*held.by_kind, held.items, held.chars, 0, 0, held.tools, hidden]
        self.row = list(map(add, self.row, more))
        self.pinned += held.items
        self.loud += loud
        self.quiet += quiet

    def add_tally(self, other: Tally, sign: int) -> None:
        """What another one has more (1) or less (-1)."""
        self.row = list(map(add if sign > 0 else sub, self.row, other.row))
        self.entries += sign * other.entries
        self.pinned += sign * other.pinned
        self.cleared += sign * other.cleared
        self.trimmed += sign * other.trimmed
        self.loud += sign * other.loud
        self.quiet += sign * other.quiet

    def copy(self) -> Tally:
        """The same so far; it goes on by itself."""
        other = Tally(self.columns, self.cut)
        other.row = self.row
        other.entries, other.pinned, other.cleared = self.entries, self.pinned, self.cleared
        other.trimmed, other.loud, other.quiet = self.trimmed, self.loud, self.quiet
        return other

    def add_stretch(self, a: int, b: int) -> None:
        """All free items in [a, b)."""
        more, replaced = self._between(a, b, 1)
        self.row = more if self.row is NOTHING else list(map(add, self.row, more))
        if b <= self.cut.prefix:
            self.pinned += more[ITEMS] - replaced
        run_of = self.columns.run_of
        self.entries += run_of[b - 1] - run_of[a] + 1

    def add_item(self, index: int, sign: int) -> None:
        """One free item more (1) or less (-1), apart from its entry."""
        more, _ = self._between(index, index + 1, sign)
        self.row = list(map(add, self.row, more)) if sign > 0 else list(map(sub, self.row, more))

    def sent(self) -> Sent:
        """What calibration needs."""
        row = self.row
        return Sent(sum(row[:SUMMED_KINDS]) - self.quiet, row[ITEMS] - self.loud, row[TOOLS], row[HIDDEN])

    def _between(self, a: int, b: int, sign: int) -> tuple[list[int], int]:
        """The sums over [a, b) as it is sent, and how many placeholders are among it; counts those by sign."""
        sums, clear = self.columns.sums, self.cut.clear
        more, replaced = list(map(sub, sums.row(b), sums.row(a)) if a else sums.row(b)), 0
        if a < clear and more[RESULTS]:
            stop = b if b < clear else clear
            replaced = more[RESULTS] if stop == b else sums.count(stop, RESULTS) - sums.count(a, RESULTS)
            more[RESULT] += sums.tokens.results[stop] - sums.tokens.results[a]
            more[CHARS] += sums.chars.results[stop] - sums.chars.results[a]
            self.cleared += sign * replaced
        if more[REASONINGS]:
            replaced += self._reasoning(a, b, more, sign)
        return more, replaced

    def _reasoning(self, a: int, b: int, more: list[int], sign: int) -> int:
        """Reasoning before the threshold is a placeholder like others, behind it its size is calibrated."""
        sums, stop = self.columns.sums, b if b < self.cut.trim else self.cut.trim
        loud, quiet, trimmed = more[REASONINGS], more[REASONING], 0
        if a < stop:
            before, until = sums.row(a), sums.row(stop)
            trimmed = until[REASONINGS] - before[REASONINGS]
            loud -= trimmed
            quiet -= until[REASONING] - before[REASONING]
            more[HIDDEN] -= until[HIDDEN] - before[HIDDEN]
            more[REASONING] += sums.tokens.reasoning[stop] - sums.tokens.reasoning[a]
            more[CHARS] += sums.chars.reasoning[stop] - sums.chars.reasoning[a]
        self.trimmed += sign * trimmed
        self.loud += sign * loud
        self.quiet += sign * quiet
        return trimmed


class Dropped:
    """The sums of what the guard dropped, from step to step: little of it changes."""

    def __init__(self, columns: Columns) -> None:
        """Nothing is dropped."""
        self.columns = columns
        self._indices: set[int] = set()
        self._in_runs: dict[int, int] = {}
        self._tally: Tally | None = None
        self._open_from = 0

    def forget(self) -> None:
        """Begin anew (mostly nothing is known: this is asked for at every step)."""
        if self._tally is not None:
            self._indices, self._in_runs, self._tally, self._open_from = set(), {}, None, 0

    def follow(self, indices: set[int], cut: Cut, known: int) -> Tally:
        """The sums now. Below index `known` all sizes are those of the step before, if nothing else changed."""
        # The entry that was the last one may have grown.
        if self._tally is None or max(self._indices, default=0) >= min(known, self._open_from):
            self.forget()
            self._tally = Tally(self.columns, cut)
        tally = self._tally
        tally.cut = cut
        for index in self._indices - indices:
            self._move(tally, index, -1)
        for index in indices - self._indices:
            self._move(tally, index, 1)
        self._indices = set(indices)
        self._open_from = self.columns.start_of(self.columns.runs - 1)
        return tally

    def _move(self, tally: Tally, index: int, sign: int) -> None:
        """One more or less of them; an entry of which nothing is left is gone."""
        tally.add_item(index, sign)
        run = self.columns.run_of[index]
        size, before = len(self.columns.run(run)), self._in_runs.get(run, 0)
        self._in_runs[run] = before + sign
        tally.entries += (before + sign == size) - (before == size)
