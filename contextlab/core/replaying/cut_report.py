"""The report of a cut, from prefix sums: equal to the one that a draft of the same items draws up."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from operator import add, sub

from contextlab.core.budget import Budget
from contextlab.core.items import Reason
from contextlab.core.projecting.draft import is_over
from contextlab.core.projecting.pair_guard import PairGuard, guard_note
from contextlab.core.projectors.type_aware import reasoning_note, results_note
from contextlab.core.replaying.columns import Columns
from contextlab.core.replaying.cuts import Cut
from contextlab.core.replaying.sizes import REASONING, Sent, calibrate
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
from contextlab.core.report import Report
from contextlab.core.timeline import Step

PINS_LOOKED_AT = 64
"""Pins inside a band that are looked at to find its longest stretch; behind more of them it is cut short."""


class Tally:
    """The sums of what stands, built up stretch by stretch and item by item."""

    __slots__ = ("cleared", "columns", "cut", "entries", "loud", "pinned", "quiet", "row", "trimmed")

    def __init__(self, columns: Columns, cut: Cut) -> None:
        """What must stay stands from the start (unless the cut is empty)."""
        self.columns = columns
        self.cut = cut
        self.cleared = self.trimmed = self.entries = self.pinned = self.loud = self.quiet = 0
        held = columns.held
        if cut.empty or not held.items:
            self.row: list[int] = [0] * WIDTH
            return
        self.pinned = held.items
        # Of reasoning that stands: items, tokens, calibrated tokens.
        self.loud, self.quiet, hidden = held.reasoning
        self.row = [*held.by_kind, held.items, held.chars, 0, 0, held.tools, hidden]

    def add_stretch(self, a: int, b: int) -> None:
        """All free items in [a, b)."""
        more, replaced = self._between(a, b, 1)
        self.row = list(map(add, self.row, more))
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
            stop = min(b, clear)
            replaced = more[RESULTS] if stop == b else sums.row(stop)[RESULTS] - sums.row(a)[RESULTS]
            more[RESULT] += sums.tokens.results[stop] - sums.tokens.results[a]
            more[CHARS] += sums.chars.results[stop] - sums.chars.results[a]
            self.cleared += sign * replaced
        if more[REASONINGS]:
            replaced += self._reasoning(a, b, more, sign)
        return more, replaced

    def _reasoning(self, a: int, b: int, more: list[int], sign: int) -> int:
        """Reasoning before the threshold is a placeholder like others, behind it its size is calibrated."""
        sums, stop = self.columns.sums, max(a, min(b, self.cut.trim))
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


def report_cut(columns: Columns, cut: Cut, guard: PairGuard | None, budget: Budget, step: Step) -> Report:
    """The report of a step."""
    tally = Tally(columns, cut)
    for a, b in cut.kept():
        tally.add_stretch(a, b)
    if columns.bound_runs:
        tally.entries += _entries_of_pins(columns, cut)
    tiers = list(_tier_notes(columns, cut, budget)) if cut.clear or cut.trim else []
    notes = [*tiers, *cut.notes]
    if guard is not None:
        _apply_guard(tally, guard)
        notes.append(guard_note(len(guard.added), len(guard.dropped)))
    report = _fill(tally, bool(tiers))
    report.notes = notes
    if cut.limits:
        report.item_limit_applied = Reason.MAX_ITEMS in cut.limits
        report.character_limit_applied = Reason.MAX_CHARS in cut.limits
        report.token_limit_applied = Reason.MAX_TOKENS in cut.limits
    report.over_budget = is_over(budget, report)
    _place_gap(report, columns, cut, guard, step.upto)
    calibrate(report, step, tally.sent(), columns.timeline.calibrations)
    return report


def _tier_notes(columns: Columns, cut: Cut, budget: Budget) -> Iterator[str]:
    """What the tiers replaced, whether it stands or not."""
    recent = budget.max_recent_tool_results
    if recent is not None and (cleared := columns.sums.row(cut.clear)[RESULTS]):
        yield results_note(cleared, recent)
    if cut.trim and (trimmed := columns.sums.row(cut.trim)[REASONINGS]):
        yield reasoning_note(trimmed)


def _fill(tally: Tally, replaced: bool) -> Report:
    columns, sums, row = tally.columns, tally.columns.sums, tally.row
    source, entries, items = columns.size, columns.runs, row[ITEMS]
    estimated = sums.uncounted[source] > 0 or (replaced and columns.sizes.count is None)
    return Report(
        source_items=source,
        projected_items=items,
        dropped_items=source - items,
        pinned_items=tally.pinned,
        cleared_items=tally.cleared,
        reasoning_cleared_items=tally.trimmed,
        source_entries=entries,
        projected_entries=tally.entries,
        dropped_entries=entries - tally.entries,
        source_chars=sums.all_chars[source],
        projected_chars=row[CHARS],
        source_tokens=sums.all_tokens[source],
        projected_tokens=sum(row[:SUMMED_KINDS]),
        token_source="estimated" if estimated else "counted",
        composition=(*row[:SUMMED_KINDS], 0),
    )


def _entries_of_pins(columns: Columns, cut: Cut) -> int:
    """Entries of which only what must stay stands."""
    if cut.empty:
        return 0
    bound, run_of, count = columns.bound_runs, columns.run_of, columns.bound_count
    return sum(
        bisect_left(bound, run_of[stop - 1] + 1, 0, count) - bisect_left(bound, run_of[first], 0, count)
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
        if len(run) == 1:
            tally.entries += 1 if run.start in guard.added else -1
            continue
        before = any(guard.view.stands(index) for index in run)
        tally.entries += any(guard.stands(index) for index in run) - before


def _place_gap(report: Report, columns: Columns, cut: Cut, guard: PairGuard | None, upto: int) -> None:
    """The longest stretch that is left out, the first of several, in positions; (0, 0) without one."""
    if not cut.bands and guard is None:
        report.head_end = report.tail_start = 0
        return
    if guard is None and len(cut.bands) == 1 and not columns.pins:
        first, stop, _ = cut.bands[0]
        report.head_end = columns.at[first]
        report.tail_start = columns.at[stop] if stop < columns.size else upto
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
