"""Decisions that an agent made in its own process, told beside its events: `{"type": "decision", "step": 3, ...}`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from contextlab.core.compaction import Decision
from contextlab.core.replaying.decisions import OUTCOMES, QUEUED

LARGEST = 2**31 - 1
KEYS = frozenset({"type", "id", "ts", "step", "outcome", "reason", "rule", "estimate", "threshold"})


@dataclass(frozen=True, slots=True)
class Told:
    """A decision, or the reason why a line is none."""

    step: int = 0
    outcome: str = ""
    reason: str = ""
    decision: Decision | None = None
    refused: str = ""


def read_told(line: bytes) -> Told | None:
    """The decision that a line tells; None for a line of another type."""
    if b'"decision"' not in line:
        return None
    try:
        value = msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    if not isinstance(value, dict) or value.get("type") != "decision":
        return None
    return _read(value)


def _read(value: dict[str, Any]) -> Told:
    if unknown := sorted(set(value) - KEYS):
        return Told(refused=f"{unknown[0][:80]}: not known")
    step, outcome = value.get("step"), value.get("outcome")
    if not isinstance(step, int) or not _is_number(step, 1):
        return Told(refused="step: must be a whole number from 1")
    if outcome not in OUTCOMES or outcome == QUEUED:
        return Told(
            refused=f"outcome: must be one of {', '.join(name for name in OUTCOMES if name != QUEUED)}"
        )
    for name in ("estimate", "threshold"):
        if value.get(name) is not None and not _is_number(value[name], 0):
            return Told(refused=f"{name}: must be a whole number")
    for name in ("rule", "reason"):
        if not isinstance(value.get(name, ""), str):
            return Told(refused=f"{name}: must be a text")
    rule = value.get("rule", "").replace("\x00", "\ufffd")
    decision = Decision(outcome != "not_due", rule, value.get("estimate"), value.get("threshold"))
    return Told(step, outcome, value.get("reason", ""), decision)


def _is_number(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= LARGEST
