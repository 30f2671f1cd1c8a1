"""Replay of a policy that compacts: memory is replaced on the way, as a live agent's would have been.

| policy         | what happens where a compaction is due                                                        |
|----------------|-----------------------------------------------------------------------------------------------|
| needs no model | it is made, by the rules of a live session (gain, pauses): the steps behind it see its memory |
| needs a model  | nothing is asked: the first place is marked, later steps are "after an unmade compaction"     |

It stays a counterfactual on a fixed transcript: the answers are those that were given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from contextlab.core.agent.live import Compaction
from contextlab.core.compaction import Deps, Outcome, Snapshot
from contextlab.core.items import IN_CONTEXT, LEFT_OUT, Item, Verdict
from contextlab.core.memory import AgentMemory
from contextlab.core.offload import InMemoryOffloadStore
from contextlab.core.policy import Policy
from contextlab.core.projection import NONE, Fate, Projection, Source, item_tokens, pair_up
from contextlab.core.replaying.decisions import FAILED, NOT_DUE, UNKNOWN, DecisionLog
from contextlab.core.replaying.fires import NEEDS_MODEL, Fire, fire_at
from contextlab.core.replaying.sizes import REASONING, Sent, Sizes, calibrate
from contextlab.core.replaying.stepwise import Texts, item_of, painted
from contextlab.core.replaying.sums import CALL, RESULT
from contextlab.core.replaying.tape import Tape
from contextlab.core.report import Report
from contextlab.core.session import AgentSession
from contextlab.core.spans import SpanWriter
from contextlab.core.timeline import UNKNOWN as UNCOUNTED
from contextlab.core.timeline import Step


class Memory:
    """The memory of a replay: what the tape brought in, without what compactions took out."""

    def __init__(self, sizes: Sizes, policy: Policy, texts: Texts | None) -> None:
        """Empty. `texts` is what compaction policies read."""
        self.sizes = sizes
        self.texts = texts
        self.covered: dict[int, Verdict] = {}
        """Positions that a compaction took out, with what became of them."""
        self.shortened: dict[int, Fate] = {}
        deps = Deps(count=sizes.count, offloads=InMemoryOffloadStore(), new_id=_Ids())
        self.session = AgentSession(
            policy=policy.compaction,
            trigger=policy.trigger,
            deps=deps,
            memory=AgentMemory(mode=policy.mode),
            mode=policy.mode,
            require_gain=policy.require_gain,
        )
        self._entered = 0

    @property
    def items(self) -> Sequence[Item]:
        """The items without the summary."""
        return self.session.memory.items

    def follow(self, tape: Tape) -> None:
        """Take in what the tape brought; where the log took something out or back in, that too."""
        if tape.moved:
            self._rebuild(tape.alive)
        else:
            self.session.memory.add(*map(self.item, tape.alive[self._entered :]))
        self._entered = len(tape.alive)

    def item(self, position: int) -> Item:
        """An item with its size, whether counted or estimated."""
        return replace(item_of(self.sizes.timeline, position, self.texts), tokens=self.sizes.tokens[position])

    def take(self, outcome: Outcome) -> int:
        """Note what a compaction did; returns how many items it summarised."""
        summarised = 0
        for name, fate in outcome.fates.items():
            if not name.isdecimal():
                continue
            if fate.verdict in LEFT_OUT:
                self.covered[int(name)] = fate.verdict
                summarised += fate.verdict == Verdict.SUMMARISED
            elif fate.verdict in IN_CONTEXT and fate.verdict not in (Verdict.KEPT, Verdict.PINNED):
                self.shortened[int(name)] = fate
        return summarised

    def fate(self, position: int, fate: Fate) -> Fate:
        """An item's fate after projection: what a compaction shortened is not simply kept."""
        kept = fate.verdict in (Verdict.KEPT, Verdict.PINNED)
        return self.shortened.get(position, fate) if kept else fate

    def _rebuild(self, alive: Sequence[int]) -> None:
        """Memory after a rewind or a cleared context: a summary goes with the last item that it stands for."""
        memory = self.session.memory.snapshot()
        here = set(alive)
        self.covered = {place: verdict for place, verdict in self.covered.items() if place in here}
        kept = {item.id: item for item in memory.items}
        made = [item for item in memory.items if not item.id.isdecimal()]
        log = [kept.get(str(place)) or self.item(place) for place in alive if place not in self.covered]
        if not self.covered:
            memory, made = Snapshot(), []
        self.session.restore(replace(memory, items=(*made, *log)))


class _Ids:
    """Ids for what a compaction makes: the same replay gives the same ones."""

    def __init__(self) -> None:
        self._made = 0

    def __call__(self, what: str) -> str:
        self._made += 1
        return f"{what}-{self._made}"


class Compacting:
    """Replays a policy that compacts without a model."""

    def __init__(self, sizes: Sizes, policy: Policy, texts: Texts | None = None) -> None:
        """`texts` is what the policy writes summaries from."""
        self.sizes = sizes
        self.policy = policy
        self.writer = SpanWriter()
        self.fires: list[Fire] = []
        self.decisions = DecisionLog()
        self._memory = Memory(sizes, policy, texts)
        self._sizes_of_made: dict[str, int] = {}

    def run(self) -> Iterator[tuple[Step, Report]]:
        """Each step with its report."""
        tape = Tape(self.sizes.timeline, self.writer)
        for step, _ in tape.play():
            self._memory.follow(tape)
            notes = self._compact(step)
            report = self._report(step, notes)
            report.source_faults = tape.faults.listed()
            yield step, report

    def source(self) -> Source:
        """What the projector is given: memory, with the summary in its place."""
        items = self._memory.session.memory.prompt_items()
        count = self.sizes.count
        tokens = [self._size(item) for item in items]
        known = self.sizes.timeline.tokens
        uncounted = sum(
            known[int(item.id)] == UNCOUNTED if item.id.isdecimal() else count is None for item in items
        )
        return Source(items, pair_up(items), tokens, uncounted, count)

    def _size(self, item: Item) -> int:
        """Tokens of an item; what a compaction made is counted once."""
        if item.tokens is not None:
            return item.tokens
        if item.text not in self._sizes_of_made:
            self._sizes_of_made = {item.text: item_tokens(item, self.sizes.count)}
        return self._sizes_of_made[item.text]

    def _compact(self, step: Step) -> list[str]:
        memory = self._memory
        done = memory.session.auto.run()
        self.decisions.evaluated(step.number, memory.session.auto, done)
        if done is None:
            return []
        if not done.compacted or done.outcome is None:
            return memory.session.auto.notes(done)
        fire = replace(
            fire_at(step, done.decision),
            made=True,
            tokens_before=done.tokens_before,
            tokens_after=done.tokens_after,
            summarised=memory.take(done.outcome),
            result=done.outcome.result,
        )
        self.fires.append(fire)
        self._paint_covered(done, step.number)
        return [fire.note]

    def _paint_covered(self, done: Compaction, step: int) -> None:
        assert done.outcome is not None
        for name, fate in done.outcome.fates.items():
            if name.isdecimal() and fate.verdict in LEFT_OUT:
                self.writer.paint(int(name), int(name), painted(fate), step)

    def _report(self, step: Step, notes: list[str]) -> Report:
        source = self.source()
        seen = self.policy.projector.project(source)
        places = [int(item.id) if item.id.isdecimal() else NONE for item in source.items]
        self._paint(places, seen.fates, step.number)
        report = seen.report
        _take_out_made(source, places, seen)
        report.summarised_items += sum(
            verdict == Verdict.SUMMARISED for verdict in self._memory.covered.values()
        )
        _calibrate(report, step, source, seen, self.sizes)
        report.head_end, report.tail_start = _gap(places, seen.fates, step.upto)
        report.notes = [*notes, *report.notes]
        return report

    def _paint(self, places: Sequence[int], fates: Sequence[Fate], step: int) -> None:
        """Paint what became of each item, neighbours with one fate in one go."""
        shown = [
            (place, painted(self._memory.fate(place, fate)))
            for place, fate in zip(places, fates, strict=True)
            if place != NONE
        ]
        start = 0
        for at in range(1, len(shown) + 1):
            if at < len(shown) and shown[at][0] == shown[at - 1][0] + 1 and shown[at][1] == shown[start][1]:
                continue
            self.writer.paint(shown[start][0], shown[at - 1][0], shown[start][1], step)
            start = at


def _take_out_made(source: Source, places: Sequence[int], seen: Projection) -> None:
    """What a compaction made is projected, but no item of the source, and no pin of the person."""
    made = [index for index, place in enumerate(places) if place == NONE]
    report = seen.report
    report.source_items -= len(made)
    report.source_entries -= len({source.items[index].entry for index in made})
    report.source_chars -= sum(source.items[index].chars for index in made)
    report.source_tokens = (report.source_tokens or 0) - sum(source.tokens[index] for index in made)
    report.pinned_items -= sum(seen.fates[index].verdict == Verdict.PINNED for index in made)


class Watched:
    """Replays the projection of a policy whose compaction needs a model, and marks where it would have been due."""

    def __init__(self, sizes: Sizes, policy: Policy, inner: Iterator[tuple[Step, Report]]) -> None:
        """`inner` gives the steps with their reports."""
        self.fires: list[Fire] = []
        self.decisions = DecisionLog()
        self._inner = inner
        self._timeline = sizes.timeline
        self._memory: Memory | None = Memory(sizes, policy, None)

    def run(self) -> Iterator[tuple[Step, Report]]:
        """Each step with its report."""
        tape = Tape(self._timeline, SpanWriter())
        steps = tape.play()
        for step, report in self._inner:
            if self._memory is not None:
                next(steps)
                self._watch(self._memory, tape, step, report)
            elif self.fires:
                self.decisions.add(step.number, None, UNKNOWN)
                report.notes.insert(0, f"after an unmade compaction (step {self.fires[0].step:,})")
            yield step, report

    def _watch(self, memory: Memory, tape: Tape, step: Step, report: Report) -> None:
        memory.follow(tape)
        try:
            decision = memory.session.auto.decide()
        except Exception as error:  # a trigger may be a stranger's
            self.decisions.add(step.number, None, FAILED, str(error))
            return
        self.decisions.add(step.number, decision, NEEDS_MODEL if decision.due else NOT_DUE)
        if decision.due:
            fire = replace(fire_at(step, decision), reason=NEEDS_MODEL)
            self.fires.append(fire)
            report.notes.insert(0, fire.note)
            self._memory = None  # what would follow is not known


def _calibrate(report: Report, step: Step, source: Source, seen: Projection, sizes: Sizes) -> None:
    sent = Sent()
    kinds, quiet = sizes.timeline.kinds, 0
    for item, tokens, fate in zip(source.items, source.tokens, seen.fates, strict=True):
        if fate.verdict in LEFT_OUT:
            continue
        place = int(item.id) if item.id.isdecimal() else NONE
        if place != NONE and kinds[place] == REASONING and fate.verdict in (Verdict.KEPT, Verdict.PINNED):
            sent.hidden += sizes.hidden[place]
            quiet += tokens
        else:
            sent.blocks += 1
            sent.tool_blocks += place != NONE and kinds[place] in (CALL, RESULT)
    sent.visible = (report.projected_tokens or 0) - quiet
    calibrate(report, step, sent)


def _gap(places: Sequence[int], fates: Sequence[Fate], upto: int) -> tuple[int, int]:
    """The longest run of positions of which nothing is sent, the first of several; (0, 0) without one."""
    sent = sorted(
        place
        for place, fate in zip(places, fates, strict=True)
        if place != NONE and fate.verdict not in LEFT_OUT
    )
    best, start = (0, 0), 0
    for place in (*sent, upto):
        if place - start > best[1] - best[0]:
            best = (start, place)
        start = place + 1
    return best
