"""Options of policy documents: names, types, and errors that say which key is wrong."""

from __future__ import annotations

from collections.abc import Mapping
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


def read_budget(options: Mapping[str, object], allowed: tuple[str, ...], mode: str) -> Budget:
    """The budget that a projector's options describe; raises PolicyError at the first key or value that is wrong."""
    refuse_unknown(options, allowed, _PLACE)
    numbers: dict[str, int] = {}
    switches: dict[str, bool] = {}
    for name, value in options.items():
        if name in _SWITCHES:
            switches[name] = _switch(value, f"{_PLACE}.{name}")
        elif value is not None:
            numbers[name] = _number(value, f"{_PLACE}.{name}")
    # Numbers and switches share one keyword call; which goes where was checked just above.
    given: dict[str, Any] = {**numbers, **switches}
    return Budget(**given, mode=read_mode(mode))


def read_mode(value: object) -> Mode:
    """The document's mode."""
    if value == "safe":
        return "safe"
    if value == "reference":
        return "reference"
    raise PolicyError(f"must be 'safe' or 'reference', not {value!r}", "mode")


def refuse_unknown(options: Mapping[str, object], allowed: tuple[str, ...], place: str) -> None:
    """Raise PolicyError at the first key that is not allowed there."""
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
