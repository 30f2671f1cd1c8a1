"""Replay of a policy that compacts: memory is replaced on the way, as a live agent's would have been.

| policy         | what happens where a compaction is due                                                        |
|----------------|-----------------------------------------------------------------------------------------------|
| needs no model | it is made, by the rules of a live session (gain, pauses): the steps behind it see its memory |
| needs a model  | nothing is asked: the first place where it cannot do without is marked (watched.py)           |

It stays a counterfactual on a fixed transcript: the answers are those that were given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from contextlab.core.agent.live import Compaction
from contextlab.core.items import LEFT_OUT, Item, Verdict
from contextlab.core.policy import Policy
from contextlab.core.projection import NONE, Fate, Projection, Source, item_tokens, pair_up
from contextlab.core.replaying.decisions import DecisionLog
from contextlab.core.replaying.fires import Fire, fire_at
from contextlab.core.replaying.memory import Memory
from contextlab.core.replaying.sizes import REASONING, Sent, Sizes, calibrate
from contextlab.core.replaying.stepwise import Texts, painted
from contextlab.core.replaying.sums import CALL, RESULT
from contextlab.core.replaying.tape import Tape
from contextlab.core.report import Report
from contextlab.core.spans import SpanWriter
from contextlab.core.timeline import UNKNOWN, Step


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
        return self.run_from(1)

    def run_from(self, first: int) -> Iterator[tuple[Step, Report]]:
        """Each step from the first one on, with its report; before it nothing was due."""
        tape = Tape(self.sizes.timeline, self.writer)
        for step, _ in tape.play():
            self._memory.follow(tape)
            if step.number < first:
                continue
            notes = self._compact(step)
            report = self._report(step, notes)
            report.source_faults = tape.faults()
            yield step, report

    def source(self) -> Source:
        """What the projector is given: memory, with the summary in its place."""
        items = self._memory.session.memory.prompt_items()
        count = self.sizes.count
        tokens = [self._size(item) for item in items]
        known = self.sizes.timeline.tokens
        uncounted = sum(
            known[int(item.id)] == UNKNOWN if item.id.isdecimal() else count is None for item in items
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
        return self._after(step, self._memory.session.auto.run())

    def _after(self, step: Step, done: Compaction | None) -> list[str]:
        """Note what the automatic path did; returns the notes for the step's report."""
        memory = self._memory
        self.decisions.evaluated(step.number, memory.session.auto, done)
        if done is None:
            return []
        if not done.compacted or done.outcome is None:
            return memory.session.auto.notes(done)
        summarised, shortened = memory.take(done.outcome)
        fire = replace(
            fire_at(step, done.decision),
            made=True,
            tokens_before=done.tokens_before,
            tokens_after=done.tokens_after,
            summarised=summarised,
            shortened=shortened,
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
        self._count_shortened(report, places, seen.fates)
        report.summarised_items += sum(
            verdict == Verdict.SUMMARISED for verdict in self._memory.covered.values()
        )
        _calibrate(report, step, source, seen, self.sizes)
        report.head_end, report.tail_start = _gap(places, seen.fates, step.upto)
        report.notes = [*notes, *report.notes]
        return report

    def _count_shortened(self, report: Report, places: Sequence[int], fates: Sequence[Fate]) -> None:
        """What a compaction shortened and the projector kept is not whole."""
        for place, fate in zip(places, fates, strict=True):
            if place == NONE or (found := self._memory.fate(place, fate)) is fate:
                continue
            report.pinned_items -= fate.verdict == Verdict.PINNED
            report.cleared_items += found.verdict == Verdict.CLEARED
            report.reasoning_cleared_items += found.verdict == Verdict.REASONING_CLEARED
            report.offloaded_items += found.verdict == Verdict.OFFLOADED

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
    calibrate(report, step, sent, sizes.timeline.calibrations)


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
