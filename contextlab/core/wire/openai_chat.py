"""OpenAI Chat Completions: `messages`. Reasoning is not sent in this format."""

from __future__ import annotations

import re
from typing import Any

from contextlab.core.wire.conversation import Answer, Conversation, Message

FORMAT = "openai_chat"
LABEL = "OpenAI chat"
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")


def tool_name(name: str) -> str:
    """A name of a tool as providers accept it."""
    return _NOT_IN_NAMES.sub("_", name)[:64] or "tool"


def render(conversation: Conversation) -> dict[str, Any]:
    """The request's `messages`."""
    return {"messages": [wire for message in conversation.messages for wire in _message(message)]}


def _message(message: Message) -> list[dict[str, Any]]:
    if message.role == "results":
        answers = [part for part in message.parts if isinstance(part, Answer)]
        return [{"role": "tool", "tool_call_id": answer.call, "content": answer.text} for answer in answers]
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": tool_name(call.tool), "arguments": call.arguments},
        }
        for call in message.calls()
    ]
    text = message.texts()
    if not text and not calls:
        return []
    wire: dict[str, Any] = {"role": message.role, "content": text or None}
    if calls:
        wire["tool_calls"] = calls
    return [wire]


def faults(document: dict[str, Any]) -> list[str]:
    """What the provider would refuse, each with the index of its message; [] = valid."""
    found: list[str] = []
    open_calls: set[str] = set()
    for index, message in enumerate(document["messages"]):
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_calls:
                found.append(f"message {index}: no open call {message['tool_call_id']}")
            open_calls.discard(message["tool_call_id"])
            continue
        found += [f"message {index}: call {call} is not answered before it" for call in sorted(open_calls)]
        ids = [call["id"] for call in message.get("tool_calls", [])]
        if len(set(ids)) < len(ids):
            found.append(f"message {index}: one call id twice")
        open_calls = set(ids)
        if not ids and not message["content"]:
            found.append(f"message {index}: no content")
    return found + [f"end: call {call} is not answered" for call in sorted(open_calls)]
