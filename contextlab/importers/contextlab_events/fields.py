"""The fields of events as JSON: the names are those of core/events.py, the kinds of values are checked."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any

from contextlab.core import events as ev
from contextlab.core.events import FileReport
from contextlab.core.items import Injected, Kind, Media, Reason, Verdict
from contextlab.core.texts import clean
from contextlab.importers.lines import warn
from contextlab.importers.values import LARGEST, count, json_text

FORMAT = "contextlab-events"
VERSION = 1

TYPES: dict[str, type[Any]] = {
    "item": ev.ItemEvent,
    "step": ev.StepEvent,
    "usage": ev.Usage,
    "turn_start": ev.TurnStart,
    "turn_end": ev.TurnEnd,
    "compaction": ev.Compaction,
    "cleared": ev.Cleared,
    "link": ev.Link,
    "note": ev.Note,
    "session": ev.SessionStart,
}
MADE_BY_A_STEP = frozenset({Kind.ASSISTANT, Kind.REASONING, Kind.TOOL_CALL})
"""Items that belong to the last step unless they say otherwise."""

Convert = Callable[[str, Any], Any]
_MISSING = object()
_ENVELOPE = frozenset({"type", "session", "ts", "json"})


def key_of(name: str) -> str:
    """The key of a field: a session's native_id is its `id`."""
    return "id" if name == "native_id" else name


class WrongEventError(ValueError):
    """A line is no event; the message names the key."""


def build(made: type[Any], given: dict[str, Any], report: FileReport) -> Any:
    """An event from the keys of a line; raises WrongEventError for a key that is missing or of the wrong kind."""
    values: dict[str, Any] = {}
    fields, known = _FIELDS[made]
    for attribute, name, convert, needed in fields:
        value = given.get(name, _MISSING)
        if value is not _MISSING:
            values[attribute] = convert(name, value)
        elif needed:
            raise WrongEventError(f"{name}: missing")
    for key in given.keys() - known:
        warn(report, f"key {clean(key)[:80]!r} of type {json_text(given.get('type'))} is not known")
    return made(**values)


def _fields(made: type[Any]) -> tuple[Sequence[tuple[str, str, Convert, bool]], frozenset[str]]:
    """Attribute, key, conversion and whether it is needed, of each field; and all keys that are known."""
    fields = [one for one in dataclasses.fields(made) if one.name != "place"]
    rows = [
        (one.name, key_of(one.name), _CONVERT[str(one.type)], one.default is dataclasses.MISSING)
        for one in fields
    ]
    return rows, _ENVELOPE | {name for _, name, _, _ in rows}


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise WrongEventError(f"{name}: must be a text")
    return clean(value)


def _number(name: str, value: Any) -> int | None:
    if name in ("tokens_saved", "value"):
        return (
            value
            if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST
            else None
        )
    return count(value)


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise WrongEventError(f"{name}: must be true or false")
    return value


def _one_of(kinds: type[StrEnum]) -> Callable[[str, Any], Any]:
    def convert(name: str, value: Any) -> Any:
        try:
            return kinds(value)
        except ValueError:
            raise WrongEventError(f"{name}: {json_text(value)[:80]} is none of {', '.join(kinds)}") from None

    return convert


def _maybe(convert: Callable[[str, Any], Any]) -> Callable[[str, Any], Any]:
    return lambda name, value: None if value is None else convert(name, value)


def _texts(name: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise WrongEventError(f"{name}: must be a list of texts")
    return tuple(_text(name, one) for one in value)


def _media(name: str, value: Any) -> tuple[Media, ...]:
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise WrongEventError(f"{name}: must be a list of objects")
    return tuple(Media(_text("type", one.get("type")), _maybe(_text)("mime", one.get("mime")), count(one.get("size")))
                 for one in value)  # fmt: skip


_CONVERT: dict[str, Convert] = {
    "str": _text,
    "str | None": _maybe(_text),
    "int": lambda name, value: _number(name, value) or 0,
    "int | None": _number,
    "bool": _flag,
    "bool | None": _maybe(_flag),
    "Kind": _one_of(Kind),
    "Verdict": _one_of(Verdict),
    "Reason": _one_of(Reason),
    "Injected | None": _maybe(_one_of(Injected)),
    "tuple[str, ...]": _texts,
    "tuple[Media, ...]": _media,
}
_FIELDS = {made: _fields(made) for made in TYPES.values()}
PLACED = tuple(
    made for made in TYPES.values() if any(one.name == "place" for one in dataclasses.fields(made))
)
"""Events that say where they stand."""
