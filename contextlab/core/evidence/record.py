"""The items of memory as evidence is read from them: calls with their results, prompts, answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from contextlab.core.call_arguments import arguments_of
from contextlab.core.items import Injected, Item, Kind
from contextlab.core.measuring.memory_size import without_ui
from contextlab.core.projection import NONE, is_prompt, pair_up

_SPOKEN = (Injected.QUEUED, Injected.MIDTURN)
"""What a person said while the agent worked: theirs, though it begins no turn."""


@dataclass(slots=True, frozen=True)
class Call:
    """A tool call with its result; `arguments` is empty where they are no JSON object."""

    item: Item
    result: Item | None
    arguments: Mapping[str, Any]

    @property
    def tool(self) -> str:
        """Its tool's name, empty where it has none."""
        return self.item.tool or ""

    @property
    def output(self) -> str:
        """The result's text."""
        return self.result.text if self.result is not None else ""

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of call and result."""
        return (self.item.id,) if self.result is None else (self.item.id, self.result.id)

    @property
    def failed(self) -> bool:
        """Whether the result is marked as an error."""
        return self.result is not None and self.result.error is True

    def text(self, *names: str) -> str:
        """The first of these arguments that is a text, else an empty one."""
        return next((value for name in names if isinstance(value := self.arguments.get(name), str)), "")


class Record:
    """All items of a memory, in order."""

    def __init__(self, items: Sequence[Item]) -> None:
        """Items of kind `ui` say nothing."""
        self.items = without_ui(items)

    @cached_property
    def calls(self) -> list[Call]:
        """Every call with its result, in order."""
        pairs = pair_up(self.items)
        return [
            Call(item, None if pairs[index] == NONE else self.items[pairs[index]], arguments_of(item.text))
            for index, item in enumerate(self.items)
            if item.kind == Kind.TOOL_CALL
        ]

    @cached_property
    def said(self) -> list[Item]:
        """What a person said: prompts, and words sent while the agent worked."""
        return [item for item in self.items if spoken(item)]

    def talk(self) -> Iterator[Item]:
        """What was said by either side, in order."""
        for item in self.items:
            if spoken(item) or (item.kind == Kind.ASSISTANT and item.text.strip()):
                yield item


def spoken(item: Item) -> bool:
    """Whether these are a person's words."""
    if not item.text.strip():
        return False
    return is_prompt(item) or (item.kind == Kind.USER and item.injected in _SPOKEN)
