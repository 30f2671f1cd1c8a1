"""Memory as messages: the entries of a list of items, with what the strategies ask of one.

| word     | rule in safe mode                                                | reference mode                    |
|----------|------------------------------------------------------------------|-----------------------------------|
| tool     | a call or a result is in it                                      | the same                          |
| question | a person's words are in it, at a turn's start or in its middle   | any user message                  |
| answer   | assistant text that calls nothing                                | any assistant message without tools |
| idle     | nothing but reasoning, or what only the person saw               | there are none                    |
| fixed    | a system item or a pin is in it, or the other one of its pair    | there are none                    |
| pending  | a call of the last batch that has no result yet                  | not looked at                     |

Summaries that strategies 1, 4 and 6 made are items of kind `summary`: no answers. In reference mode those of 1 and 4
are assistant messages and therefore answers, as in the original.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from contextlab.core.auto_context.tags import offload_of
from contextlab.core.items import Injected, Item, Kind
from contextlab.core.projection import NONE, is_prompt, pair_up

_ASSISTANT = frozenset({Kind.ASSISTANT, Kind.REASONING, Kind.TOOL_CALL})
_IDLE = frozenset({Kind.REASONING, Kind.UI})
_TOOL = frozenset({Kind.TOOL_CALL, Kind.TOOL_RESULT})
_PERSONS = frozenset({Injected.QUEUED, Injected.MIDTURN})


@dataclass(frozen=True)
class Message:
    """The items of one entry. `tools` names the tool of each call and result, also where only the call says it."""

    items: tuple[Item, ...]
    tools: tuple[str, ...]
    safe: bool = True
    fixed: bool = False

    @property
    def id(self) -> str:
        """The entry's id."""
        return self.items[0].entry

    @cached_property
    def kinds(self) -> frozenset[Kind]:
        """The kinds of its items."""
        return frozenset(item.kind for item in self.items)

    @property
    def is_tool(self) -> bool:
        """Whether a call or a result is in it."""
        return not self.kinds.isdisjoint(_TOOL) and not self.is_answer

    @property
    def has_calls(self) -> bool:
        """Whether it calls a tool."""
        return Kind.TOOL_CALL in self.kinds

    @property
    def has_results(self) -> bool:
        """Whether it brings results."""
        return Kind.TOOL_RESULT in self.kinds

    @property
    def is_idle(self) -> bool:
        """Whether nothing is in it that anybody said or did."""
        return self.safe and self.kinds <= _IDLE

    @cached_property
    def is_question(self) -> bool:
        """Whether a person speaks in it."""
        if not self.safe:
            return self.items[0].kind == Kind.USER
        return any(item.kind == Kind.USER and _by_person(item) for item in self.items)

    @cached_property
    def is_answer(self) -> bool:
        """Whether it ends a round."""
        if Kind.ASSISTANT not in self.kinds or self.has_results:
            return False
        if not self.safe:
            return not self.has_calls
        calls = any(item.kind == Kind.TOOL_CALL and item.needs_result for item in self.items)
        return not calls and any(item.kind == Kind.ASSISTANT and item.chars > 0 for item in self.items)

    @cached_property
    def compressed(self) -> bool:
        """Whether a part of it stands for originals that were put aside."""
        return any(offload_of(item.text) is not None for item in self.items)


@dataclass(slots=True)
class View:
    """Messages in order, with their pairs. It does not change; a changed memory gets a new view."""

    messages: list[Message]
    safe: bool = True
    _partners: list[list[int]] = field(default_factory=list)
    """By message: the messages with the other ones of its pairs; len(messages) stands for a pending result."""

    @classmethod
    def of(cls, items: Sequence[Item], safe: bool = True, fixed: frozenset[str] = frozenset()) -> View:
        """The view of a memory; `fixed` holds ids of items that must stay as they are."""
        pairs = pair_up(items)
        starts = [i for i in range(len(items)) if i == 0 or items[i].entry != items[i - 1].entry]
        view = cls([], safe, [[] for _ in starts])
        place_of: list[int] = []
        for place, (start, end) in enumerate(zip(starts, [*starts, len(items)][1:], strict=True)):
            part = tuple(items[start:end])
            tools = tuple(_tool(items, index, pairs) for index in range(start, end))
            view.messages.append(Message(part, tools, safe, any(item.id in fixed for item in part)))
            place_of += [place] * len(part)
        view._pair(items, pairs, place_of)
        return view

    def __len__(self) -> int:
        """How many messages."""
        return len(self.messages)

    def seen_by_model(self) -> int:
        """How many messages hold something that is not for the person only."""
        return sum(any(item.kind != Kind.UI for item in message.items) for message in self.messages)

    def items(self) -> list[Item]:
        """All items."""
        return [item for message in self.messages for item in message.items]

    def last(self, *, question: bool) -> int:
        """The last question, or the last answer; NONE without one."""
        for place in range(len(self.messages) - 1, -1, -1):
            message = self.messages[place]
            if message.is_question if question else message.is_answer:
                return place
        return NONE

    def is_pending(self, place: int) -> bool:
        """Whether a call of a message still waits for its result."""
        return len(self.messages) in self._partners[place]

    def closed(self, start: int, end: int, *, tools_only: bool = False) -> Iterator[range]:
        """The longest ranges inside of start..end that separate no pair, and no reasoning from what it led to.

        `tools_only`: they begin with a call and end with a tool message.
        """
        while start < end:
            while tools_only and start < end and not self.messages[start].has_calls:
                start += 1
            best = behind = start
            reach = NONE
            for place in range(start, end):
                partners = self._partners[place]
                if any(partner < start for partner in partners):
                    behind = place + 1
                    break
                reach = max(reach, place, *partners)
                message = self.messages[place]
                if reach == place and (message.is_tool if tools_only else not message.is_idle):
                    best = place + 1
            if best > start:
                yield range(start, best)
            start = behind if behind > start else end

    def _pair(self, items: Sequence[Item], pairs: Sequence[int], place_of: Sequence[int]) -> None:
        batch = _last_batch(items)
        for index, partner in enumerate(pairs):
            if partner != NONE:
                self._partners[place_of[index]].append(place_of[partner])
            elif index >= batch and items[index].kind == Kind.TOOL_CALL and items[index].needs_result:
                self._partners[place_of[index]].append(len(self.messages))


def unread_from(items: Sequence[Item]) -> int:
    """Index of the first item of the last batch when it has calls: its results were not answered yet."""
    batch = _last_batch(items)
    return batch if any(item.kind == Kind.TOOL_CALL for item in items[batch:]) else len(items)


def _last_batch(items: Sequence[Item]) -> int:
    """Index of the first thing that the assistant did since it last saw anything new."""
    index = len(items)
    while index > 0 and items[index - 1].kind not in _ASSISTANT:
        index -= 1
    while index > 0 and items[index - 1].kind in _ASSISTANT:
        index -= 1
    return index


def _tool(items: Sequence[Item], index: int, pairs: Sequence[int]) -> str:
    item = items[index]
    if item.kind == Kind.TOOL_RESULT and not item.tool and pairs[index] != NONE:
        return items[pairs[index]].tool or ""
    return item.tool or ""


def _by_person(item: Item) -> bool:
    return is_prompt(item) or item.injected in _PERSONS
