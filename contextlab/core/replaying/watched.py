"""Replay of a policy whose compaction needs a model: nobody is asked, the first place where it is due is marked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from contextlab.core.policy import Policy
from contextlab.core.replaying.decisions import FAILED, NEEDS_MODEL, NOT_DUE, UNKNOWN, DecisionLog
from contextlab.core.replaying.fires import Fire, fire_at
from contextlab.core.replaying.memory import Memory
from contextlab.core.replaying.sizes import Sizes
from contextlab.core.replaying.tape import Tape
from contextlab.core.report import Report
from contextlab.core.spans import SpanWriter
from contextlab.core.timeline import Step


class Watch:
    """Decides before each step, up to the first place where a compaction would have been due."""

    def __init__(self, fires: list[Fire], decisions: DecisionLog) -> None:
        """Both are added to."""
        self.fires = fires
        self.decisions = decisions
        self.over = False
        """Whether memory is not known any more."""

    def look(self, memory: Memory, step: Step) -> str:
        """The note for the step's report; empty where nothing was due."""
        if self.over:
            self.decisions.add(step.number, None, UNKNOWN)
            return f"after an unmade compaction (step {self.fires[-1].step:,})"
        try:
            decision = memory.session.auto.decide()
        except Exception as error:  # a trigger may be a stranger's
            self.decisions.add(step.number, None, FAILED, str(error))
            return ""
        self.decisions.add(step.number, decision, NEEDS_MODEL if decision.due else NOT_DUE)
        if not decision.due:
            return ""
        fire = replace(fire_at(step, decision), reason=NEEDS_MODEL)
        self.fires.append(fire)
        self.over = True
        return fire.note


class Watched:
    """Replays the projection of a policy whose compaction needs a model, and marks where it would have been due."""

    def __init__(self, sizes: Sizes, policy: Policy, inner: Iterator[tuple[Step, Report]]) -> None:
        """`inner` gives the steps with their reports."""
        self.fires: list[Fire] = []
        self.decisions = DecisionLog()
        self._watch = Watch(self.fires, self.decisions)
        self._inner = inner
        self._timeline = sizes.timeline
        self._memory = Memory(sizes, policy, None)

    def run(self) -> Iterator[tuple[Step, Report]]:
        """Each step with its report."""
        tape = Tape(self._timeline, SpanWriter())
        steps = tape.play()
        for step, report in self._inner:
            if not self._watch.over:
                next(steps)
                self._memory.follow(tape)
            if note := self._watch.look(self._memory, step):
                report.notes.insert(0, note)
            yield step, report
