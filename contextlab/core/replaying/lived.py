"""The steps of a live session: at each the memory that was in force there, and what had come behind its cut.

| steps                      | what the model got                                                                     |
|----------------------------|----------------------------------------------------------------------------------------|
| before the first version   | the items as they came, as the policy's projector shows them (the fast way of replay)  |
| from a version's step on   | that memory, with what the session got behind its cut, as the projector shows it       |
| compactions                | those that were made (a version each); none is made or thought of here                 |

A version stands for all before its cut until the next one comes into force: one pass over the session for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from contextlab.core.policy import Policy
from contextlab.core.projection import TokenCount
from contextlab.core.replayer import Replayer
from contextlab.core.replaying.continued import Beginning, Continued
from contextlab.core.replaying.decisions import DecisionRun
from contextlab.core.replaying.fires import Fire
from contextlab.core.replaying.results import StepResult
from contextlab.core.replaying.sizes import Sizes
from contextlab.core.replaying.stepwise import Texts
from contextlab.core.replaying.tape import Tape
from contextlab.core.report import Report
from contextlab.core.spans import Span, within
from contextlab.core.timeline import Step, Timeline


class Lived(Continued):
    """The steps from the first version on."""

    def __init__(
        self, sizes: Sizes, policy: Policy, texts: Texts | None, memories: Sequence[Beginning]
    ) -> None:
        """`memories` in the order of their steps; of two for one step the later one counts."""
        super().__init__(sizes, policy, texts, memories[0])
        self._coming = list(memories)
        self._first = memories[0].step

    @property
    def first_step(self) -> int:
        """The first step that is told."""
        return self._first

    def run(self) -> Iterator[tuple[Step, Report]]:
        """Each step from the first version on, with its report."""
        tape = Tape(self.sizes.timeline, self.writer)
        for step, _ in tape.play():
            if step.number < self._first:
                continue
            notes = self._remember(tape, step)
            report = self._report(step, notes)
            report.source_faults = tape.faults()
            yield step, report

    def _remember(self, tape: Tape, step: Step) -> list[str]:
        """Bring memory to where it stood before the step; returns the notes for its report."""
        due: Beginning | None = None
        while self._coming and self._coming[0].step <= step.number:
            due = self._coming.pop(0)
        if due is None:
            self._memory.follow(tape)
            return []
        self.beginning = due
        self._memory.shortened.clear()
        note = self._begin(tape, step)
        self._memory.leave(tape.present())
        return [note]


class LiveReplayer:
    """Replays a live session; asked as a Replayer is."""

    def __init__(
        self,
        timeline: Timeline,
        policy: Policy,
        memories: Sequence[Beginning],
        *,
        count: TokenCount | None = None,
        texts: Texts | None = None,
    ) -> None:
        """`memories` are the versions that came into force, in order."""
        self._plain = Replayer(timeline, policy.projector, count=count, texts=texts)
        self._rest = Lived(Sizes(timeline, count), policy, texts, memories) if memories else None

    def run(self) -> Iterator[StepResult]:
        """The steps in order; to be used once."""
        rest = self._rest
        for result in self._plain.run():
            if rest is not None and result.step.number >= rest.first_step:
                break
            yield result
        if rest is not None:
            for step, report in rest.run():
                yield StepResult(step, report)

    @property
    def fires(self) -> list[Fire]:
        """The compactions among the versions, each at the first step that had it."""
        return self._rest.fires if self._rest is not None else []

    @property
    def decisions(self) -> list[DecisionRun]:
        """None: they were made when the session went, and are stored."""
        return []

    def spans(self) -> list[Span]:
        """The spans of the steps run so far, in the order of their first step and item."""
        plain, rest = self._plain.spans(), self._rest
        if rest is None:
            return plain
        found = [*within(plain, 1, rest.first_step), *rest.writer.spans()]
        return sorted(found, key=lambda span: (span.first_step, span.first_item))
