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
from dataclasses import dataclass, field, replace

from contextlab.core.compaction import Snapshot
from contextlab.core.items import Reason, Verdict
from contextlab.core.measuring.memory_size import snapshot_tokens
from contextlab.core.policy import Policy
from contextlab.core.projection import Fate
from contextlab.core.replaying.compacting import Compacting
from contextlab.core.replaying.decisions import DecisionLog
from contextlab.core.replaying.fires import Fire
from contextlab.core.replaying.sizes import Sizes
from contextlab.core.replaying.stepwise import Texts
from contextlab.core.replaying.tape import Tape
from contextlab.core.replaying.watch import Watch
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
    due: Fire | None = None
    """Of a compaction that was due by the policy's own rule: the figures that decided it."""
    shortened: Mapping[int, Fate] = field(default_factory=dict)
    """Positions of which a shorter text stands in the memory."""


class LateWriter(SpanWriter):
    """Paints nothing before a step: what was painted earlier holds from that step on."""

    def __init__(self, first_step: int) -> None:
        """Nothing painted."""
        super().__init__()
        self._first_step = first_step

    def paint(self, first: int, last: int, what: Painted | None, step: int) -> None:
        """As ever, but not before the first step."""
        super().paint(first, last, what, max(step, self._first_step))


def told_at_beginning(start: Beginning, step: Step, summarised: int, after: int) -> tuple[Fire, str]:
    """The compaction that the memory came from, and the note for the report of the first step."""
    fire = replace(
        start.due or Fire(step.number, start.name), made=True, reason="", summarised=summarised,
        shortened=len(start.shortened), tokens_before=start.tokens_before, tokens_after=after,
        result=start.memory.last_result,
    )  # fmt: skip
    if start.due is not None:
        return fire, f"{fire.note}, by {start.name}" if start.name else fire.note
    return fire, f"goes on from the memory of {start.name}: {summarised} item(s) stand in its summary alone"


class Continued(Compacting):
    """Replays the steps from a beginning on."""

    def __init__(self, sizes: Sizes, policy: Policy, texts: Texts | None, beginning: Beginning) -> None:
        """`texts` is what compaction policies and projectors read."""
        super().__init__(sizes, policy, texts)
        self.writer = LateWriter(beginning.step)
        self.beginning = beginning
        self.watch = Watch(self.fires, self.decisions)

    @property
    def first_step(self) -> int:
        """The first step that is told."""
        return self.beginning.step

    def tell(self, fires: list[Fire], decisions: DecisionLog) -> None:
        """Go on with these, in the place of its own."""
        self.fires, self.decisions = fires, decisions
        self.watch = Watch(fires, decisions)

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
            if not notes or self.beginning.due is None:
                notes += self._compact(step)
            report = self._report(step, notes)
            report.source_faults = tape.faults()
            yield step, report

    def _begin(self, tape: Tape, step: Step) -> str:
        """Take the memory in; returns the note for the report."""
        start = self.beginning
        alive = tape.present()
        inside = {int(item.id) for item in start.memory.items if item.id.isdecimal()}
        gone = [place for place in alive if place < start.upto and place not in inside]
        painted = {place: start.left_out.get(place, SUMMARISED) for place in gone}
        self._memory.begin(
            start.memory, {place: what[0] for place, what in painted.items()}, alive, start.upto
        )
        self._memory.shortened.update(start.shortened)
        for place, what in painted.items():
            self.writer.paint(place, place, what, step.number)
        summarised = sum(what[0] == Verdict.SUMMARISED for what in painted.values())
        fire, note = told_at_beginning(
            start, step, summarised, snapshot_tokens(start.memory, self.sizes.count)
        )
        self.fires.append(fire)
        return note

    def _compact(self, step: Step) -> list[str]:
        if self.policy.compaction is None:
            return []
        if not self.policy.needs_model:
            return super()._compact(step)
        if self.watch.over or self._memory.texts is None:
            note = self.watch.look(self._memory.session.auto.decide, step)
            return [note] if note else []
        return self._tried(step)

    def _tried(self, step: Step) -> list[str]:
        """Compact as far as it goes without a model; where one was asked memory is as it was."""
        session = self._memory.session
        before = session.snapshot()
        done = session.auto.run()
        if self._memory.model.asked:
            session.restore(before)
            return [self.watch.unmade(step, session.auto.decided)]
        return self._after(step, done)
