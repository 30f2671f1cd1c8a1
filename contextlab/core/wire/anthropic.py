"""Anthropic Messages: `system` and `messages` that alternate. Thinking is sent back only with its signature."""

from __future__ import annotations

import json
import re
from typing import Any

from contextlab.core.projecting.stand_ins import EARLIER_CONTEXT
from contextlab.core.texts import clean_value
from contextlab.core.wire.conversation import Answer, Call, Conversation, Part, Seal, Text, Thought
from contextlab.core.wire.openai_chat import tool_name

FORMAT = "anthropic"
LABEL = "Anthropic"
_NOT_IN_IDS = re.compile(r"[^a-zA-Z0-9_-]")


def render(conversation: Conversation) -> dict[str, Any]:
    """The request's `system` (left out when there is none) and `messages`."""
    conversation.keep_reasoning(lambda part: bool(part.secret) and part.seal != Seal.ENCRYPTED)
    names = _Names()
    system: list[dict[str, Any]] = []
    messages: list[dict[str, Any]] = []
    for message in conversation.messages:
        blocks = [block for part in message.parts for block in _block(part, names)]
        if message.role == "system":
            system += blocks
        elif blocks:
            _append(messages, "assistant" if message.role == "assistant" else "user", blocks)
    if messages and messages[0]["role"] != "user":
        conversation.repairs.append("stood in for the user message that must come first")
        messages.insert(0, {"role": "user", "content": [{"type": "text", "text": EARLIER_CONTEXT}]})
    return {"system": system, "messages": messages} if system else {"messages": messages}


class _Names:
    """Call ids as the provider accepts them, each still its own."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def of(self, call_id: str) -> str:
        if call_id not in self._known:
            name = base = _NOT_IN_IDS.sub("_", call_id) or "call"
            number = 2
            while name in self._known.values():
                name, number = f"{base}_{number}", number + 1
            self._known[call_id] = name
        return self._known[call_id]


def _append(messages: list[dict[str, Any]], role: str, blocks: list[dict[str, Any]]) -> None:
    """Roles alternate: blocks of the role that spoke last join its message."""
    if messages and messages[-1]["role"] == role:
        messages[-1]["content"] += blocks
    else:
        messages.append({"role": role, "content": blocks})


def _block(part: Part, names: _Names) -> list[dict[str, Any]]:
    if isinstance(part, Text):
        return [{"type": "text", "text": part.text}] if part.text.strip() else []
    if isinstance(part, Call):
        return [
            {
                "type": "tool_use",
                "id": names.of(part.id),
                "name": tool_name(part.tool),
                "input": _input(part.arguments),
            }
        ]
    if isinstance(part, Answer):
        block: dict[str, Any] = {
            "type": "tool_result",
            "tool_use_id": names.of(part.call),
            "content": part.text,
        }
        return [{**block, "is_error": True} if part.error else block]
    return _thinking(part)


def _thinking(part: Thought) -> list[dict[str, Any]]:
    if part.seal == Seal.REDACTED or not (part.seal or part.text):
        return [{"type": "redacted_thinking", "data": part.secret}]
    return [{"type": "thinking", "thinking": part.text, "signature": part.secret}]


def _input(arguments: str) -> dict[str, Any]:
    """Arguments as an object; what is none is handed over under a name that says so."""
    try:
        value = json.loads(arguments) if arguments.strip() else {}
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        return {"arguments_as_logged": arguments}
    return clean_value(value) if "\\u" in arguments else value


def faults(document: dict[str, Any]) -> list[str]:
    """What the provider would refuse, each with the index of its message; [] = valid."""
    found: list[str] = []
    messages = document["messages"]
    if messages and messages[0]["role"] != "user":
        found.append("message 0: not of the user")
    open_calls: list[str] = []
    for index, message in enumerate(messages):
        if index and message["role"] == messages[index - 1]["role"]:
            found.append(f"message {index}: role {message['role']} twice in a row")
        found += [f"message {index}: {fault}" for fault in _content_faults(message, open_calls)]
        open_calls = [block["id"] for block in message["content"] if block["type"] == "tool_use"]
    return found + [f"end: call {call} is not answered" for call in open_calls]


def _content_faults(message: dict[str, Any], open_calls: list[str]) -> list[str]:
    blocks = message["content"]
    found = [] if blocks else ["no content"]
    found += ["empty text" for block in blocks if block["type"] == "text" and not block["text"].strip()]
    answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    if sorted(answered) != sorted(open_calls):
        found.append(f"answers {sorted(answered)} to calls {sorted(open_calls)}")
    results_end = [block["type"] == "tool_result" for block in blocks]
    if results_end != sorted(results_end, reverse=True):
        found.append("a result behind another block")
    calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
    return found + (["one call id twice"] if len(set(calls)) < len(calls) else [])
