"""The report of a cut, from prefix sums: equal to the one that a draft of the same items draws up."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from contextlab.core.budget import Budget
from contextlab.core.items import Reason
from contextlab.core.projecting.draft import is_over
from contextlab.core.projecting.pair_guard import PairGuard, guard_note
from contextlab.core.replaying.columns import Columns
from contextlab.core.replaying.cuts import Cut
from contextlab.core.replaying.sizes import REASONING, Sent, calibrate
from contextlab.core.replaying.sums import CALL, RESULT, SUMMED_KINDS
from contextlab.core.report import Report
from contextlab.core.timeline import Step

PINS_LOOKED_AT = 64
"""Pins inside a band that are looked at to find its longest stretch; behind more of them it is cut short."""


class Tally:
    """The sums of what stands, built up stretch by stretch and item by item."""

    __slots__ = ("by_kind", "chars", "cleared", "columns", "cut", "entries", "hidden", "items", "loud", "pinned",
                 "quiet", "tools", "trimmed")  # fmt: skip

    def __init__(self, columns: Columns, cut: Cut) -> None:
        """What must stay stands from the start (unless the cut is empty)."""
        self.columns = columns
        self.cut = cut
        totals = columns.totals
        self.cleared = self.trimmed = self.entries = 0
        if cut.empty:
            self.by_kind = [0] * SUMMED_KINDS
            self.chars = self.items = self.pinned = self.tools = self.loud = self.quiet = self.hidden = 0
        else:
            self.by_kind = totals.pinned_by_kind.copy()
            self.chars, self.tools = totals.pinned_chars, totals.pinned_tools
            self.items = self.pinned = len(columns.pins)
            # Of reasoning that stands: items, tokens, calibrated tokens.
            self.loud, self.quiet, self.hidden = totals.pinned_reasoning

    def add_stretch(self, a: int, b: int) -> None:
        """All free items in [a, b)."""
        sums, cut, by_kind = self.columns.sums, self.cut, self.by_kind
        self.chars += sums.chars.between(a, b, cut.clear, cut.trim)
        for code, column in enumerate(sums.by_kind):
            by_kind[code] += column[b] - column[a]
        count = self.columns.free_between(a, b)
        self.items += count
        self.tools += sums.tool_count[b] - sums.tool_count[a]
        replaced, whole = 0, a
        if a < cut.clear:
            stop = min(b, cut.clear)
            replaced = sums.result_count[stop] - sums.result_count[a]
            by_kind[RESULT] += sums.tokens.results[stop] - sums.tokens.results[a]
            self.cleared += replaced
        if a < cut.trim:
            whole = min(b, cut.trim)
            trimmed = sums.reasoning_count[whole] - sums.reasoning_count[a]
            by_kind[REASONING] += sums.tokens.reasoning[whole] - sums.tokens.reasoning[a]
            self.trimmed += trimmed
            replaced += trimmed
        self._add_reasoning(whole, b, 1)
        if b <= cut.prefix:
            self.pinned += count - replaced
        run_of = self.columns.run_of
        self.entries += run_of[b - 1] - run_of[a] + 1

    def add_item(self, index: int, sign: int) -> None:
        """One free item more (1) or less (-1), apart from its entry."""
        sums, kind, cut, stop = self.columns.sums, self.columns.kind(index), self.cut, index + 1
        self.items += sign
        self.tools += sign * (kind in (CALL, RESULT))
        self.chars += sign * sums.chars.between(index, stop, cut.clear, cut.trim)
        self.by_kind[kind] += sign * sums.tokens.between(index, stop, cut.clear, cut.trim)
        if kind == RESULT and index < cut.clear:
            self.cleared += sign
        elif kind == REASONING and index < cut.trim:
            self.trimmed += sign
        elif kind == REASONING:
            self._add_reasoning(index, stop, sign)

    def sent(self) -> Sent:
        """What calibration needs."""
        return Sent(sum(self.by_kind) - self.quiet, self.items - self.loud, self.tools, self.hidden)

    def _add_reasoning(self, a: int, b: int, sign: int) -> None:
        sums = self.columns.sums
        loud = sums.reasoning_count[b] - sums.reasoning_count[a]
        if loud:
            column = sums.by_kind[REASONING]
            self.loud += sign * loud
            self.quiet += sign * (column[b] - column[a])
            self.hidden += sign * (sums.hidden[b] - sums.hidden[a])


def report_cut(columns: Columns, cut: Cut, guard: PairGuard | None, budget: Budget, step: Step) -> Report:
    """The report of a step."""
    tally = Tally(columns, cut)
    for a, b in cut.kept():
        tally.add_stretch(a, b)
    if columns.bound_runs:
        tally.entries += _entries_of_pins(columns, cut)
    notes = cut.notes
    if guard is not None:
        _apply_guard(tally, guard)
        notes.append(guard_note(len(guard.added), len(guard.dropped)))
    report = _fill(tally)
    report.notes = notes
    if cut.limits:
        report.item_limit_applied = Reason.MAX_ITEMS in cut.limits
        report.character_limit_applied = Reason.MAX_CHARS in cut.limits
        report.token_limit_applied = Reason.MAX_TOKENS in cut.limits
    report.over_budget = is_over(budget, report)
    _place_gap(report, columns, cut, guard, step.upto)
    calibrate(report, step, tally.sent())
    return report


def _fill(tally: Tally) -> Report:
    columns, sums, totals = tally.columns, tally.columns.sums, tally.columns.totals
    source, entries = len(columns), len(columns.run_starts)
    replaced = sums.result_count[tally.cut.clear] + sums.reasoning_count[tally.cut.trim]
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
        composition=(*tally.by_kind, 0),
    )


def _entries_of_pins(columns: Columns, cut: Cut) -> int:
    """Entries of which only what must stay stands."""
    if cut.empty:
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
    if not cut.bands and guard is None:
        report.head_end = report.tail_start = 0
        return
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
    added = guard.added if guard is not None else set[int]()
    for first, stop in bands:
        standing, end = _standing_in(columns, cut, first, stop)
        start = first
        for index in (
            sorted([*standing, *(index for index in added if first <= index < end)]) if added else standing
        ):
            yield start, index
            start = index + 1
        yield start, end


def _standing_in(columns: Columns, cut: Cut, first: int, stop: int) -> tuple[list[int], int]:
    """The pins inside a band, and where looking at them ends."""
    if not columns.pins or cut.empty:
        return [], stop
    low, high = bisect_left(columns.pins, first), bisect_left(columns.pins, stop)
    if high - low <= PINS_LOOKED_AT:
        return columns.pins[low:high], stop
    return columns.pins[low : low + PINS_LOOKED_AT], columns.pins[low + PINS_LOOKED_AT]


def _joined(bands: list[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for first, stop in bands:
        if joined and joined[-1][1] == first:
            joined[-1] = (joined[-1][0], stop)
        else:
            joined.append((first, stop))
    return joined
