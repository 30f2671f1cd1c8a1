"""The slow path of replay: any projector, asked at every step; its answer is compared with the one before.

Costs the length of the memory at every step. The built-in projectors have a faster way (cuts.py); this one serves
plug-ins, and is what the fast one is tested against.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from contextlab.core.items import KINDS, LEFT_OUT, Injected, Item, Kind, Verdict
from contextlab.core.projection import NONE, Fate, Projection, Projector, Source
from contextlab.core.replaying.sizes import REASONING, Sent, Sizes, calibrate
from contextlab.core.replaying.sums import CALL, RESULT
from contextlab.core.replaying.tape import Tape
from contextlab.core.report import Report
from contextlab.core.spans import Painted, SpanWriter
from contextlab.core.timeline import (
    FLAG_ERROR,
    FLAG_INJECTED,
    FLAG_NO_RESULT_NEEDED,
    FLAG_OPENS_TURN,
    FLAG_PINNED,
    UNKNOWN,
    Step,
    Timeline,
)

Texts = Callable[[int], str]
"""Gives the text of the item at a position."""


class Stepwise:
    """Projects the memory of each step anew."""

    def __init__(self, sizes: Sizes, projector: Projector, texts: Texts | None = None) -> None:
        """`texts` is needed only by projectors that read texts."""
        self.timeline = sizes.timeline
        self.projector = projector
        self.sizes = sizes
        self.texts = texts
        self.writer = SpanWriter()
        self._items: list[Item] = []

    def run(self) -> Iterator[tuple[Step, Report]]:
        """Each step with its report."""
        tape = Tape(self.timeline, self.writer)
        for step, _ in tape.play():
            alive = tape.present()
            projection = self.projector.project(self.source(alive))
            self._paint(alive, projection.fates, step.number)
            report = projection.report
            report.source_faults = tape.faults()
            _place_gap(report, alive, step.upto)
            self._calibrate(report, step, alive, projection)
            yield step, report

    def source(self, alive: list[int]) -> Source:
        """The memory that consists of these positions."""
        while alive and len(self._items) <= alive[-1]:
            self._items.append(item_of(self.timeline, len(self._items), self.texts))
        index = {position: at for at, position in enumerate(alive)}
        pairs = [index.get(self.timeline.pairs[position], NONE) for position in alive]
        items = [self._items[position] for position in alive]
        tokens = [self.sizes.tokens[position] for position in alive]
        uncounted = sum(self.timeline.tokens[position] == UNKNOWN for position in alive)
        return Source(items, pairs, tokens, uncounted, self.sizes.count)

    def _paint(self, alive: list[int], fates: list[Fate], step: int) -> None:
        start = 0
        for at in range(1, len(alive) + 1):
            if at < len(alive) and alive[at] == alive[at - 1] + 1 and fates[at] == fates[start]:
                continue
            self.writer.paint(alive[start], alive[at - 1], painted(fates[start]), step)
            start = at

    def _calibrate(self, report: Report, step: Step, alive: list[int], projection: Projection) -> None:
        sent = Sent()
        kinds, tokens = self.timeline.kinds, self.sizes.tokens
        quiet = 0
        for position, fate in zip(alive, projection.fates, strict=True):
            if fate.verdict in LEFT_OUT:
                continue
            if kinds[position] == REASONING and fate.verdict in (Verdict.KEPT, Verdict.PINNED):
                sent.hidden += self.sizes.hidden[position]
                quiet += tokens[position]
            else:
                sent.blocks += 1
                sent.tool_blocks += kinds[position] in (CALL, RESULT)
        sent.visible = (report.projected_tokens or 0) - quiet
        calibrate(report, step, sent, self.timeline.calibrations)


def painted(fate: Fate) -> Painted | None:
    """A fate as spans store it: plain `kept` is not stored."""
    if fate.verdict == Verdict.KEPT and fate.reason is None:
        return None
    return (fate.verdict, fate.reason)


def item_of(timeline: Timeline, position: int, texts: Texts | None = None) -> Item:
    """An item of a timeline; its id is its position, its text is empty unless `texts` gives it."""
    flags = timeline.flags[position]
    pair = timeline.pairs[position]
    kind = Kind(KINDS[timeline.kinds[position]])
    tool = timeline.tools.get(position if kind == Kind.TOOL_CALL else pair)
    tokens = timeline.tokens[position]
    return Item(
        id=str(position),
        kind=kind,
        text="" if texts is None else texts(position),
        entry=str(timeline.entries[position]),
        tool=tool,
        call_id=timeline.call_id(position),
        chars=timeline.chars[position],
        tokens=None if tokens == UNKNOWN else tokens,
        pinned=bool(flags & FLAG_PINNED),
        injected=Injected.CONTEXT if flags & FLAG_INJECTED else None,
        opens_turn=bool(flags & FLAG_OPENS_TURN),
        needs_result=not flags & FLAG_NO_RESULT_NEEDED,
        error=True if flags & FLAG_ERROR else None,
    )


def _place_gap(report: Report, alive: list[int], upto: int) -> None:
    """Turn the gap's indices into positions; what is not in the source is left out as well."""
    if report.head_end is None or report.tail_start is None or report.head_end == report.tail_start:
        return
    ends = [*alive, upto]
    report.head_end, report.tail_start = ends[report.head_end], ends[report.tail_start]
