"""Lines read as events, with the defaults that spare a home-made agent the bookkeeping."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self

from contextlab.core.events import (
    Event,
    FileReport,
    ItemEvent,
    Link,
    Note,
    SessionStart,
    StepEvent,
    TurnEnd,
    TurnStart,
    Usage,
)
from contextlab.core.items import Kind
from contextlab.core.texts import clean
from contextlab.importers.base import SessionEvents, Source
from contextlab.importers.contextlab_events.fields import (
    FORMAT,
    MADE_BY_A_STEP,
    PLACED,
    TYPES,
    VERSION,
    WrongEventError,
    build,
)
from contextlab.importers.lines import Record, records, skip, warn
from contextlab.importers.values import Occurrences, digest, json_text, mapping

_OUTPUT = tuple(MADE_BY_A_STEP)
_NAMELESS = (Link, Note, SessionStart, TurnEnd)
"""Events that need no id."""


@dataclass(slots=True)
class _Session:
    """What a session has had so far."""

    names: Occurrences = field(default_factory=Occurrences)
    step: str | None = None
    model: str | None = None
    announced: bool = False
    """A turn_start came after the last item: the next prompt belongs to it."""


@dataclass(slots=True)
class Reader:
    """Reads one file. Given its source from where `events` ended, `events` goes on as if it had read it in one go."""

    source: Source
    report: FileReport
    _sessions: dict[str, _Session] = field(default_factory=dict)
    _current: str | None = None

    @classmethod
    def within(cls, session: str, report: FileReport) -> Self:
        """A reader that stands in the middle of a session's log."""
        return cls(Source(session), report, {session: _Session(step="")}, session)

    def events(self) -> SessionEvents:
        """The events of the file; a line that is no event costs that line only."""
        with self.source.open() as stream:
            for record in records(stream, self.report, offset=self.source.start):
                yield from self._taken(record)

    def takes(self, record: Record) -> bool:
        """Whether a line is an event here; why it is not stands in the report."""
        return bool(self._taken(record))

    def _taken(self, record: Record) -> list[tuple[str, Event]]:
        try:
            return list(self._record(record))
        except WrongEventError as error:
            skip(self.report, record.line, str(error))
        except RecursionError:
            skip(self.report, record.line, "nested too deeply")
        return []

    def _record(self, record: Record) -> SessionEvents:
        value = record.value
        if not isinstance(value, dict):
            raise WrongEventError("not an object")
        if "format" in value:
            start = self._header(value)
            yield start.native_id, start
            return
        kind = value.get("type")
        made = TYPES.get(kind) if isinstance(kind, str) else None
        if made is None:
            self._unknown(kind)
            return
        key = self._key_of(value, record, made)
        known = key in self._sessions
        session = self._sessions.setdefault(key, _Session())
        if not known and made is not SessionStart:
            yield key, SessionStart(key)
        for event in self._made(made, {**value, "type": kind}, record, session):
            yield key, event

    def _unknown(self, kind: Any) -> None:
        name = json_text(kind)[:80] or "(no type)"
        self.report.unknown_types[name] = self.report.unknown_types.get(name, 0) + 1

    def _header(self, value: dict[str, Any]) -> SessionStart:
        if value["format"] != FORMAT:
            raise WrongEventError(f"format: {json_text(value['format'])[:80]} is not {FORMAT}")
        if value.get("version") != VERSION:
            warn(
                self.report,
                f"version {json_text(value.get('version'))[:80]} is not {VERSION}: read as far as known",
            )
        given = mapping(value.get("session"))
        start: SessionStart = build(SessionStart, given, self.report)
        self._current = start.native_id
        self._sessions.setdefault(start.native_id, _Session()).model = start.model
        return start

    def _key_of(self, value: dict[str, Any], record: Record, made: type[Any]) -> str:
        """The session of an event: the one it names, else the last header's."""
        wanted = value.get("session")
        if made is SessionStart and not isinstance(wanted, str):
            wanted = value.get("id")
        if isinstance(wanted, str) and wanted:
            return clean(wanted)
        if self._current is None:
            warn(self.report, "no header line names the session")
            self._current = f"events:{digest(record.raw.decode('utf-8', 'replace'))}"
        return self._current

    def _made(
        self, made: type[Any], given: dict[str, Any], record: Record, session: _Session
    ) -> Iterator[Event]:
        """The event of a line, after the start of a turn that a prompt opens without having been announced."""
        if made is ItemEvent:
            _complete_item(given, session)
        elif made is Usage:
            given.setdefault("step", session.step)
        elif made is StepEvent:
            given.setdefault("model", session.model)
        if made not in (*_NAMELESS, ItemEvent, Usage) and not given.get("id"):
            given["id"] = session.names(given["type"])
        event = build(made, given, self.report)
        if made in PLACED:
            event.place = record.place
        if isinstance(event, StepEvent):
            session.step = event.id
        elif isinstance(event, SessionStart):
            session.model = event.model or session.model
        elif isinstance(event, TurnStart):
            session.announced = True
        elif isinstance(event, ItemEvent):
            if _is_prompt(event, given):
                event.opens_turn = True
                if not session.announced:
                    yield TurnStart(f"turn:{event.id}", event.ts)
            session.announced = session.announced and not event.opens_turn
        yield event


def _is_prompt(event: ItemEvent, given: dict[str, Any]) -> bool:
    """A user's words open a turn unless the line says something else."""
    return event.kind == Kind.USER and event.injected is None and "opens_turn" not in given


def _complete_item(given: dict[str, Any], session: _Session) -> None:
    """The text of structured values, an id from the content, the step of what a model produced."""
    if not isinstance(given.get("text"), str):
        given["text"] = json_text(given.get("json", given.get("text")))
    if given.get("kind") in _OUTPUT:
        given.setdefault("step", session.step)
    if not given.get("id"):
        said = (json_text(given.get(key)) for key in ("kind", "text", "tool", "call_id"))
        given["id"] = session.names(f"item:{digest(*said)}")
    given.setdefault("entry", given["id"])
