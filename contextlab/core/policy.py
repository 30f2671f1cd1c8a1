"""Policy documents: what a view of a session is computed with, and what a live agent's memory is kept by.

A document is a JSON or TOML shaped dict:

    {"version": 1, "name": ..., "mode": "safe", "projector": {"kind": "default", ...options},
     "compaction": {"kind": "rule_based", ...options}, "trigger": {"kind": "items", ...options}, "require_gain": true}

| key            | without it                                                                                   |
|----------------|----------------------------------------------------------------------------------------------|
| `projector`    | `default` without limits: everything is kept                                                  |
| `compaction`   | `none`: memory is never replaced                                                              |
| `trigger`      | the compaction policy says itself when it is due                                              |
| `require_gain` | true: a compaction that does not make memory smaller is not committed                         |

Keys that are not known are errors that name the key and its place; keys are only ever added.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeVar

from contextlab.core.budget import Mode
from contextlab.core.compaction import CompactPolicy, Decision, Deps, Snapshot, Trigger
from contextlab.core.documents.options import read_mode, refuse_unknown
from contextlab.core.errors import PolicyError, UnknownNameError
from contextlab.core.projection import Projector
from contextlab.core.registry import POLICIES, PROJECTORS, TRIGGERS, Registry

VERSION = 1
LONGEST_NAME = 80
KEYS = ("version", "name", "mode", "projector", "compaction", "trigger", "require_gain")
NONE = "none"
"""As the kind of a compaction: there is none."""
LARGEST = 2**53 - 1
"""Numbers up to it are the same in every language that reads JSON."""
DEEPEST = 12
"""Levels of objects and lists in a document."""
Made = TypeVar("Made")


@dataclass(slots=True, frozen=True)
class Policy:
    """A policy ready for use. `hash` identifies what it does: its name is not part of it."""

    name: str
    mode: Mode
    projector: Projector
    document: Mapping[str, object]
    hash: str
    compaction: CompactPolicy | None = None
    trigger: Trigger | None = None
    require_gain: bool = True

    @property
    def needs_model(self) -> bool:
        """Whether its compaction asks a model."""
        return self.compaction is not None and bool(self.compaction.needs_model)

    def decide(self, snapshot: Snapshot, deps: Deps) -> Decision:
        """Whether a compaction is due: as the trigger says, without one as the compaction policy says itself."""
        if self.compaction is None:
            return Decision(False, NONE)
        return (
            self.compaction.should_compact(snapshot)
            if self.trigger is None
            else self.trigger.decide(snapshot, deps)
        )


def parse_policy(document: Mapping[str, object]) -> Policy:
    """Read a policy document; raises PolicyError, whose `place` is the key that is wrong."""
    if not isinstance(document, Mapping):
        raise PolicyError(f"a policy is an object with keys, not {type(document).__name__}")
    _refuse_strange_values(document)
    refuse_unknown(document, KEYS, "")
    version = document.get("version")
    if version != VERSION or isinstance(version, bool):
        raise PolicyError(f"must be {VERSION}, not {version!r}", "version")
    name = read_name(document.get("name"))
    require_gain = document.get("require_gain", True)
    if not isinstance(require_gain, bool):
        raise PolicyError("must be true or false", "require_gain")
    mode = read_mode(document.get("mode", "safe"))
    projector = read_part(document.get("projector", {"kind": "default"}), mode, "projector", PROJECTORS)
    return Policy(
        name, mode, projector, MappingProxyType(dict(document)), policy_hash(document),
        _compaction(document, mode), _trigger(document, mode), require_gain,
    )  # fmt: skip


def read_name(name: object) -> str:
    """A policy's name; raises PolicyError."""
    if not isinstance(name, str) or not name.strip():
        raise PolicyError("must be a non-empty text", "name")
    if len(name) > LONGEST_NAME or not name.isprintable():
        raise PolicyError(f"must be at most {LONGEST_NAME} characters on one line", "name")
    return name


def policy_hash(document: Mapping[str, object]) -> str:
    """sha256 (hex) of what the document says, whatever the order of its keys and without its name."""
    said: dict[str, object] = {"version": VERSION, "mode": document.get("mode", "safe")}
    said["projector"] = _given(document.get("projector", {"kind": "default"}))
    # What has no effect is left out, so that it is the same policy with and without it.
    compaction = _given(document.get("compaction"))
    if compaction not in (None, {"kind": NONE}):
        said |= {"compaction": compaction, "trigger": _given(document.get("trigger"))}
        said["require_gain"] = document.get("require_gain", True)
    text = json.dumps(said, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def read_part(
    options: object, mode: str, key: str, registry: Registry[type[Made]], place: str | None = None
) -> Made:
    """The plug-in that an object with a kind describes; raises PolicyError.

    `key` is the place that the plug-in gives in its errors; `place` the true one, where it stands deeper.
    """
    place = key if place is None else place
    if not isinstance(options, Mapping):
        raise PolicyError("must be an object with a kind", place)
    kind = options.get("kind")
    if not isinstance(kind, str):
        raise PolicyError(f"must name a {registry.what}", f"{place}.kind")
    try:
        plugin: Any = registry.get(kind)
    except UnknownNameError as error:
        raise PolicyError(str(error), f"{place}.kind") from error
    given = {name: value for name, value in options.items() if name != "kind"}
    make: Callable[[Mapping[str, object], str], Made] = plugin.from_options
    return _made(make, given, mode, (key, place))


def _made(
    make: Callable[[Mapping[str, object], str], Made],
    given: Mapping[str, object],
    mode: str,
    places: tuple[str, str],
) -> Made:
    key, place = places
    try:
        return make(given, mode)
    except PolicyError as error:
        if key == place:
            raise
        message = str(error).removeprefix(f"{error.place}: ")
        raise PolicyError(message, place + error.place.removeprefix(key)) from error
    except Exception as error:  # a plug-in's own check: whatever it raises, the document is what is wrong
        raise PolicyError(f"cannot be used: {error}", place) from error


def _compaction(document: Mapping[str, object], mode: Mode) -> CompactPolicy | None:
    options = document.get("compaction")
    if options is None:
        return None
    if isinstance(options, Mapping) and options.get("kind") == NONE:
        refuse_unknown(options, ("kind",), "compaction")
        return None
    return read_part(options, mode, "compaction", POLICIES)


def _trigger(document: Mapping[str, object], mode: Mode) -> Trigger | None:
    options = document.get("trigger")
    return None if options is None else read_part(options, mode, "trigger", TRIGGERS)


def _given(options: object) -> object:
    """Options without those that are null, which say nothing."""
    if isinstance(options, Mapping):
        return {key: value for key, value in options.items() if value is not None}
    return options


def _refuse_strange_values(value: object, place: str = "", depth: int = 0) -> None:
    """Raise PolicyError at what JSON cannot hold (TOML has dates and infinities) and no database stores."""
    if depth > DEEPEST:
        raise PolicyError(f"is nested more than {DEEPEST} levels deep", place)
    if isinstance(value, str):
        if "\x00" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
            raise PolicyError("holds a character that no text can have", place)
    elif isinstance(value, Mapping):
        for key, one in value.items():
            _refuse_strange_values(str(key), place)
            _refuse_strange_values(one, f"{place}.{key}" if place else str(key), depth + 1)
    elif isinstance(value, list | tuple):
        for number, one in enumerate(value):
            _refuse_strange_values(one, f"{place}[{number}]", depth + 1)
    elif value is not None and not isinstance(value, bool | int | float):
        raise PolicyError(f"must not be of type {type(value).__name__}", place)
    elif isinstance(value, int | float) and not abs(value) <= LARGEST:
        raise PolicyError(f"must be a number of at most {LARGEST:,}", place)


def _document(name: str, **projector: object) -> Mapping[str, object]:
    return MappingProxyType({"version": VERSION, "name": name, "mode": "safe", "projector": projector})


BUILTINS: Mapping[str, Mapping[str, object]] = MappingProxyType(
    {
        "keep-all": _document("keep-all", kind="default"),
        "last-n": _document("last-n", kind="default", max_items=50, pinned_prefix_items=1),
        "type-aware": _document(
            "type-aware", kind="type_aware", max_recent_tool_results=5, trim_old_reasoning=True
        ),
        "token-budget": _document("token-budget", kind="default", max_tokens=60_000, pinned_prefix_items=1),
    }
)
"""The policies that come with the package, by name; more that reproduce other systems stand in presets.py."""


def builtin(name: str) -> Policy:
    """A built-in policy or a preset; raises UnknownNameError, which lists them."""
    from contextlab.core.documents.presets import PRESETS  # written in terms of this module

    if name in BUILTINS:
        return parse_policy(BUILTINS[name])
    if name in PRESETS:
        return parse_policy(PRESETS[name].document)
    raise UnknownNameError("policy", name, (*BUILTINS, *PRESETS))
