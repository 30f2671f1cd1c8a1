"""The report of a cut, from prefix sums: equal to the one that a draft of the same items draws up.

Where a cut has many bands most of them are those of the step before: their sums are taken over.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from contextlab.core.budget import Budget
from contextlab.core.items import Reason
from contextlab.core.projecting.draft import is_over
from contextlab.core.projecting.pair_guard import PairGuard, guard_note
from contextlab.core.projectors.type_aware import reasoning_note, results_note
from contextlab.core.replaying.columns import Columns
from contextlab.core.replaying.cut_gap import Gaps
from contextlab.core.replaying.cuts import Cut
from contextlab.core.replaying.sizes import calibrate
from contextlab.core.replaying.sums import CHARS, ITEMS, REASONINGS, RESULTS, SUMMED_KINDS
from contextlab.core.replaying.tally import Dropped, Tally
from contextlab.core.report import Report
from contextlab.core.timeline import Step

FEW = 2
"""Bands at which the guard's work is summed up anew at every step."""
NOTHING: frozenset[int] = frozenset()


class CutReporter:
    """Draws up the reports of one view, cut after cut."""

    def __init__(self, columns: Columns, budget: Budget) -> None:
        """Nothing is known of a step before."""
        self.columns = columns
        self.budget = budget
        self._gaps = Gaps(columns)
        self._sums: list[tuple[tuple[int, int], Tally]] = []
        """Stretches from the first on, each with the sums of all up to it."""
        self._dropped = Dropped(columns)
        self._last = Cut(0)

    def cut_back(self) -> None:
        """The source changed otherwise than by growing."""
        self._sums.clear()
        self._gaps.forget()
        self._dropped.forget()

    def report(self, cut: Cut, guard: PairGuard | None, step: Step) -> Report:
        """The report of a step."""
        columns, known = self.columns, self._known(cut)
        tally = self._stretches(cut, known)
        tally.add_held()
        if columns.bound_runs:
            tally.entries += _entries_of_pins(columns, cut)
        tiers = list(_tier_notes(columns, cut, self.budget)) if cut.clear or cut.trim else []
        notes = [*tiers, *cut.notes]
        if guard is None:
            self._dropped.forget()
        else:
            self._apply_guard(tally, guard, known)
            notes.append(guard_note(len(guard.added), len(guard.dropped)))
        report = _fill(tally, bool(tiers))
        report.notes = notes
        if cut.limits:
            report.item_limit_applied = Reason.MAX_ITEMS in cut.limits
            report.character_limit_applied = Reason.MAX_CHARS in cut.limits
            report.token_limit_applied = Reason.MAX_TOKENS in cut.limits
        report.over_budget = is_over(self.budget, report)
        report.head_end, report.tail_start = self._gaps.longest(cut, guard, step.upto)
        calibrate(report, step, tally.sent(), columns.timeline.calibrations)
        self._last = cut
        return report

    def _known(self, cut: Cut) -> int:
        """The index before which an item that stands, and stood, has the size that it had at the step before."""
        last = self._last
        if last.prefix != cut.prefix:
            return 0
        known = last.size
        if last.clear != cut.clear:
            known = min(known, last.clear, cut.clear)
        return known if last.trim == cut.trim else min(known, last.trim, cut.trim)

    def _stretches(self, cut: Cut, known: int) -> Tally:
        """The sums of all stretches that are kept."""
        stretches = cut.kept()
        last = stretches.pop() if stretches else None
        tally = self._but_the_last(stretches, cut, known)
        if last is not None:
            tally.add_stretch(*last)
        return tally

    def _but_the_last(self, stretches: list[tuple[int, int]], cut: Cut, known: int) -> Tally:
        """The sums of stretches that may be the same at the next step: the last one grows."""
        sums, same = self._sums, 0
        for stretch, (there, _) in zip(stretches, sums, strict=False):
            if stretch != there or stretch[1] > known:
                break
            same += 1
        del sums[same:]
        tally = sums[-1][1].copy() if sums else Tally(self.columns, cut)
        tally.cut = cut
        for stretch in stretches[same:]:
            tally.add_stretch(*stretch)
            sums.append((stretch, tally.copy()))
        return tally

    def _apply_guard(self, tally: Tally, guard: PairGuard, known: int) -> None:
        if len(tally.cut.bands) > FEW and not guard.added:
            tally.add_tally(self._dropped.follow(guard.dropped, tally.cut, known), -1)
            return
        self._dropped.forget()
        _apply_anew(tally, guard)


def _tier_notes(columns: Columns, cut: Cut, budget: Budget) -> Iterator[str]:
    """What the tiers replaced, whether it stands or not."""
    recent = budget.max_recent_tool_results
    if recent is not None and (cleared := columns.sums.count(cut.clear, RESULTS)):
        yield results_note(cleared, recent)
    if cut.trim and (trimmed := columns.sums.count(cut.trim, REASONINGS)):
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


def _apply_anew(tally: Tally, guard: PairGuard) -> None:
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
