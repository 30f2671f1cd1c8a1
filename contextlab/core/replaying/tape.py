"""The memory that a policy view projects: the original items alive at each step.

The log's own summaries and what only the person saw (`ui`) are out; compactions and micro-compactions of the log
are ignored. What the log dropped (an abandoned branch, a cleared context, a rolled back turn) leaves the source.
Everything that is out is painted as dropped, with its reason.

Between two such changes items only come, so stretches of many steps are read ahead: at each step the source is the
first `size` of the positions in `alive`.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator

from contextlab.core.items import KIND_CODE, Kind, Reason, Verdict
from contextlab.core.replaying.faults import FaultList
from contextlab.core.spans import Painted, SpanWriter
from contextlab.core.timeline import Mark, Step, Timeline

UI_ONLY: Painted = (Verdict.DROPPED, Reason.UI_ONLY)
LOG_SUMMARY: Painted = (Verdict.DROPPED, Reason.LOG_SUMMARY)
OUTSIDE: dict[int, Painted] = {KIND_CODE[Kind.UI]: UI_ONLY, KIND_CODE[Kind.SUMMARY]: LOG_SUMMARY}
"""Kinds that are never in a policy view's source, by code, with what is painted for them."""

AHEAD = 4_096
"""Items read at once: enough to be worth it, few enough for a processor's cache."""


class Tape:
    """Plays a timeline."""

    def __init__(self, timeline: Timeline, writer: SpanWriter) -> None:
        """Start before the first step."""
        self.timeline = timeline
        self.writer = writer
        self.alive: list[int] = []
        """The positions of the source in order, and some that come next: never beyond the log's next change."""
        self.size = 0
        """How many of them stand before the step."""
        self.moved = False
        """Whether the log took something out of the source, or back in, before the last step."""
        self._faults = FaultList(timeline)
        self._faults_of = 0
        """How many of the source the faults take into account."""
        self._marks = sorted(
            (mark for mark in timeline.marks if moves_source(mark)), key=lambda mark: mark.at_step
        )
        self._next_mark = 0
        self._read = 0
        self._out: set[int] = set()

    def play(self) -> Iterator[tuple[Step, int]]:
        """Yield each step with the index in `alive` below which nothing changed since the step before."""
        seen = 0
        for step in self.timeline.steps:
            same = self.size
            if self._read < step.upto:
                self._read_ahead(step.upto)
            self.size = bisect_left(self.alive, step.upto, same)
            if self.size - same < step.upto - seen:
                self._paint_outside(seen, step)
            seen = step.upto
            self.moved = self._mark_is_due(step.number)
            if self.moved:
                same = min(same, self._apply_marks(step.number))
            yield step, same

    def present(self) -> list[int]:
        """The source of the step, by position."""
        return self.alive[: self.size]

    def faults(self) -> list[str]:
        """The faults of the source. The list is shared between reports."""
        if self._faults_of < self.size:
            self._faults.enter_all(self.alive[self._faults_of : self.size])
            self._faults_of = self.size
        return self._faults.listed()

    def _read_ahead(self, upto: int) -> None:
        """Take in the items up to the log's next change, a good many at once."""
        marks, steps = self._marks, self.timeline.steps
        stop = min(len(self.timeline), max(upto, self._read + AHEAD))
        if self._next_mark < len(marks) and marks[self._next_mark].at_step <= len(steps):
            stop = min(stop, steps[marks[self._next_mark].at_step - 1].upto)
        kinds = self.timeline.kinds
        self.alive += [position for position in range(self._read, stop) if kinds[position] not in OUTSIDE]
        self._read = stop

    def _paint_outside(self, first: int, step: Step) -> None:
        kinds = self.timeline.kinds
        for position in range(first, step.upto):
            painted = OUTSIDE.get(kinds[position])
            if painted is not None:
                self.writer.paint(position, position, painted, step.number)

    def _mark_is_due(self, step: int) -> bool:
        return self._next_mark < len(self._marks) and self._marks[self._next_mark].at_step <= step

    def _apply_marks(self, step: int) -> int:
        """Change the source as the log did; returns the index of the first change. Nothing is read ahead here."""
        self.faults()
        same = len(self.alive)
        while self._mark_is_due(step):
            mark = self._marks[self._next_mark]
            self._next_mark += 1
            move = self._drop if mark.verdict == Verdict.DROPPED else self._bring_back
            same = min(same, move(mark, step))
        self.size = self._faults_of = len(self.alive)
        return same

    def _drop(self, mark: Mark, step: int) -> int:
        """Take items out; returns the index of the first one."""
        stop = bisect_left(self.alive, mark.upto)
        leaving = set(self.alive[:stop] if mark.all_before else self._alive_of(mark.positions, mark.upto))
        if not leaving:
            return len(self.alive)
        self._out |= leaving
        self._faults.leave(leaving)
        first = bisect_left(self.alive, min(leaving))
        self.alive[first:] = [position for position in self.alive[first:] if position not in leaving]
        for start, last in ranges(sorted(leaving)):
            self.writer.paint(start, last, (mark.verdict, mark.reason), step)
        return first

    def _bring_back(self, mark: Mark, step: int) -> int:
        first = len(self.alive)
        for position in mark.positions:
            if position in self._out:
                self._out.remove(position)
                first = min(first, bisect_left(self.alive, position))
                insort(self.alive, position)
                self._faults.come_back(position)
                self.writer.paint(position, position, None, step)
        return first

    def _alive_of(self, positions: Iterable[int], upto: int) -> Iterator[int]:
        for position in positions:
            at = bisect_left(self.alive, position)
            if position < upto and at < len(self.alive) and self.alive[at] == position:
                yield position


def moves_source(mark: Mark) -> bool:
    """Whether a mark of the log changes what a policy view projects."""
    return mark.compaction is None and mark.verdict in (Verdict.DROPPED, Verdict.KEPT)


def ranges(positions: list[int]) -> Iterator[tuple[int, int]]:
    """Neighbouring positions as (first, last), in order; `positions` must be sorted."""
    first = 0
    for index in range(1, len(positions) + 1):
        if index == len(positions) or positions[index] != positions[index - 1] + 1:
            yield positions[first], positions[index - 1]
            first = index
