"""Memories for tests, written as a talk: who says what, calls with their results."""

from __future__ import annotations

import json
from typing import Any

from contextlab.core.items import Injected, Item, Kind


class Talk:
    """Collects items; ids are u1, a1, c1, r1 ... by who speaks."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self._counts: dict[str, int] = {}

    def user(self, text: str, injected: Injected | None = None) -> Talk:
        """A person's words, or text that was injected as theirs."""
        return self._add("u", Kind.USER, text, injected=injected, opens_turn=injected is None)

    def says(self, text: str) -> Talk:
        """The assistant's words."""
        return self._add("a", Kind.ASSISTANT, text)

    def system(self, text: str) -> Talk:
        """A system item."""
        return self._add("s", Kind.SYSTEM, text)

    def call(
        self, tool: str, result: str | None = "done", error: bool | None = None, **arguments: Any
    ) -> Talk:
        """A call with its result (None: it has none)."""
        return self.raw(tool, json.dumps(arguments), result, error)

    def raw(self, tool: str, arguments: str, result: str | None = "done", error: bool | None = None) -> Talk:
        """A call whose arguments are given as text."""
        number = self._counts.get("c", 0) + 1
        self._add("c", Kind.TOOL_CALL, arguments, tool=tool, call_id=f"call-{number}")
        if result is not None:
            self._add("r", Kind.TOOL_RESULT, result, call_id=f"call-{number}", error=error)
        return self

    def shell(self, command: str, result: str = "", error: bool | None = None, **arguments: Any) -> Talk:
        """A shell command."""
        return self.call("Bash", result, error, command=command, **arguments)

    def _add(self, who: str, kind: Kind, text: str, **fields: Any) -> Talk:
        self._counts[who] = self._counts.get(who, 0) + 1
        self.items.append(Item(f"{who}{self._counts[who]}", kind, text, **fields))
        return self
