"""The recorded view: a session as its own log says it went.

Compactions fold what stood before them into a summary, micro-compactions clear results, rewinds and `/clear` drop;
the agent's own offloads are offloaded; reasoning of earlier turns is stripped by providers whose models do not
keep it. Nothing is ever inferred about an item: where the provider's figures fall without an event that explains
it, the step carries a finding and no item a verdict.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator

from contextlab.core.items import KIND_CODE, Kind, Reason, Verdict
from contextlab.core.measuring.models import keeps_reasoning, plain_name
from contextlab.core.projection import KEPT, Fate, TokenCount
from contextlab.core.replaying.faults import FaultList
from contextlab.core.replaying.ledger import OUT, Ledger
from contextlab.core.replaying.reconcile import Reconciler
from contextlab.core.replaying.results import Replay, StepResult
from contextlab.core.replaying.sizes import REASONING, Sizes, calibrate
from contextlab.core.replaying.stepwise import painted
from contextlab.core.replaying.tape import UI_ONLY, ranges
from contextlab.core.report import Report
from contextlab.core.spans import Span, SpanWriter
from contextlab.core.timeline import FLAG_INJECTED, FLAG_OFFLOADED, Mark, Step, Timeline

USER = KIND_CODE[Kind.USER]
UI = KIND_CODE[Kind.UI]
OFFLOADED = Fate(Verdict.OFFLOADED, Reason.LOG_OFFLOADED)
ABANDONED = Fate(Verdict.DROPPED, Reason.ABANDONED_BRANCH)
COMPACTED = Fate(Verdict.SUMMARISED, Reason.COMPACTED)
STRIPPED = Fate(Verdict.REASONING_CLEARED, Reason.PROVIDER_STRIPS)
CLEARED = (Verdict.CLEARED, Verdict.REASONING_CLEARED)
_ANY_USER_ITEM = ("gpt-", "codex", "o1", "o3", "o4")
"""Models to which every user-role item begins a new turn of reasoning, injected ones too."""


class RecordedReplayer:
    """Replays a timeline as recorded, step by step; used like Replayer."""

    def __init__(self, timeline: Timeline, *, count: TokenCount | None = None) -> None:
        """`count` counts placeholders (estimated without it)."""
        self.timeline = timeline
        self.writer = SpanWriter()
        self.ledger = Ledger(timeline, Sizes(timeline, count))
        self.memory: list[int] = []
        """Positions in memory, in order."""
        self._faults = FaultList(timeline)
        self._reconciler = Reconciler()
        self._marks = sorted(timeline.marks, key=lambda mark: mark.at_step)
        self._next_mark = 0
        self._folded: dict[int, list[int]] = {}
        """What each summary stands for, by the summary's position."""
        self._reasoning: list[int] = []
        self._left_out = (0, 0)
        self._prompt = self._user_item = 0
        """Position after the last prompt, and after the last user item of any kind."""

    def run(self) -> Iterator[StepResult]:
        """The steps in order; to be used once."""
        seen = 0
        for step in self.timeline.steps:
            for position in range(seen, step.upto):
                self._enter(position, step.number)
            seen = max(seen, step.upto)
            marked = self._apply_marks(step.number)
            self._strip_reasoning(step)
            yield StepResult(step, self._report(step, marked))

    def spans(self) -> list[Span]:
        """The spans of the steps run so far, in the order of their first step and item."""
        return self.writer.spans()

    def _enter(self, position: int, step: int) -> None:
        kind, flags = self.timeline.kinds[position], self.timeline.flags[position]
        if kind == UI:
            self.writer.paint(position, position, UI_ONLY, step)
            return
        fate = OFFLOADED if flags & FLAG_OFFLOADED else KEPT
        self.memory.append(position)
        self.ledger.enter(position, fate)
        self._faults.enter(position)
        if fate is not KEPT:
            self.writer.paint(position, position, painted(fate), step)
        if kind == REASONING:
            self._reasoning.append(position)
        elif kind == USER:
            self._user_item = position + 1
            if not flags & FLAG_INJECTED:
                self._prompt = position + 1

    def _apply_marks(self, step: int) -> bool:
        first = self._next_mark
        rewound = False
        while self._next_mark < len(self._marks) and self._marks[self._next_mark].at_step <= step:
            mark = self._marks[self._next_mark]
            self._next_mark += 1
            named = self._named(mark) if mark.verdict != Verdict.KEPT else []
            if mark.verdict == Verdict.KEPT:
                self._bring_back(mark, step)
            else:
                self._change(named, Fate(mark.verdict, mark.reason), step)
            if mark.compaction is not None and mark.summary is not None:
                self._folded[mark.summary] = named
            rewound |= mark.reason == Reason.ABANDONED_BRANCH and any(
                at in self._folded for at in mark.positions
            )
        if rewound:
            self._follow_summaries(step)
        return self._next_mark > first

    def _named(self, mark: Mark) -> list[int]:
        """The items in memory whose fate the mark changes."""
        before = self.memory[: bisect_left(self.memory, mark.upto)]
        if mark.compaction is not None:
            stay = {*mark.positions, mark.summary}
            return [position for position in before if position not in stay]
        if mark.all_before:
            return self._everything_before(mark.upto)
        return [position for position in mark.positions if position < mark.upto and self._in_memory(position)]

    def _everything_before(self, upto: int) -> list[int]:
        """What a cleared context drops: memory, and what stood only in its summary."""
        summarised = self.ledger.having(Verdict.SUMMARISED, upto)
        return sorted([*self.memory[: bisect_left(self.memory, upto)], *summarised])

    def _in_memory(self, position: int) -> bool:
        at = bisect_left(self.memory, position)
        return at < len(self.memory) and self.memory[at] == position

    def _change(self, positions: list[int], fate: Fate, step: int) -> None:
        self.ledger.change(positions, fate)
        for first, last in ranges(positions):
            self.writer.paint(first, last, painted(fate), step)
        if fate.verdict in (Verdict.DROPPED, Verdict.SUMMARISED) and positions:
            gone = set(positions)
            at = bisect_left(self.memory, positions[0])
            self.memory[at:] = [position for position in self.memory[at:] if position not in gone]
            self._reasoning = [position for position in self._reasoning if position not in gone]
            self._faults.leave(gone)
            self._left_out = self._widest_gap()

    def _bring_back(self, mark: Mark, step: int) -> None:
        """A rewind returned to a branch that was left before, or to a place before a compaction."""
        for position in mark.positions:
            if self.ledger.fate(position).verdict in OUT:
                fate = OFFLOADED if self.timeline.flags[position] & FLAG_OFFLOADED else KEPT
                self.ledger.change((position,), fate)
                insort(self.memory, position)
                self._faults.come_back(position)
                self.writer.paint(position, position, painted(fate), step)
                if self.timeline.kinds[position] == REASONING:
                    insort(self._reasoning, position)
            elif self.ledger.fate(position).verdict in CLEARED and self._in_memory(position):
                # A provider applies its edits to each request anew: what it does not clear again stands again.
                self._change([position], KEPT, step)
        self._left_out = self._widest_gap()

    def _follow_summaries(self, step: int) -> None:
        """Summaries left memory or came back: what stands only in them goes with them.

        Of a compaction that a rewind left behind nothing is in the context, not even in a summary; a return to it
        makes its items summarised again.
        """
        told: set[int] = set()
        waiting = [at for at in self._folded if self._in_memory(at)]
        while waiting:
            items = self._folded[waiting.pop()]
            waiting += [at for at in items if at in self._folded and at not in told]
            told.update(items)
        outside = {at for items in self._folded.values() for at in items if not self.ledger.inside(at)}
        for verdict, members, fate in (
            (Verdict.SUMMARISED, outside - told, ABANDONED),
            (Verdict.DROPPED, outside & told, COMPACTED),
        ):
            self._change(
                [at for at in sorted(members) if self.ledger.fate(at).verdict == verdict], fate, step
            )

    def _strip_reasoning(self, step: Step) -> None:
        """Reasoning stays inside its turn; what a provider stripped once does not come back."""
        if not self._reasoning:
            return
        end = self._user_item if plain_name(step.model).startswith(_ANY_USER_ITEM) else self._prompt
        if self._reasoning[0] >= end or keeps_reasoning(step.model)[0]:
            return
        cut = bisect_left(self._reasoning, end)
        self._change(self._reasoning[:cut], STRIPPED, step.number)
        del self._reasoning[:cut]

    def _report(self, step: Step, marked: bool) -> Report:
        report = self.ledger.report()
        calibrate(report, step, self.ledger.sent, self.timeline.calibrations)
        report.source_faults = self._faults.listed()
        report.head_end, report.tail_start = self._gap(step.upto)
        self._reconciler.compare(step, report, marked)
        return report

    def _widest_gap(self) -> tuple[int, int]:
        """The longest stretch of positions without an item in memory, the first of several."""
        ends = [0, *(position + 1 for position in self.memory)]
        gaps = [(start, position) for start, position in zip(ends, self.memory, strict=False)]
        return max(gaps, key=lambda gap: gap[1] - gap[0], default=(0, 0))

    def _gap(self, upto: int) -> tuple[int, int]:
        """What a page may fold: changes only when the log takes something out of memory."""
        return (0, upto) if not self.memory else self._left_out


def replay_recorded(timeline: Timeline, *, count: TokenCount | None = None) -> Replay:
    """All steps at once, as recorded."""
    replayer = RecordedReplayer(timeline, count=count)
    reports = [result.report for result in replayer.run()]
    return Replay(reports, replayer.spans())
