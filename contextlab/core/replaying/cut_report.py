"""The report of a cut, from prefix sums: equal to the one that a draft of the same items draws up."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from contextlab.core.budget import Budget
from contextlab.core.draft import is_over
from contextlab.core.items import Reason
from contextlab.core.pair_guard import PairGuard, guard_note
from contextlab.core.replaying.columns import REASONING, RESULT, SUMMED_KINDS, Columns
from contextlab.core.replaying.cuts import Cut
from contextlab.core.replaying.sizes import calibrate
from contextlab.core.report import Report
from contextlab.core.timeline import Step

PINS_LOOKED_AT = 64
"""Pins inside a band that are looked at to find its longest stretch; behind more of them it is cut short."""


class Tally:
    """The sums of what stands, built up stretch by stretch and item by item."""

    __slots__ = ("by_kind", "chars", "cleared", "columns", "cut", "entries", "hidden", "items", "loud", "pinned",
                 "quiet", "trimmed")  # fmt: skip

    def __init__(self, columns: Columns, cut: Cut) -> None:
        """What must stay stands from the start (unless the cut is empty)."""
        self.columns = columns
        self.cut = cut
        self.by_kind = [0] * SUMMED_KINDS if cut.empty else list(columns.pinned_by_kind)
        self.chars = 0 if cut.empty else columns.totals.pinned_chars
        self.items = self.pinned = 0 if cut.empty else len(columns.pins)
        self.cleared = self.trimmed = self.entries = 0
        self.loud, self.quiet, self.hidden = (0, 0, 0) if cut.empty else columns.pinned_reasoning
        """Of reasoning that stands: items, tokens, calibrated tokens."""

    def add_stretch(self, a: int, b: int) -> None:
        """All free items in [a, b)."""
        columns, clear, trim = self.columns, self.cut.clear, self.cut.trim
        self.chars += columns.chars.between(a, b, clear, trim)
        for code, column in enumerate(columns.by_kind):
            self.by_kind[code] += column[b] - column[a]
        count = columns.free_between(a, b)
        self.items += count
        cleared = trimmed = 0
        if a < clear:
            stop = min(b, clear)
            cleared = columns.result_count[stop] - columns.result_count[a]
            self.by_kind[RESULT] += columns.tokens.results[stop] - columns.tokens.results[a]
        whole = a
        if a < trim:
            whole = min(b, trim)
            trimmed = columns.reasoning_count[whole] - columns.reasoning_count[a]
            self.by_kind[REASONING] += columns.tokens.reasoning[whole] - columns.tokens.reasoning[a]
        self._add_reasoning(whole, b, 1)
        self.cleared += cleared
        self.trimmed += trimmed
        if b <= self.cut.prefix:
            self.pinned += count - cleared - trimmed
        self.entries += columns.run_of[b - 1] - columns.run_of[a] + 1

    def add_item(self, index: int, sign: int) -> None:
        """One free item more (1) or less (-1), apart from its entry."""
        columns, kind = self.columns, self.columns.kind(index)
        cut, stop = self.cut, index + 1
        self.items += sign
        self.chars += sign * columns.chars.between(index, stop, cut.clear, cut.trim)
        self.by_kind[kind] += sign * columns.tokens.between(index, stop, cut.clear, cut.trim)
        if kind == RESULT and index < cut.clear:
            self.cleared += sign
        elif kind == REASONING and index < cut.trim:
            self.trimmed += sign
        elif kind == REASONING:
            self._add_reasoning(index, stop, sign)

    def _add_reasoning(self, a: int, b: int, sign: int) -> None:
        columns = self.columns
        self.loud += sign * (columns.reasoning_count[b] - columns.reasoning_count[a])
        self.quiet += sign * (columns.by_kind[REASONING][b] - columns.by_kind[REASONING][a])
        self.hidden += sign * (columns.hidden[b] - columns.hidden[a])


def report_cut(columns: Columns, cut: Cut, guard: PairGuard | None, budget: Budget, step: Step) -> Report:
    """The report of a step."""
    tally = Tally(columns, cut)
    kept = cut.kept()
    for a, b in kept:
        tally.add_stretch(a, b)
    tally.entries += _entries_of_pins(columns, cut)
    notes = cut.notes
    if guard is not None:
        _apply_guard(tally, guard)
        notes.append(guard_note(len(guard.added), len(guard.dropped)))
    report = _fill(tally, step)
    report.notes = notes
    report.item_limit_applied = Reason.MAX_ITEMS in cut.limits
    report.character_limit_applied = Reason.MAX_CHARS in cut.limits
    report.token_limit_applied = Reason.MAX_TOKENS in cut.limits
    report.over_budget = is_over(budget, report)
    _place_gap(report, columns, cut, guard, step.upto)
    calibrate(report, step, sum(tally.by_kind) - tally.quiet, tally.items - tally.loud, tally.hidden)
    return report


def _fill(tally: Tally, step: Step) -> Report:
    columns, totals, source, entries = (
        tally.columns,
        tally.columns.totals,
        len(tally.columns),
        len(tally.columns.run_starts),
    )
    replaced = columns.result_count[tally.cut.clear] + columns.reasoning_count[tally.cut.trim]
    estimated = totals.uncounted > 0 or (replaced > 0 and columns.sizes.count is None)
    return Report(
        source_items=source,
        projected_items=tally.items,
        dropped_items=source - tally.items,
        pinned_items=tally.pinned,
        cleared_items=tally.cleared,
        reasoning_cleared_items=tally.trimmed,
        source_entries=entries,
        projected_entries=tally.entries,
        dropped_entries=entries - tally.entries,
        source_chars=totals.chars,
        projected_chars=tally.chars,
        source_tokens=totals.tokens,
        projected_tokens=sum(tally.by_kind),
        token_source="estimated" if estimated else "counted",
        reported_input_tokens=step.prompt_tokens,
        composition=(*tally.by_kind, 0),
    )


def _entries_of_pins(columns: Columns, cut: Cut) -> int:
    """Entries of which only what must stay stands."""
    if cut.empty or not columns.bound_runs:
        return 0
    bound, run_of = columns.bound_runs, columns.run_of
    return sum(
        bisect_left(bound, run_of[stop - 1] + 1) - bisect_left(bound, run_of[first])
        for first, stop, _ in cut.bands
    )


def _apply_guard(tally: Tally, guard: PairGuard) -> None:
    columns = tally.columns
    for index in guard.added:
        tally.add_item(index, 1)
    for index in guard.dropped:
        tally.add_item(index, -1)
    for number in {columns.run_of[index] for index in (*guard.added, *guard.dropped)}:
        run = columns.run(number)
        before = any(guard.view.stands(index) for index in run)
        tally.entries += any(guard.stands(index) for index in run) - before


def _place_gap(report: Report, columns: Columns, cut: Cut, guard: PairGuard | None, upto: int) -> None:
    """The longest stretch that is left out, the first of several, in positions; (0, 0) without one."""
    best = (0, 0)
    for a, b in _gaps(columns, cut, guard):
        if b - a > best[1] - best[0]:
            best = (a, b)
    report.head_end = report.tail_start = 0
    if best[1]:
        report.head_end = columns.at[best[0]]
        report.tail_start = columns.at[best[1]] if best[1] < len(columns) else upto


def _gaps(columns: Columns, cut: Cut, guard: PairGuard | None) -> Iterator[tuple[int, int]]:
    """Stretches of which nothing stands, in order."""
    bands = [(first, stop) for first, stop, _ in cut.bands]
    if guard is not None:
        bands = _joined(sorted([*bands, *((index, index + 1) for index in guard.dropped)]))
    elif len(bands) > 1:
        bands = _joined(bands)
    added = guard.added if guard is not None else ()
    for first, stop in bands:
        start = first
        for index in _standing_in(columns, cut, first, stop, added):
            yield start, index
            start = index + 1
        yield start, stop


def _standing_in(columns: Columns, cut: Cut, first: int, stop: int, added: set[int] | tuple[()]) -> list[int]:
    pins: list[int] = []
    if columns.pins and not cut.empty:
        low, high = bisect_left(columns.pins, first), bisect_left(columns.pins, stop)
        pins = (
            columns.pins[low:high]
            if high - low <= PINS_LOOKED_AT
            else columns.pins[low : low + PINS_LOOKED_AT]
        )
        if high - low > PINS_LOOKED_AT:
            return pins
    return sorted([*pins, *(index for index in added if first <= index < stop)]) if added else pins


def _joined(bands: list[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for first, stop in bands:
        if joined and joined[-1][1] == first:
            joined[-1] = (joined[-1][0], stop)
        else:
            joined.append((first, stop))
    return joined
