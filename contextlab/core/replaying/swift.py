"""The fast path of replay: the built-in projectors as cuts over prefix sums.

A step costs what changed since the one before: new items, the way the tail's start moved, thresholds passed. A
million items are projected at every step in seconds. Equal to stepwise.py on every session (a property test).
"""

from __future__ import annotations

from collections.abc import Iterator

from contextlab.core.budget import Budget
from contextlab.core.projecting.pair_guard import PairGuard
from contextlab.core.replaying.columns import Columns
from contextlab.core.replaying.cut_guard import CutGuard
from contextlab.core.replaying.cut_painter import CutPainter
from contextlab.core.replaying.cut_report import CutReporter
from contextlab.core.replaying.cuts import Cut, Cutter
from contextlab.core.replaying.sizes import Sizes
from contextlab.core.replaying.tape import Tape
from contextlab.core.report import Report
from contextlab.core.spans import SpanWriter
from contextlab.core.timeline import Step


class Swift:
    """Cuts the memory of each step."""

    def __init__(self, sizes: Sizes, budget: Budget) -> None:
        """`budget` says all that the projector does."""
        self.sizes = sizes
        self.budget = budget
        self.writer = SpanWriter()
        self._columns = Columns(sizes, budget)
        self._painter = CutPainter(self._columns, self.writer)
        self._reporter = CutReporter(self._columns, budget)
        self.tape = Tape(sizes.timeline, self.writer)

    def run(self) -> Iterator[tuple[Step, Report]]:
        """Each step with its report."""
        self._columns.sums.reports = True
        for step, cut, guard in self.cuts():
            report = self._reporter.report(cut, guard, step)
            report.source_faults = self.tape.faults()
            self._painter.paint(cut, guard, step.number)
            yield step, report

    def cuts(self) -> Iterator[tuple[Step, Cut, PairGuard | None]]:
        """What each step sees: the cut and the guard's repairs, without a report and without spans."""
        columns, tape = self._columns, self.tape
        cutter, guard = Cutter(columns, self.budget), CutGuard(columns, self.budget)
        for step, same in tape.play():
            if same < columns.size:
                self._painter.cut_back(same)
            if tape.moved:
                cutter.islands.cut_back(same)
                guard.cut_back()
                self._reporter.cut_back()
            if tape.moved or len(columns.at) < len(tape.alive):
                columns.renew(same, tape.alive)
            columns.advance(tape.size)
            cut = cutter.cut()
            yield step, cut, guard.guard(cut)
