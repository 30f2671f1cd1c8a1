"""The fast path of a log on top of a memory: where nothing limits what the model sees, every step is cuts (swift.py).

| what                    | how                                                                                      |
|-------------------------|------------------------------------------------------------------------------------------|
| what the memory has not | leaves the source by a mark at the step, as if the log had taken it out                  |
| the summary             | stands beside the source: its size is added to what each step is told                    |
| for whom                | no compaction, a projector without limits of size or number, a memory of the log's items |
|                         | alone, and a log that takes nothing out behind the step; all else goes the slow way      |

Equal to continued.py on every session (a property test), but that the calibrated figure may round otherwise, that an
entry between whose items the slow way puts the summary stays one, and that faults of what left memory are not told.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace

from contextlab.core.budget import Budget
from contextlab.core.items import KIND_CODE, Kind, Verdict
from contextlab.core.measuring.memory_size import snapshot_tokens, text_tokens
from contextlab.core.policy import Policy
from contextlab.core.projection import Budgeted
from contextlab.core.replaying.continued import SUMMARISED, Beginning, told_at_beginning
from contextlab.core.replaying.decisions import DecisionLog
from contextlab.core.replaying.fires import Fire
from contextlab.core.replaying.sizes import Sizes
from contextlab.core.replaying.swift import Swift
from contextlab.core.replaying.tape import OUTSIDE, Tape, moves_source
from contextlab.core.report import Report
from contextlab.core.spans import Painted, Span, SpanWriter
from contextlab.core.timeline import Mark, Step, Timeline

SUMMARY = KIND_CODE[Kind.SUMMARY]


def fast(sizes: Sizes, policy: Policy, start: Beginning) -> OnTop | None:
    """The replay, where it can go this way."""
    budget = _budget(sizes.timeline, policy, start)
    if budget is None:
        return None
    inside = {int(item.id) for item in start.memory.items}
    alive = _alive(sizes.timeline, start.step)
    if not inside.issubset(alive):
        return None
    gone = {
        place: start.left_out.get(place, SUMMARISED)
        for place in alive
        if place < start.upto and place not in inside
    }
    told = all(
        what == SUMMARISED or (what[0] == Verdict.DROPPED and what[1] not in _UNTOLD)
        for what in gone.values()
    )
    return OnTop(sizes, budget, start, inside, gone) if told else None


_UNTOLD = (None, SUMMARISED[1])
"""Reasons that a mark cannot carry, or that mean a summary here."""


def _budget(timeline: Timeline, policy: Policy, start: Beginning) -> Budget | None:
    """The budget of a policy that can go this way; None where it cannot."""
    projector = policy.projector
    if policy.compaction is not None or not isinstance(projector, Budgeted) or start.shortened or start.due:
        return None
    budget = projector.as_budget()
    limits = (budget.max_items, budget.max_approx_chars, budget.max_tokens)
    if (
        limits != (None, None, None)
        or budget.pinned_prefix_items
        or budget.drop_unanswered_calls
        or not budget.safe
    ):
        return None
    if any(mark.at_step > start.step and moves_source(mark) for mark in timeline.marks):
        return None
    plain = all(
        item.id.isdecimal() and _stands(timeline, int(item.id), item.chars) for item in start.memory.items
    )
    return budget if plain else None


def _alive(timeline: Timeline, number: int) -> list[int]:
    """The positions in the source at a step; none where the log does not have it yet."""
    tape = Tape(timeline, SpanWriter())
    return next((list(tape.present()) for step, _ in tape.play() if step.number == number), [])


def _stands(timeline: Timeline, place: int, chars: int) -> bool:
    """Whether an item of the memory is in the source, as it is there."""
    return timeline.kinds[place] not in OUTSIDE and timeline.chars[place] == chars


class OnTop:
    """Replays the steps from a beginning on."""

    def __init__(
        self, sizes: Sizes, budget: Budget, start: Beginning, inside: set[int], gone: dict[int, Painted]
    ) -> None:
        """`inside` are the positions of the memory, `gone` what became of the others of the source at the step."""
        self.fires: list[Fire] = []
        self.decisions = DecisionLog()
        self.writer = self
        self._start = start
        self._sizes = copy.copy(sizes)
        self._inside, self._gone = inside, gone
        self._sizes.timeline = replace(
            sizes.timeline, marks=[*sizes.timeline.marks, *_marks(start, self._gone)]
        )
        self._swift = Swift(self._sizes, budget)
        text = start.memory.summary or ""
        self._chars = len(text) if text.strip() else 0
        self._tokens = text_tokens(text, sizes.count) if self._chars else 0

    def run(self) -> Iterator[tuple[Step, Report]]:
        """Each step from the beginning on, with its report."""
        start = self._start
        summarised = sum(what[0] == Verdict.SUMMARISED for what in self._gone.values())
        gap = _gap(self._inside, start.upto)
        for step, report in self._swift.run():
            if step.number < start.step:
                continue
            if not self.fires:
                after = snapshot_tokens(start.memory, self._sizes.count)
                fire, note = told_at_beginning(start, step, summarised, after)
                self.fires.append(fire)
                report.notes.insert(0, note)
            report.summarised_items += summarised
            report.head_end, report.tail_start = gap
            if self._chars:
                self._add_summary(report, step)
            yield step, report

    def spans(self) -> list[Span]:
        """The spans from the step on."""
        first = self._start.step
        found = [
            one._replace(first_step=max(one.first_step, first))
            for one in self._swift.writer.spans()
            if one.end_step is None or one.end_step > first
        ]
        named = [
            one._replace(verdict=SUMMARISED[0])
            if (one.verdict, one.reason) == (Verdict.DROPPED, SUMMARISED[1])
            else one
            for one in found
        ]
        return sorted(named, key=lambda one: (one.first_step, one.first_item))

    def _add_summary(self, report: Report, step: Step) -> None:
        report.projected_items += 1
        report.projected_entries += 1
        report.projected_chars += self._chars
        report.projected_tokens = (report.projected_tokens or 0) + self._tokens
        sizes = list(report.composition)
        sizes[SUMMARY] += self._tokens
        report.composition = tuple(sizes)
        calibration = self._sizes.timeline.calibrations.of(step.model).calibration
        report.calibrated_tokens = (report.calibrated_tokens or 0) + calibration.apply(self._tokens, 1)
        report.blocks = (report.blocks or 0) + 1
        if self._sizes.count is None:
            report.token_source = "estimated"  # noqa: S105  no password


def _marks(start: Beginning, gone: dict[int, Painted]) -> Iterator[Mark]:
    """Marks that take what the memory has not out of the source."""
    by_reason: dict[Painted, list[int]] = {}
    for place, what in gone.items():
        by_reason.setdefault(what, []).append(place)
    for (_, reason), places in by_reason.items():
        if reason is not None:  # `fast` has seen to it
            yield Mark(start.step, start.upto, Verdict.DROPPED, reason, tuple(places))


def _gap(inside: set[int], upto: int) -> tuple[int, int]:
    """The longest run of positions below `upto` that are not in the memory, the first of several."""
    best, first = (0, 0), 0
    for place in (*sorted(inside), upto):
        if place - first > best[1] - best[0]:
            best = (first, place)
        first = place + 1
    return best
