"""The memories of reports, read from messages in a provider's format; each message is an entry with its `_id`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from contextlab.core import Item, Kind, LiveItem
from contextlab.core.projection import Projection
from contextlab.core.session import AgentSession

from .reports import given

SPOKEN = {"user": Kind.USER, "assistant": Kind.ASSISTANT, "system": Kind.SYSTEM}


def memory_of(name: str) -> list[Item]:
    """The items of a report. A message of one part has its id, of several `id/0`, `id/1` ..."""
    report = given(name)
    read = {"openai_chat": _chat, "openai_responses": _responses, "anthropic": _anthropic}[report["format"]]
    items: list[Item] = []
    for message in report["items"]:
        parts = list(read(message))
        for number, part in enumerate(parts):
            part.id = message["_id"] if len(parts) == 1 else f"{message['_id']}/{number}"
            part.entry = message["_id"]
            part.pinned = bool(message.get("pinned"))
            items.append(part)
    return items


def session_of(name: str, *arguments: Any, **options: Any) -> AgentSession:
    """A live session with the memory of a report."""
    session = AgentSession(*arguments, **options)
    for item in memory_of(name):
        session.add(item)
    return session


def entries(items: list[Item] | tuple[Item, ...]) -> list[str]:
    """The messages of these items, in order."""
    return list(dict.fromkeys(item.entry for item in items))


def whole(seen: Projection, items: list[Item], message: str) -> bool:
    """Whether all parts of a message are seen."""
    wanted = {item.id for item in items if item.entry == message}
    return wanted <= {item.id for item in seen.items}


def _chat(message: Mapping[str, Any]) -> Iterator[LiveItem]:
    text = unfolded(message.get("content"))
    if message["role"] == "tool":
        yield LiveItem("", Kind.TOOL_RESULT, text, call_id=message["tool_call_id"])
        return
    if text:
        yield LiveItem("", SPOKEN[message["role"]], text)
    for call in message.get("tool_calls") or ():
        function = call["function"]
        yield LiveItem("", Kind.TOOL_CALL, function["arguments"], tool=function["name"], call_id=call["id"])


def _responses(item: Mapping[str, Any]) -> Iterator[LiveItem]:
    if item["type"] == "message":
        yield LiveItem("", SPOKEN[item["role"]], item["content"])
    elif item["type"] == "reasoning":
        yield LiveItem("", Kind.REASONING, provider_id=item["id"], secret="encrypted")
    elif item["type"] == "function_call":
        yield LiveItem("", Kind.TOOL_CALL, item["arguments"], tool=item["name"], call_id=item["call_id"])
    else:
        yield LiveItem("", Kind.TOOL_RESULT, item["output"], call_id=item["call_id"])


def _anthropic(message: Mapping[str, Any]) -> Iterator[LiveItem]:
    for block in message["content"]:
        if block["type"] == "text":
            yield LiveItem("", SPOKEN[message["role"]], block["text"])
        elif block["type"] == "thinking":
            yield LiveItem("", Kind.REASONING, block["thinking"], secret=block["signature"])
        elif block["type"] == "tool_use":
            arguments = json.dumps(block["input"])
            yield LiveItem("", Kind.TOOL_CALL, arguments, tool=block["name"], call_id=block["id"])
        else:
            yield LiveItem("", Kind.TOOL_RESULT, block["content"], call_id=block["tool_use_id"])


def unfolded(content: Any) -> str:
    """A content as text: None is nothing, a repeated text is written out."""
    if isinstance(content, dict) and "$repeat" in content:
        return str(content.get("prefix", "")) + content["$repeat"] * content["n"]
    return content or ""
