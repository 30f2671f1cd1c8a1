"""The memory that a policy view projects: the original items alive at each step.

The log's own summaries and what only the person saw (`ui`) are out; compactions and micro-compactions of the log
are ignored. What the log dropped (an abandoned branch, a cleared context, a rolled back turn) leaves the source.
Everything that is out is painted as dropped, with its reason.
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


class Tape:
    """Plays a timeline: after each step of `play`, `alive` holds the positions of the source, in order."""

    def __init__(self, timeline: Timeline, writer: SpanWriter) -> None:
        """Start before the first step."""
        self.timeline = timeline
        self.writer = writer
        self.alive: list[int] = []
        self.faults = FaultList(timeline)
        self._marks = sorted(
            (mark for mark in timeline.marks if moves_source(mark)), key=lambda mark: mark.at_step
        )
        self._next_mark = 0
        self.moved = False
        """Whether the log took something out of the source, or back in, before the last step."""
        self._out: set[int] = set()

    def play(self) -> Iterator[tuple[Step, int]]:
        """Yield each step with the index in `alive` below which nothing changed since the step before."""
        seen = 0
        for step in self.timeline.steps:
            same = len(self.alive)
            self._enter(seen, step.upto, step.number)
            seen = max(seen, step.upto)
            yield step, min(same, self._apply_marks(step.number))

    def ahead(self, step: Step) -> list[int]:
        """The positions behind the step's that enter the source before the log changes it again."""
        marks, steps = self._marks, self.timeline.steps
        stop = len(self.timeline)
        if self._next_mark < len(marks):
            number = marks[self._next_mark].at_step
            stop = steps[number - 1].upto if number <= len(steps) else stop
        kinds = self.timeline.kinds
        return [position for position in range(step.upto, stop) if kinds[position] not in OUTSIDE]

    def _enter(self, first: int, stop: int, step: int) -> None:
        kinds = self.timeline.kinds
        for position in range(first, stop):
            painted = OUTSIDE.get(kinds[position])
            if painted is None:
                self.alive.append(position)
                self.faults.enter(position)
            else:
                self.writer.paint(position, position, painted, step)

    def _apply_marks(self, step: int) -> int:
        same = len(self.alive)
        self.moved = False
        while self._next_mark < len(self._marks) and self._marks[self._next_mark].at_step <= step:
            mark = self._marks[self._next_mark]
            self._next_mark += 1
            self.moved = True
            move = self._drop if mark.verdict == Verdict.DROPPED else self._bring_back
            same = min(same, move(mark, step))
        return same

    def _drop(self, mark: Mark, step: int) -> int:
        """Take items out; returns the index of the first one."""
        stop = bisect_left(self.alive, mark.upto)
        leaving = set(self.alive[:stop] if mark.all_before else self._alive_of(mark.positions, mark.upto))
        if not leaving:
            return len(self.alive)
        self._out |= leaving
        self.faults.leave(leaving)
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
                self.faults.come_back(position)
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
