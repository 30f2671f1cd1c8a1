"""A step's context in a provider's own words: to copy, to run again, to hand to an agent.

export(items, "anthropic").document      -> {"system": [...], "messages": [...]}
faults_of(document, "anthropic")         -> [] when the provider would accept it
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from contextlab.core.budget import Mode
from contextlab.core.errors import UnknownNameError
from contextlab.core.wire import anthropic, events, openai_chat, openai_responses
from contextlab.core.wire.conversation import Conversation, ExportItem, Seal, repair

__all__ = ["FORMATS", "SEALED", "Export", "ExportItem", "Seal", "export", "faults_of"]

_Render = Callable[[Conversation], dict[str, Any]]
_Faults = Callable[[dict[str, Any]], list[str]]
_WIRES: dict[str, tuple[_Render, _Faults]] = {
    wire.FORMAT: (wire.render, wire.faults) for wire in (openai_chat, openai_responses, anthropic)
}
FORMATS: dict[str, str] = {
    **{wire.FORMAT: wire.LABEL for wire in (openai_chat, openai_responses, anthropic, events)},
    "json": "JSON",
}
"""Formats by name, with their labels for people."""
SEALED = frozenset({openai_responses.FORMAT, anthropic.FORMAT})
"""Formats that carry reasoning, with the secret that its provider wants back."""


@dataclass(slots=True, frozen=True)
class Export:
    """A context in a format (an object, or a list of lines), and what had to be repaired to make it valid."""

    document: Any
    repairs: list[str]


def export(items: Sequence[ExportItem], format: str, mode: Mode = "safe", session: str = "context") -> Export:
    """The context of a step; `items` are all of its memory in order, left out ones too.

    The providers' formats come out valid (see wire/conversation.py for what is repaired); `contextlab_events` gives
    the lines of a session file of what was sent, `json` every item with its fate. Raises UnknownNameError.
    """
    if format == events.FORMAT:
        return Export(events.lines(items, session), [])
    if format == "json":
        return Export(events.with_fates(items), [])
    render = _wire(format)[0]
    conversation = repair(items, mode)
    return Export(render(conversation), conversation.repairs)


def faults_of(document: dict[str, Any], format: str) -> list[str]:
    """What the provider would refuse about a document of its format, each fault with its place; [] = valid."""
    return _wire(format)[1](document)


def _wire(format: str) -> tuple[_Render, _Faults]:
    if format not in _WIRES:
        raise UnknownNameError("format", format, FORMATS)
    return _WIRES[format]
