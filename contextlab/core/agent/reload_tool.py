"""The tool by which a model fetches back what was put aside: an id in, a text out, never an exception.

tool = ReloadTool(store)
tools = [{"type": "function", "function": tool.schema}]
text = tool.answer(call.function.arguments)
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from contextlab.core.items import KINDS, Item
from contextlab.core.offload import OffloadStore

RELOAD_TOOL = "context_reload"
PARAMETER = "working_context_offload_uuid"
NO_STORE = "Nothing can be reloaded: this agent has no store for originals."
NO_ID = f"Nothing was reloaded: {PARAMETER} is empty. Give the ID that stands in the mark."
UNKNOWN = "Nothing is stored under the ID {}. Check that it is copied exactly from the mark."
_LIKE_A_LABEL = tuple(f"[{kind}" for kind in KINDS)
FAILED = "The original under the ID {} could not be read ({}). Go on with what you have, or try again later."


class ReloadTool:
    """Gives originals back as text."""

    name = RELOAD_TOOL

    def __init__(self, store: OffloadStore | None) -> None:
        """`store` is where the originals were put; without one every call says so."""
        self._store = store

    @property
    def schema(self) -> dict[str, Any]:
        """Name, description and the JSON Schema of the parameters."""
        return {
            "name": RELOAD_TOOL,
            "description": (
                "Returns the full original of a message that was shortened. Use it when the preview or the summary"
                " does not say what you need."
            ),
            "parameters": {
                "type": "object",
                "properties": {
                    PARAMETER: {
                        "type": "string",
                        "description": "The ID in the mark CONTEXT_OFFLOAD at the end of the shortened message.",
                    }
                },
                "required": [PARAMETER],
                "additionalProperties": False,
            },
        }

    def call(self, offload_id: object) -> str:
        """The originals as text (one alone: exactly its text), or a text that says why there are none."""
        if self._store is None:
            return NO_STORE
        if not isinstance(offload_id, str) or not offload_id.strip():
            return NO_ID
        name = offload_id.strip()
        try:
            items = self._store.get(name)
            return originals_as_text(items) if items else UNKNOWN.format(name)
        except Exception as error:  # whatever a store raises, the model gets an answer and the agent goes on
            return FAILED.format(name, type(error).__name__)

    def answer(self, arguments: str | Mapping[str, object]) -> str:
        """The answer to a call with these arguments: an object, or its JSON text."""
        try:
            given = json.loads(arguments) if isinstance(arguments, str) else arguments
        except (ValueError, RecursionError):
            return NO_ID
        return self.call(given.get(PARAMETER) if isinstance(given, Mapping) else None)


def originals_as_text(items: Sequence[Item]) -> str:
    """Originals for a model to read: each under a line that says what it is; one alone without it.

    A line of a text that looks like such a line is indented.
    """
    if len(items) == 1:
        return items[0].text
    return "\n\n".join(f"{_label(item)}\n{_without_labels(item.text)}" for item in items)


def _label(item: Item) -> str:
    named = " ".join(f"{item.tool or ''} {item.call_id or ''}".split())
    return f"[{item.kind}: {named}]" if named else f"[{item.kind}]"


def _without_labels(text: str) -> str:
    lines = text.splitlines(keepends=True)
    return "".join(f"  {line}" if line[:20].lower().startswith(_LIKE_A_LABEL) else line for line in lines)
