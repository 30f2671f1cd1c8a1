"""How large a message is, by the measure that the thresholds and the gain go by.

| part of a message                                      | tokens                        |
|--------------------------------------------------------|-------------------------------|
| a text: role, name, text, tool, call id, arguments     | characters / 2.5, rounded up  |
| the message itself                                     | 5                             |
| a call                                                 | 10                            |
| a result                                               | 8                             |
| anything else (reasoning, images)                      | 5                             |
"""

from __future__ import annotations

from collections.abc import Iterable

from contextlab.core.auto_context.messages import Message
from contextlab.core.items import Item, Kind

_TEXTS = frozenset({Kind.SYSTEM, Kind.USER, Kind.ASSISTANT, Kind.SUMMARY})
_ROLES = {Kind.SYSTEM: "system", Kind.USER: "user", Kind.TOOL_RESULT: "tool"}


def message_tokens(message: Message) -> int:
    """The estimate of a message."""
    if message.kinds == {Kind.UI}:
        return 0
    role = _ROLES.get(message.items[0].kind, "assistant")
    name = message.tools[0] if role == "tool" else role
    parts = sum(_item_tokens(item, tool) for item, tool in zip(message.items, message.tools, strict=True))
    return 5 + text_tokens(len(role)) + text_tokens(len(name)) + parts


def tokens_of(messages: Iterable[Message]) -> int:
    """The estimate of messages, 0 for none."""
    return sum(map(message_tokens, messages))


def message_chars(message: Message) -> int:
    """Characters of all its blocks: texts, and of calls and results the tool's name and the call's id as well."""
    return sum(_item_chars(item, tool) for item, tool in zip(message.items, message.tools, strict=True))


def text_tokens(chars: int) -> int:
    """The estimate of a text of so many characters."""
    return -(-2 * chars // 5)


def text_size(item: Item) -> int:
    """Code points of an item's text; its known size where the text is not at hand."""
    return len(item.text) if item.text or item.kind == Kind.TOOL_CALL else item.chars


def _item_tokens(item: Item, tool: str) -> int:
    others = 5 * len(item.media)
    if item.kind in _TEXTS:
        return others + text_tokens(text_size(item))
    if item.kind == Kind.TOOL_CALL:
        arguments = max(0, item.chars - len(tool))
        return others + 10 + text_tokens(len(tool)) + text_tokens(_id(item)) + text_tokens(arguments)
    if item.kind == Kind.TOOL_RESULT:
        return others + 8 + text_tokens(len(tool)) + text_tokens(_id(item)) + text_tokens(text_size(item))
    return others + (5 if item.kind == Kind.REASONING else 0)


def _item_chars(item: Item, tool: str) -> int:
    if item.kind == Kind.TOOL_CALL:
        return max(len(tool), item.chars) + _id(item)
    if item.kind == Kind.TOOL_RESULT:
        return text_size(item) + len(tool) + _id(item)
    return text_size(item) if item.kind in _TEXTS else 0


def _id(item: Item) -> int:
    return len(item.call_id or "")
