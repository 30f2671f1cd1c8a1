"""Events written as lines: everything that reading would not fill in by itself, under the fields' own names."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any

from contextlab.core.events import Event, ItemEvent, SessionStart
from contextlab.core.items import Kind, Media
from contextlab.importers.contextlab_events.fields import FORMAT, MADE_BY_A_STEP, TYPES, VERSION, key_of

_NAMES = {kind: name for name, kind in TYPES.items()}
_FILLED_IN = MADE_BY_A_STEP | {Kind.USER}
"""Kinds of items whose step, or whose opening of a turn, reading would work out: it is always written."""


def write_events(meta: SessionStart, events: Iterable[Event]) -> Iterator[str]:
    """The lines of one session, without line ends: a header and each event; reading them gives the events again."""
    yield _dump({"format": FORMAT, "version": VERSION, "session": _fields(meta)})
    for event in events:
        yield _dump({"type": _NAMES[type(event)], **_fields(event)})


def write_sessions(events: Iterable[tuple[str, Event]]) -> Iterator[str]:
    """The lines of several sessions as an importer yields them; an event of another than the last names its own."""
    known: set[str] = set()
    current = ""
    for key, event in events:
        if isinstance(event, SessionStart) and key not in known:
            known.add(key)
            current = key
            yield from write_events(event, ())
            continue
        line = {"type": _NAMES[type(event)], **_fields(event)}
        yield _dump(line if key == current else {**line, "session": key})


def _dump(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)


def _fields(event: Any) -> dict[str, Any]:
    said: dict[str, Any] = {}
    item = event if isinstance(event, ItemEvent) else None
    always = ("step", "opens_turn") if item is not None and item.kind in _FILLED_IN else ("model",)
    for one in dataclasses.fields(event):
        value = getattr(event, one.name)
        plain = value == one.default and (one.name not in always or isinstance(event, SessionStart))
        own_entry = item is not None and one.name == "entry" and value == item.id
        # Places are not written: they are where an event stands in the file that is read.
        if one.name != "place" and not plain and not own_entry:
            said[key_of(one.name)] = _plain(value)
    return said


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if isinstance(value, Media):
        return {key: part for key, part in dataclasses.asdict(value).items() if part is not None}
    return str(value) if isinstance(value, StrEnum) else value
