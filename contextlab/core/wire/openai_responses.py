"""OpenAI Responses: `input` items. Reasoning is sent back only whole: with its id or its encrypted content."""

from __future__ import annotations

from typing import Any

from contextlab.core.wire.conversation import Answer, Call, Conversation, Message, Part, Seal, Text, Thought
from contextlab.core.wire.openai_chat import tool_name

FORMAT = "openai_responses"
LABEL = "OpenAI Responses"


def render(conversation: Conversation) -> dict[str, Any]:
    """The request's `input`."""
    conversation.keep_reasoning(
        lambda part: bool(part.secret or part.provider_id) and part.seal in (None, Seal.ENCRYPTED)
    )
    return {"input": [wire for message in conversation.messages for wire in _items(message)]}


def _items(message: Message) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    for part in message.parts:
        items += _item(message.role, part)
    # Reasoning needs the item that it led to; a message that ends with it has lost that.
    while items and items[-1]["type"] == "reasoning":
        items.pop()
    return items


def _item(role: str, part: Part) -> list[dict[str, Any]]:
    if isinstance(part, Text):
        kind = "output_text" if role == "assistant" else "input_text"
        return [{"type": "message", "role": role, "content": [{"type": kind, "text": part.text}]}]
    if isinstance(part, Call):
        name = tool_name(part.tool)
        return [{"type": "function_call", "call_id": part.id, "name": name, "arguments": part.arguments}]
    if isinstance(part, Answer):
        return [{"type": "function_call_output", "call_id": part.call, "output": part.text}]
    return _reasoning(part)


def _reasoning(part: Thought) -> list[dict[str, Any]]:
    summary = [{"type": "summary_text", "text": part.text}] if part.text else []
    wire: dict[str, Any] = {"type": "reasoning", "summary": summary}
    if part.provider_id:
        wire["id"] = part.provider_id
    if part.secret:
        wire["encrypted_content"] = part.secret
    return [wire]


def faults(document: dict[str, Any]) -> list[str]:
    """What the provider would refuse, each with the index of its item; [] = valid."""
    found: list[str] = []
    open_calls: set[str] = set()
    items = document["input"]
    for index, item in enumerate(items):
        if item["type"] == "function_call":
            if item["call_id"] in open_calls:
                found.append(f"item {index}: call id {item['call_id']} is still open")
            open_calls.add(item["call_id"])
        elif item["type"] == "function_call_output":
            if item["call_id"] not in open_calls:
                found.append(f"item {index}: no open call {item['call_id']}")
            open_calls.discard(item["call_id"])
        elif item["type"] == "reasoning" and not _led_to_something(items, index):
            found.append(f"item {index}: reasoning without the item that it led to")
    return found + [f"end: call {call} is not answered" for call in sorted(open_calls)]


def _led_to_something(items: list[dict[str, Any]], index: int) -> bool:
    after = items[index + 1] if index + 1 < len(items) else {"type": "end"}
    return after["type"] in ("reasoning", "function_call") or after.get("role") == "assistant"
