"""The events of one session folded into numbered rows and a timeline (timeline.py says what these are)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from contextlab.core.events import (
    Cleared,
    Compaction,
    Event,
    ItemEvent,
    Link,
    Note,
    SessionStart,
    StepEvent,
    TurnEnd,
    TurnStart,
    Usage,
)
from contextlab.core.items import Kind, Reason, Verdict, measure
from contextlab.core.timeline import UNKNOWN, CompactionRow, ItemRow, Mark, Step, Timeline, Turn


@dataclass(slots=True)
class Assembler:
    """Folds the events of one session into rows and a timeline.

    Feed events in order; item rows are returned as they come (their texts are not kept here), everything else is
    collected. Ids seen twice: the first wins, later ones are counted in `duplicates`.
    """

    meta: SessionStart
    timeline: Timeline = field(default_factory=Timeline)
    compactions: list[CompactionRow] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    duplicates: int = 0
    results_without_call: int = 0
    _positions: dict[str, int] = field(default_factory=dict)
    _entries: dict[str, int] = field(default_factory=dict)
    _steps: dict[str, Step] = field(default_factory=dict)
    _open_calls: dict[str, list[int]] = field(default_factory=dict)
    _awaiting_summary: dict[str, CompactionRow] = field(default_factory=dict)
    _restarts: list[str] = field(default_factory=list)
    """Restarts since the last step."""

    def feed(self, event: Event) -> ItemRow | None:
        """Take in one event; returns the row of an item event, None for all others (and for a repeated item)."""
        if isinstance(event, ItemEvent):
            return self._item(event)
        if isinstance(event, StepEvent):
            self._step(event)
        elif isinstance(event, Usage):
            self._usage(event)
        elif isinstance(event, TurnStart):
            number = len(self.timeline.turns_list) + 1
            self.timeline.turns_list.append(
                Turn(number, event.id, len(self.timeline), event.ts, event.trigger)
            )
        elif isinstance(event, TurnEnd):
            if self.timeline.turns_list:
                self.timeline.turns_list[-1].status = event.status
        elif isinstance(event, Compaction):
            self._compaction(event)
        elif isinstance(event, Cleared):
            self._cleared(event)
        elif isinstance(event, Link):
            self.links.append(event)
        elif isinstance(event, Note):
            self.notes.append(event)
            if event.code == "restart" and event.text not in self._restarts:
                self._restarts.append(event.text)
        else:
            self._update_meta(event)
        return None

    def feed_all(self, events: Iterable[Event]) -> list[ItemRow]:
        """Take in all events; returns the item rows in order."""
        return [row for event in events if (row := self.feed(event)) is not None]

    @property
    def calls_without_result(self) -> int:
        """Calls that still wait for a result."""
        return sum(len(waiting) for waiting in self._open_calls.values())

    def position_of(self, item_id: str) -> int | None:
        """Position of an item by its id, None when the session has no such item."""
        return self._positions.get(item_id)

    def number_of(self, step_id: str) -> int | None:
        """Number of a step by its id, None when the session has no such step."""
        step = self._steps.get(step_id)
        return None if step is None else step.number

    def _item(self, event: ItemEvent) -> ItemRow | None:
        if event.id in self._positions:
            self.duplicates += 1
            return None
        position = len(self.timeline)
        self._positions[event.id] = position
        entry = self._entries.setdefault(event.entry, len(self._entries))
        step = self._steps.get(event.step) if event.step else None
        row = ItemRow(
            position=position,
            event=event,
            turn=len(self.timeline.turns_list),
            entry=entry,
            step=step.number if step else None,
            first_step=len(self.timeline.steps) + 1,
            pair=self._pair(event, position),
            chars=measure(event.kind, event.text, event.tool),
        )
        self.timeline.append(row, estimate=_estimate(event))
        if (compaction := self._awaiting_summary.pop(event.id, None)) is not None:
            self._attach_summary(compaction, position)
        return row

    def _pair(self, event: ItemEvent, position: int) -> int:
        """Pair a result with the nearest preceding open call of its id; ids are used again in real logs."""
        if event.call_id is None or event.kind not in (Kind.TOOL_CALL, Kind.TOOL_RESULT):
            return UNKNOWN
        if event.kind == Kind.TOOL_CALL:
            if event.needs_result:
                self._open_calls.setdefault(event.call_id, []).append(position)
            return UNKNOWN
        waiting = self._open_calls.get(event.call_id)
        if not waiting:
            self.results_without_call += 1
            return UNKNOWN
        call = waiting.pop()
        if not waiting:
            del self._open_calls[event.call_id]
        return call

    def _step(self, event: StepEvent) -> None:
        timeline = self.timeline
        number = len(timeline.steps) + 1
        step = Step(
            number, event.id, len(timeline.turns_list), len(timeline), event.model, event.ts, event.limit
        )
        step.exact = event.exact
        if self._restarts:
            step.restart = ", ".join(self._restarts)
            self._restarts.clear()
        timeline.steps.append(step)
        self._steps[event.id] = step
        if timeline.turns_list:
            turn = timeline.turns_list[-1]
            turn.first_step = turn.first_step or number
            turn.last_step = number

    def _usage(self, event: Usage) -> None:
        step = self._steps.get(event.step)
        if step is None:
            return
        for name in ("input", "cache_read", "cache_write", "output", "reasoning"):
            value = getattr(event, name)
            if value is not None:
                setattr(step, name, value)
        step.usage_partial = event.partial

    def _compaction(self, event: Compaction) -> None:
        number = self._next_number(micro=False)
        row = CompactionRow(number, event, len(self.timeline.steps) + 1, len(self.timeline))
        self.compactions.append(row)
        keeps = self._known(event.keeps)
        verdict, reason = Verdict.SUMMARISED, Reason.COMPACTED
        mark = Mark(row.at_step, row.upto, verdict, reason, keeps, compaction=row.number)
        self.timeline.marks.append(mark)
        if event.summary is not None:
            known = self._positions.get(event.summary)
            if known is None:
                self._awaiting_summary[event.summary] = row
            else:
                self._attach_summary(row, known)

    def _attach_summary(self, row: CompactionRow, position: int) -> None:
        row.summary = position
        for mark in self.timeline.marks:
            if mark.compaction == row.number:
                mark.summary = position

    def _cleared(self, event: Cleared) -> None:
        at_step, upto = len(self.timeline.steps) + 1, len(self.timeline)
        known = self._known(event.items)
        if event.reason == Reason.MICRO_COMPACTED:
            boundary = Compaction(event.id, event.ts, event.place, trigger=event.trigger)
            boundary.tokens_saved = event.tokens_saved
            number = self._next_number(micro=True)
            self.compactions.append(CompactionRow(number, boundary, at_step, upto, micro=True))
        if known or event.all_before:
            mark = Mark(at_step, upto, event.verdict, event.reason, known, event.all_before)
            self.timeline.marks.append(mark)

    def _next_number(self, micro: bool) -> int:
        """Compactions and micro-compactions are numbered apart, each from 1."""
        return 1 + sum(row.micro == micro for row in self.compactions)

    def _known(self, ids: tuple[str, ...]) -> tuple[int, ...]:
        return tuple(sorted(self._positions[item] for item in ids if item in self._positions))

    def _update_meta(self, event: SessionStart) -> None:
        for name in SessionStart.__slots__:
            value = getattr(event, name)
            if value is not None:
                setattr(self.meta, name, value)


def _estimate(event: ItemEvent) -> int:
    """Token estimate of an item before it is counted: a quarter of its UTF-8 bytes, at least 1 where there is text."""
    text = event.text
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return (size + len(event.tool or "") + 3) // 4
