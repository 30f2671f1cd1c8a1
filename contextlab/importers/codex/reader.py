"""A rollout read from top to bottom: each record goes to the method that knows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from contextlab.core.events import (
    Cleared,
    FileReport,
    ItemEvent,
    Note,
    SessionStart,
    StepEvent,
    TurnEnd,
    TurnStart,
)
from contextlab.core.items import Injected, Kind
from contextlab.importers.base import SessionEvents, Source
from contextlab.importers.codex.compacting import Replacement, compaction, dated, lone
from contextlab.importers.codex.items import NOT_CONTEXT, SUMMARY_TYPES, Draft, drafts
from contextlab.importers.codex.meta import (
    NO_CONTEXT,
    REPEATED,
    base_instructions,
    session_start,
    unnamed,
    unwrap,
)
from contextlab.importers.codex.order import Order
from contextlab.importers.codex.usage import Counts, Told, usage_of
from contextlab.importers.lines import Record, records, skip, warn
from contextlab.importers.values import count, digest, optional, text, warn_of_figures

_TITLE = 200
"""Longest title made of a prompt, in characters."""


@dataclass(slots=True)
class _Turn:
    native: bool
    """Started by a `task_started` record; else (old versions) by the prompt itself."""
    prompted: bool = False


class Reader:
    """Reads one rollout; `events` is used once."""

    def __init__(self, source: Source, report: FileReport) -> None:
        self._source = source
        self._report = report
        self._key: str | None = None
        self._order = Order()
        self._counts = Counts()
        self._compactions = 0
        self._uncounted = False
        self._announced: tuple[dict[str, Any], Record] | None = None
        self._turn: _Turn | None = None
        self._model: str | None = None
        self._titled = False
        self._records: dict[str, Callable[[Record, dict[str, Any]], None]] = {
            "session_meta": self._on_meta,
            "response_item": self._on_item,
            "inter_agent_communication": self._on_agents,
            "compacted": self._on_compacted,
            "event_msg": self._on_event,
            "turn_context": self._on_context,
        }
        self._events: dict[str, Callable[[Record, dict[str, Any]], None]] = {
            "task_started": self._on_turn,
            "turn_started": self._on_turn,
            "task_complete": self._on_turn_end,
            "turn_complete": self._on_turn_end,
            "turn_aborted": self._on_turn_end,
            "token_count": self._on_tokens,
            "thread_rolled_back": self._on_rollback,
        }

    def events(self) -> SessionEvents:
        """All events of the file in order."""
        with self._source.open() as stream:
            for record in records(stream, self._report):
                try:
                    self._read(record)
                except RecursionError:
                    skip(self._report, record.line, "nested too deeply")
                yield from self._settled()
        self._explain()
        self._close_step(ended=False)
        self._order.settle()
        yield from self._settled()

    def _settled(self) -> SessionEvents:
        if self._order.out:
            ready, self._order.out = self._order.out, []
            for event in ready:
                yield self._key or "", event

    def _read(self, record: Record) -> None:
        if not isinstance(record.value, dict):
            skip(self._report, record.line, "not an object")
            return
        kind, payload = unwrap(record.value, first=self._key is None)
        if payload is record.value:
            # Versions before the envelope wrote no token counts.
            self._uncounted = True
        self._begin(record, kind, payload)
        if (handler := self._records.get(kind)) is not None:
            handler(record, payload)
        elif kind in NO_CONTEXT:
            self._ignore(kind)
        else:
            self._unknown(record, kind or "(no type)")

    def _begin(self, record: Record, kind: str, payload: dict[str, Any]) -> None:
        """The session starts with the first record; a session_meta in its place owns the identity."""
        if self._key is not None:
            return
        known = kind == "session_meta"
        start = session_start(payload, self._source) if known else unnamed(self._source, stamp(record))
        self._key = start.native_id
        self._order.emit(start)

    def _on_meta(self, record: Record, payload: dict[str, Any]) -> None:
        """The first one brings the system prompt; later ones repeat it, or belong to a history that was copied."""
        if self._order.live.fixed:
            self._report.merged += 1
        elif words := base_instructions(payload):
            event = ItemEvent("instructions", Kind.SYSTEM, words, entry="instructions", ts=stamp(record))
            event.place, event.label = record.place, "base_instructions"
            self._order.live.fixed.append(event.id)
            self._order.emit(event)

    def _on_context(self, _record: Record, payload: dict[str, Any]) -> None:
        model = optional(payload.get("model"))
        if model is not None and self._model is None:
            self._order.emit(SessionStart(self._key or "", model=model))
        self._model = model or self._model
        self._ignore("turn_context")

    def _on_event(self, record: Record, payload: dict[str, Any]) -> None:
        kind = text(payload.get("type"))
        if (handler := self._events.get(kind)) is not None:
            handler(record, payload)
        elif kind in REPEATED:
            self._ignore(kind)
        else:
            self._unknown(record, f"event_msg/{kind}")

    def _on_item(self, record: Record, payload: dict[str, Any]) -> None:
        kind = text(payload.get("type"))
        if kind in SUMMARY_TYPES:
            self._explain()
            self._announced = payload, record
        elif kind in NOT_CONTEXT:
            self._ignore(kind)
        elif (made := drafts(payload)) is None:
            self._unknown(record, f"response_item/{kind}")
        else:
            self._place(made, record)

    def _on_agents(self, record: Record, payload: dict[str, Any]) -> None:
        content = payload.get("content") or payload.get("message")
        self._place(drafts({"type": "agent_message", "content": content}) or [], record)

    def _place(self, made: list[Draft], record: Record) -> None:
        self._explain()
        for draft in made:
            draft.event.ts, draft.event.place = stamp(record), record.place
        if not made:
            return
        if made[0].output:
            self._output(made, record)
        else:
            self._prompted(made, record)
            self._order.input(made)

    def _output(self, made: list[Draft], record: Record) -> None:
        step = self._order.step
        if step is not None and step.answered and self._uncounted:
            self._close_step()
        self._order.output(made, StepEvent("", self._model, stamp(record), record.place, self._counts.window))

    def _close_step(self, ended: bool = True) -> None:
        """The open step ends without a token count of its own; at the end of the file one may still come."""
        self._uncounted = self._uncounted or (
            ended and self._order.step is not None and not self._counts.seen
        )
        if self._uncounted and not self._counts.seen:
            # This provider reports nothing, so steps are told by their calls and results.
            self._order.close_uncounted()
        else:
            self._order.close()

    def _on_turn(self, record: Record, payload: dict[str, Any]) -> None:
        self._explain()
        self._close_step()
        self._counts.window = count(payload.get("model_context_window")) or self._counts.window
        self._turn = _Turn(native=True)
        name = self._order.unique(optional(payload.get("turn_id")) or "turn")
        self._order.emit(TurnStart(name, stamp(record), "task"))

    def _on_turn_end(self, record: Record, payload: dict[str, Any]) -> None:
        self._explain()
        self._close_step()
        self._turn = None
        status = "aborted" if payload.get("type") == "turn_aborted" else "completed"
        self._order.emit(TurnEnd(optional(payload.get("turn_id")), stamp(record), status))

    def _prompted(self, made: list[Draft], record: Record) -> None:
        """A user message opens a turn, or came in the middle of one; what the harness wrote does neither."""
        real = [
            draft.event for draft in made if draft.event.kind == Kind.USER and draft.event.injected is None
        ]
        if not real:
            return
        if self._turn is not None and self._turn.native and self._turn.prompted:
            for event in real:
                event.injected = Injected.MIDTURN
            return
        if self._turn is None or self._turn.prompted:
            self._close_step()
            self._turn = _Turn(native=False)
            name = self._order.unique(f"turn:{digest(real[0].text)}")
            self._order.emit(TurnStart(name, stamp(record), "prompt"))
        self._turn.prompted = real[0].opens_turn = True
        self._title(real[0].text)

    def _title(self, prompt: str) -> None:
        words = " ".join(prompt[: _TITLE * 4].split())[:_TITLE]
        if words and not self._titled:
            self._titled = True
            self._order.emit(SessionStart(self._key or "", title=words, title_origin="prompt"))

    def _on_tokens(self, record: Record, payload: dict[str, Any]) -> None:
        told, last = self._counts.read(payload)
        if told is Told.AFTER:
            self._explain()
            tokens = count(last.get("total_tokens"))
            if not self._order.sized(tokens):
                self._order.emit(Note("context_after", place=record.place, ts=stamp(record), value=tokens))
        elif told is not Told.STEP:
            self._report.duplicates += told is Told.REPEAT
        else:
            self._explain()
            event = StepEvent("", self._model, stamp(record), record.place, self._counts.window)
            step = self._order.close(self._counts.window) or self._order.empty_step(event)
            usage, fault = usage_of(step.id, last)
            self._order.used(usage)
            if fault is not None:
                warn(self._report, f"line {record.line}: {fault}")
            warn_of_figures(self._report, last, record.line)

    def _on_compacted(self, record: Record, payload: dict[str, Any]) -> None:
        announced, self._announced = self._announced, None
        self._close_step()
        self._order.settle()
        made = compaction(self._numbered(), payload, self._order.live)
        if announced is not None and not made.summary.opaque_chars:
            made.summary.opaque_chars = len(text(announced[0].get("encrypted_content")))
        self._compacted(made, record)

    def _explain(self) -> None:
        """A compaction item that no `compacted` record followed is a compaction of its own."""
        announced, self._announced = self._announced, None
        if announced is not None:
            self._close_step()
            self._order.settle()
            self._compacted(lone(self._numbered(), announced[0], self._order.live), announced[1])

    def _compacted(self, made: Replacement, record: Record) -> None:
        made.event.pre_tokens, self._counts.context = self._counts.context, None
        self._order.compact(dated(made, stamp(record), record.place))

    def _numbered(self) -> int:
        self._compactions += 1
        return self._compactions

    def _on_rollback(self, record: Record, payload: dict[str, Any]) -> None:
        self._explain()
        event = Cleared("", ts=stamp(record), place=record.place, trigger="thread_rolled_back")
        self._order.roll_back(event, count(payload.get("num_turns")) or 0)

    def _ignore(self, kind: str) -> None:
        self._report.ignored_types[kind] = self._report.ignored_types.get(kind, 0) + 1

    def _unknown(self, record: Record, kind: str) -> None:
        known = self._report.unknown_types
        known[kind] = known.get(kind, 0) + 1
        if known[kind] == 1:
            self._order.emit(Note("unknown_type", kind, record.place, stamp(record)))


def stamp(record: Record) -> str | None:
    """The time of a record as the log writes it."""
    return optional(record.value.get("timestamp")) if isinstance(record.value, dict) else None
