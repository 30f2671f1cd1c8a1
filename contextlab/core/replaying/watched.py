"""Replay of a policy whose compaction needs a model: nobody is asked.

| the first place where a compaction is due  | what happens                                                           |
|--------------------------------------------|------------------------------------------------------------------------|
| a result is stored for it                  | memory is that one's from there on (resumed.py)                        |
| the policy gets by without a model there   | the compaction is made (resumed.py): previews come before summaries    |
| else                                       | it is marked; later steps are "after an unmade compaction"             |

Behind a mark memory is not known: the steps there are shown as if nothing had been compacted at all, which is what
the plain projection gives, in a time that does not grow with what stands in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from contextlab.core.compaction import Decision
from contextlab.core.policy import Policy
from contextlab.core.replaying.continued import Continued
from contextlab.core.replaying.decisions import MADE, DecisionLog
from contextlab.core.replaying.fires import Fire
from contextlab.core.replaying.gauge import Gauge
from contextlab.core.replaying.memory import Memory
from contextlab.core.replaying.sizes import Sizes
from contextlab.core.replaying.tape import Tape
from contextlab.core.replaying.watch import Watch
from contextlab.core.report import Report
from contextlab.core.spans import Span, SpanWriter, within
from contextlab.core.timeline import Step

GoOn = Callable[[Fire, Step, Sequence[int]], Continued | None]
"""Given a compaction that is due before a step and the positions in memory: the replay that goes on behind it."""


class Watched:
    """Replays the projection of a policy whose compaction needs a model, up to the first place where it is due."""

    def __init__(
        self, sizes: Sizes, policy: Policy, inner: Iterator[tuple[Step, Report]], go_on: GoOn | None = None
    ) -> None:
        """`inner` gives the steps with their reports."""
        self.fires: list[Fire] = []
        self.decisions = DecisionLog()
        self._watch = Watch(self.fires, self.decisions)
        self._inner = inner
        self._timeline = sizes.timeline
        self._gauge = Gauge.of(sizes, policy)
        self._memory = Memory(sizes, policy, None)
        self._go_on = go_on
        self.rest: Continued | None = None
        """What goes on where the compaction was made after all."""
        self.rest_end: int | None = None
        """The first step that is not the rest's any more."""

    def run(self) -> Iterator[tuple[Step, Report]]:
        """Each step with its report."""
        tape = Tape(self._timeline, SpanWriter())
        steps = tape.play()
        for step, report in self._inner:
            known = not self._watch.over
            if known:
                next(steps)
            if note := self._watch.look(partial(self._decide, tape), step):
                report.notes.insert(0, note)
            if known and self._watch.over and (rest := self._resumed(step, tape.present())) is not None:
                yield from self._beside(rest)
                return
            yield step, report

    def _beside(self, rest: Continued) -> Iterator[tuple[Step, Report]]:
        """The steps of the rest up to its own first mark, then the plain ones again."""
        for step, report in rest.run():
            if step.number > rest.first_step:
                next(self._inner)
            yield step, report
            if rest.watch.over:
                self.rest_end = step.number + 1
                break
        for step, report in self._inner:
            report.notes.insert(0, rest.watch.behind(step))
            yield step, report

    def _decide(self, tape: Tape) -> Decision:
        """Whether a compaction is due; memory is looked at only where sizes do not tell."""
        if self._gauge is not None:
            return self._gauge.decide(tape)
        self._memory.follow(tape)
        return self._memory.session.auto.decide()

    def spans(self, plain: list[Span]) -> list[Span]:
        """The plain projection's spans, with those of the rest in their place."""
        if self.rest is None:
            return plain
        first, end = self.rest.first_step, self.rest_end
        found = [*within(plain, 1, first), *within(self.rest.writer.spans(), first, end)]
        found += within(plain, end, None) if end is not None else []
        return sorted(found, key=lambda span: (span.first_step, span.first_item))

    def _resumed(self, step: Step, alive: Sequence[int]) -> Continued | None:
        """What goes on from here; the mark of an unmade compaction is taken back then."""
        fire = self.fires[-1]
        self.rest = None if self._go_on is None else self._go_on(fire, step, alive)
        if self.rest is not None:
            self.fires.pop()
            self.decisions.runs.pop()
            self.decisions.add(step.number, Decision(True, fire.rule, fire.estimate, fire.threshold), MADE)
            self.rest.tell(self.fires, self.decisions)
        return self.rest
