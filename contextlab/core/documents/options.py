"""Options of policy documents: names, types, and errors that say which key is wrong.

Where a plug-in reads an option, it declares it: `declared_options` notes what is read, for the published schema.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from contextlab.core.budget import Budget, Mode
from contextlab.core.errors import PolicyError

LIMITS = (
    "max_items",
    "max_approx_chars",
    "max_tokens",
    "pinned_prefix_items",
    "pair_guard",
    "drop_unanswered_calls",
)
TIERS = ("max_recent_tool_results", "trim_old_reasoning")
_SWITCHES = {"pair_guard", "drop_unanswered_calls", "trim_old_reasoning"}
_PLACE = "projector"


@dataclass(slots=True)
class Declared:
    """The options that a plug-in was seen to read, each as a fragment of JSON Schema (empty: anything)."""

    place: str | None = None
    """Where they stand; None while nothing was read."""
    options: dict[str, dict[str, Any]] = field(default_factory=dict)
    required: list[str] = field(default_factory=list)

    def allow(self, names: Sequence[str], place: str) -> None:
        """These names are known there; the first place counts, options of nested plug-ins are theirs."""
        self.place = place if self.place is None else self.place
        if place == self.place:
            self.options |= {name: {} for name in names if name not in self.options}

    def note(self, name: str, place: str, schema: dict[str, Any]) -> None:
        """What an option takes."""
        if place == self.place:
            self.options[name] = schema


_watching: ContextVar[Declared | None] = ContextVar("watching", default=None)


def declared_options(read: Callable[[Mapping[str, object]], object]) -> Declared | None:
    """What `read` (a plug-in's from_options) asks for; None where it does not read by this module."""
    with _watch() as declared:
        try:
            read({})
        except Exception:  # a plug-in may refuse to be made of nothing; what it read until then is known
            return declared if declared.place is not None else None
    return declared if declared.place is not None else None


@contextmanager
def _watch() -> Iterator[Declared]:
    declared = Declared()
    token = _watching.set(declared)
    try:
        yield declared
    finally:
        _watching.reset(token)


def _note(name: str, place: str, schema: dict[str, Any]) -> None:
    if (declared := _watching.get()) is not None:
        declared.note(name, place, schema)


def read_budget(
    options: Mapping[str, object], allowed: tuple[str, ...], mode: str, place: str = _PLACE
) -> Budget:
    """The budget that a projector's options describe; raises PolicyError at the first key or value that is wrong."""
    refuse_unknown(options, allowed, place)
    for name in allowed:
        _note(name, place, {"type": "boolean"} if name in _SWITCHES else {"type": ["integer", "null"]})
    numbers: dict[str, int] = {}
    switches: dict[str, bool] = {}
    for name, value in options.items():
        if name in _SWITCHES:
            switches[name] = _switch(value, f"{place}.{name}")
        elif value is not None:
            numbers[name] = _number(value, f"{place}.{name}")
    # Numbers and switches share one keyword call; which goes where was checked just above.
    given: dict[str, Any] = {**numbers, **switches}
    return Budget(**given, mode=read_mode(mode))


class Options:
    """A plug-in's options, read one by one: types are checked, and an error names the key with its place."""

    def __init__(self, options: Mapping[str, object], allowed: tuple[str, ...], place: str) -> None:
        """`place` is where they stand in the document (`compaction`); a key not allowed there is refused at once."""
        refuse_unknown(options, allowed, place)
        self._options = options
        self._place = place

    def number(self, name: str, default: int, *, least: int = 0) -> int:
        """A whole number of at least `least`; null is the default."""
        value = self.limit(name, default)
        value = default if value is None else value
        self._note(name, {"type": ["integer", "null"], "minimum": least, "default": default})
        if value < least:
            raise PolicyError(f"must be at least {least}, not {value}", self.place(name))
        return value

    def required(self, name: str, *, least: int = 0) -> int:
        """A whole number of at least `least` that must be given."""
        if (declared := _watching.get()) is not None:
            self._note(name, {"type": "integer", "minimum": least})
            declared.required += [name] if declared.place == self._place else []
            return max(least, 1)
        if self._options.get(name) is None:
            raise PolicyError("must be given", self.place(name))
        return self.number(name, least, least=least)

    def limit(self, name: str, default: int | None = None) -> int | None:
        """A whole number or null."""
        self._note(name, {"type": ["integer", "null"], "default": default})
        value = self._options.get(name, default)
        return None if value is None else _number(value, self.place(name))

    def share(self, name: str, default: float) -> float:
        """A number between 0 and 1."""
        self._note(name, {"type": "number", "minimum": 0, "maximum": 1, "default": default})
        value = self._options.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise PolicyError(f"must be a number from 0 to 1, not {value!r}", self.place(name))
        return float(value)

    def switch(self, name: str, default: bool) -> bool:
        """True or false."""
        self._note(name, {"type": "boolean", "default": default})
        return _switch(self._options.get(name, default), self.place(name))

    def text(self, name: str, default: str) -> str:
        """A text."""
        self._note(name, {"type": "string", "default": default})
        value = self._options.get(name, default)
        if not isinstance(value, str):
            raise PolicyError(f"must be a text, not {value!r}", self.place(name))
        return value

    def choice(self, name: str, default: str, choices: Sequence[str]) -> str:
        """One of a few words."""
        value = self.text(name, default)
        self._note(name, {"enum": list(choices), "default": default})
        if value not in choices:
            raise PolicyError(f"must be one of {', '.join(choices)}, not {value!r}", self.place(name))
        return value

    def objects(self, name: str) -> list[Mapping[str, object]]:
        """A list of objects, at least one."""
        if (declared := _watching.get()) is not None:
            self._note(name, {"type": "array", "items": {"type": "object"}, "minItems": 1})
            declared.required += [name] if declared.place == self._place else []
            return []
        value = self._options.get(name)
        if (
            not isinstance(value, list | tuple)
            or not value
            or not all(isinstance(one, Mapping) for one in value)
        ):
            raise PolicyError("must be a list of objects, at least one", self.place(name))
        return list(value)

    def place(self, name: str) -> str:
        """The place of a key in the document."""
        return f"{self._place}.{name}" if self._place else name

    def _note(self, name: str, schema: dict[str, Any]) -> None:
        _note(name, self._place, schema)


def read_mode(value: object) -> Mode:
    """The document's mode."""
    if value == "safe":
        return "safe"
    if value == "reference":
        return "reference"
    raise PolicyError(f"must be 'safe' or 'reference', not {value!r}", "mode")


def refuse_unknown(options: Mapping[str, object], allowed: tuple[str, ...], place: str) -> None:
    """Raise PolicyError at the first key that is not allowed there."""
    if (declared := _watching.get()) is not None:
        declared.allow(allowed, place)
    for name in options:
        if name not in allowed:
            where = f"{place}.{name}" if place else str(name)
            raise PolicyError(f"unknown key (known: {', '.join(sorted(allowed))})", where)


def _number(value: object, place: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise PolicyError(f"must be a whole number or null, not {value!r}", place)
    return value


def _switch(value: object, place: str) -> bool:
    if not isinstance(value, bool):
        raise PolicyError(f"must be true or false, not {value!r}", place)
    return value
