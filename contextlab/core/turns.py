"""Turns of a memory: where one begins, whether it is completed, and what is left of it when it is folded.

| word      | rule                                                                                                 |
|-----------|------------------------------------------------------------------------------------------------------|
| message   | neighbours of one entry; system items, summaries and what only the person saw are none               |
| turn      | begins at a message with a person's prompt and without a tool result                                 |
| head      | the messages before the first turn                                                                   |
| answer    | the assistant's last message of a turn, if it calls nothing and says something (reference: may be "") |
| completed | a turn with an answer                                                                                |
| waiting   | a turn in which a call has no result yet                                                             |
| folded    | question and answer, the reasoning before the answer, what a person pinned or said in between        |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contextlab.core.items import Injected, Item, Kind
from contextlab.core.projection import is_prompt

Message = tuple[int, ...]
"""The indices of an entry's items."""

NO_MESSAGE = frozenset({Kind.SYSTEM, Kind.SUMMARY, Kind.UI})
_BY_ASSISTANT = frozenset({Kind.ASSISTANT, Kind.REASONING, Kind.TOOL_CALL})
_TOOLS = frozenset({Kind.TOOL_CALL, Kind.TOOL_RESULT})
_SAID_IN_BETWEEN = frozenset({Injected.QUEUED, Injected.MIDTURN})


@dataclass(slots=True, frozen=True)
class Turn:
    """One turn: its messages, as indices into `items`."""

    items: Sequence[Item]
    messages: tuple[Message, ...]

    def indices(self) -> list[int]:
        """The indices of its items, in order."""
        return [index for message in self.messages for index in message]

    def has_tools(self) -> bool:
        """Whether a call or a result stands in it."""
        return any(self.items[index].kind in _TOOLS for index in self.indices())

    def waits(self) -> bool:
        """Whether a call that needs a result has none in it."""
        inside = [self.items[index] for index in self.indices()]
        answered = {item.call_id for item in inside if item.kind == Kind.TOOL_RESULT}
        return any(_needs_result(item) and item.call_id not in answered for item in inside)

    def answer(self, safe: bool = True) -> int | None:
        """The number of its answer among its messages."""
        for number in range(len(self.messages) - 1, -1, -1):
            parts = [self.items[index] for index in self.messages[number]]
            if any(part.kind in _BY_ASSISTANT for part in parts):
                return number if _answers(parts, safe) else None
        return None

    def completed(self, safe: bool = True) -> bool:
        """Whether it has an answer."""
        return self.answer(safe) is not None

    def folded(self, safe: bool = True) -> list[int]:
        """The indices that are left of it when it is folded; all of them where it is not completed."""
        answer = self.answer(safe)
        if answer is None:
            return self.indices()
        first = answer
        while first > 1 and self._is_reasoning(first - 1):
            first -= 1
        whole = {0, *range(first, answer + 1)}
        return [
            index
            for number, message in enumerate(self.messages)
            for index in message
            if number in whole or (safe and _stays(self.items[index]))
        ]

    def _is_reasoning(self, number: int) -> bool:
        return all(self.items[index].kind == Kind.REASONING for index in self.messages[number])


def split_turns(items: Sequence[Item]) -> tuple[list[Message], list[Turn]]:
    """The head and the turns of a memory, in order."""
    head: list[Message] = []
    turns: list[list[Message]] = []
    for message in messages_of(items):
        if _opens(items, message):
            turns.append([message])
        else:
            (turns[-1] if turns else head).append(message)
    return head, [Turn(items, tuple(messages)) for messages in turns]


def messages_of(items: Sequence[Item]) -> list[Message]:
    """The messages of a memory, in order."""
    messages: list[list[int]] = []
    for index, item in enumerate(items):
        if item.kind in NO_MESSAGE:
            continue
        if messages and items[messages[-1][-1]].entry == item.entry:
            messages[-1].append(index)
        else:
            messages.append([index])
    return [tuple(message) for message in messages]


def count_messages(items: Sequence[Item], indices: Sequence[int]) -> int:
    """How many messages these items are."""
    return len(messages_of([items[index] for index in indices]))


def has_text(item: Item) -> bool:
    """Whether an item says something: its text is not blank, or has a size where the text is not at hand."""
    return bool(item.text.strip()) if item.text else item.chars > 0


def _opens(items: Sequence[Item], message: Message) -> bool:
    parts = [items[index] for index in message]
    return any(map(is_prompt, parts)) and all(part.kind != Kind.TOOL_RESULT for part in parts)


def _answers(parts: Sequence[Item], safe: bool) -> bool:
    if any(map(_needs_result, parts)):
        return False
    if not safe:
        return True
    return any(part.kind == Kind.ASSISTANT and has_text(part) for part in parts)


def _needs_result(item: Item) -> bool:
    return item.kind == Kind.TOOL_CALL and item.needs_result


def _stays(item: Item) -> bool:
    return item.pinned or item.injected in _SAID_IN_BETWEEN
