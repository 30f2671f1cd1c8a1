"""The rest of a log on top of a memory that was made at one of its steps: what the model would have seen.

| before the step        | nothing is told: those steps are the ones of the view that was left                         |
|------------------------|---------------------------------------------------------------------------------------------|
| at the step            | memory is the one that was made; what stood there and is not in it is left out              |
| behind it              | the log's items follow, under the policy: projected, compacted where no model is needed     |
| the log's compactions  | did not happen, as in every view of a policy                                                |

It is a counterfactual on a fixed transcript: the answers are those that were given to another context.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from contextlab.core.compaction import Snapshot
from contextlab.core.items import Reason, Verdict
from contextlab.core.measuring.memory_size import snapshot_tokens
from contextlab.core.policy import Policy
from contextlab.core.replaying.compacting import Compacting
from contextlab.core.replaying.fires import Fire
from contextlab.core.replaying.sizes import Sizes
from contextlab.core.replaying.stepwise import Texts
from contextlab.core.replaying.tape import Tape
from contextlab.core.replaying.watched import Watch
from contextlab.core.report import Report
from contextlab.core.spans import Painted, SpanWriter
from contextlab.core.timeline import Step

SUMMARISED: Painted = (Verdict.SUMMARISED, Reason.COMPACTED)


@dataclass(slots=True, frozen=True)
class Beginning:
    """A memory that was made before a step, as a replay goes on from it."""

    step: int
    upto: int
    """It had seen the positions below."""
    memory: Snapshot
    """Items of the log have their position as their id; those that something wrote have an id that is no number."""
    name: str
    """What made it, for people."""
    left_out: Mapping[int, Painted] = field(default_factory=dict)
    """What became of positions that are not in it; those that are not named here stand in its summary."""
    tokens_before: int | None = None


class LateWriter(SpanWriter):
    """Paints nothing before a step: what was painted earlier holds from that step on."""

    def __init__(self, first_step: int) -> None:
        """Nothing painted."""
        super().__init__()
        self._first_step = first_step

    def paint(self, first: int, last: int, what: Painted | None, step: int) -> None:
        """As ever, but not before the first step."""
        super().paint(first, last, what, max(step, self._first_step))


class Continued(Compacting):
    """Replays the steps from a beginning on."""

    def __init__(self, sizes: Sizes, policy: Policy, texts: Texts | None, beginning: Beginning) -> None:
        """`texts` is what compaction policies and projectors read."""
        super().__init__(sizes, policy, texts)
        self.writer = LateWriter(beginning.step)
        self.beginning = beginning
        self._watch = Watch(self.fires, self.decisions)

    def run(self) -> Iterator[tuple[Step, Report]]:
        """Each step from the beginning on, with its report."""
        tape = Tape(self.sizes.timeline, self.writer)
        begun = False
        for step, _ in tape.play():
            if step.number < self.beginning.step:
                continue
            notes: list[str] = []
            if begun:
                self._memory.follow(tape)
            else:
                begun, notes = True, [self._begin(tape, step)]
            report = self._report(step, [*notes, *self._compact(step)])
            report.source_faults = tape.faults.listed()
            yield step, report

    def _begin(self, tape: Tape, step: Step) -> str:
        """Take the memory in; returns the note for the report."""
        start = self.beginning
        inside = {int(item.id) for item in start.memory.items if item.id.isdecimal()}
        gone = [place for place in tape.alive if place < start.upto and place not in inside]
        painted = {place: start.left_out.get(place, SUMMARISED) for place in gone}
        self._memory.begin(
            start.memory, {place: what[0] for place, what in painted.items()}, tape.alive, start.upto
        )
        for place, what in painted.items():
            self.writer.paint(place, place, what, step.number)
        summarised = sum(what[0] == Verdict.SUMMARISED for what in painted.values())
        fire = Fire(
            step.number, start.name, made=True, tokens_before=start.tokens_before, summarised=summarised,
            tokens_after=snapshot_tokens(start.memory, self.sizes.count), result=start.memory.last_result,
        )  # fmt: skip
        self.fires.append(fire)
        return f"goes on from the memory of {start.name}: {summarised} item(s) stand in its summary alone"

    def _compact(self, step: Step) -> list[str]:
        if self.policy.compaction is None:
            return []
        if not self.policy.needs_model:
            return super()._compact(step)
        note = self._watch.look(self._memory, step)
        return [note] if note else []
