"""Responses items as messages of a conversation: each item is an entry of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from contextlab.core.events import ItemEvent
from contextlab.core.items import Kind
from contextlab.importers.content import joined, parts_of, texts
from contextlab.importers.message import COMPACTION, Message
from contextlab.importers.values import digest, json_text, media, optional, sequence, text

SUMMARIES = frozenset({"compaction", "compaction_summary", "context_compaction"})
OVERHEAD = frozenset({"mcp_list_tools", "additional_tools", "compaction_trigger"})
"""Items that belong to the tools, not to the conversation: shown to people only."""

_QUOTES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'})

_INSIDE = ("output", "results", "outputs", "result")
"""Where calls that the provider answers by itself hold their answer."""


def messages(payload: dict[str, Any]) -> list[Message] | None:
    """The messages of one item; None when its type is not known."""
    kind = text(payload.get("type")) or ("message" if "role" in payload else "")
    if kind in SUMMARIES:
        return [_compaction(payload)]
    if kind in OVERHEAD:
        return [_single("ui", ItemEvent("", Kind.UI, json_text(payload), entry="", label=kind))]
    if kind in _BUILDERS:
        return _BUILDERS[kind](payload)
    if kind.endswith("_output") or kind == "mcp_approval_response":
        return _result(payload)
    return _call(payload) if kind.endswith(("_call", "mcp_approval_request")) else None


def instructions(value: Any) -> list[Message]:
    """The system prompt of one call; none when it has none."""
    words = value if isinstance(value, str) else texts(value)
    return (
        [_single("system", ItemEvent("", Kind.SYSTEM, text(words), entry="", label="instructions"))]
        if words
        else []
    )


def prompt(value: Any) -> list[Any]:
    """The input of a request as items: a text is one user message."""
    return [{"role": "user", "content": value}] if isinstance(value, str) else sequence(value)


def _single(role: str, item: ItemEvent, key: str = "") -> Message:
    made = Message(role, [item])
    if key:
        made.key = key
        return made
    return made.seal()


def _message(payload: dict[str, Any]) -> list[Message]:
    role = text(payload.get("role")) or "user"
    kinds = {"assistant": Kind.ASSISTANT, "user": Kind.USER, "system": Kind.SYSTEM, "developer": Kind.SYSTEM}
    made = Message("system" if role == "developer" else role if role in kinds else "ui")
    for words, attached in parts_of(payload.get("content")) or [("", ())]:
        made.items.append(ItemEvent("", kinds.get(role, Kind.UI), words, entry="", media=attached))
    # Recorders make typographic quotes plain in what is sent back, so they do not tell two texts apart.
    plain = [item.text if item.text.isascii() else item.text.translate(_QUOTES) for item in made.items]
    sizes = [f"{one.mime}{one.size}" for item in made.items for one in item.media]
    made.key = digest(made.role, *plain, *sizes)
    return [made]


def _reasoning(payload: dict[str, Any]) -> list[Message]:
    shown = texts(sequence(payload.get("summary")) + sequence(payload.get("content")))
    hidden = text(payload.get("encrypted_content"))
    item = ItemEvent("", Kind.REASONING, shown, entry="", opaque_chars=len(hidden))
    # The id outlives the text: clients send reasoning back with and without what is encrypted.
    name = optional(payload.get("id")) or digest(shown, hidden)
    return [_single("assistant", item, f"reasoning:{name}")]


def _call(payload: dict[str, Any]) -> list[Message]:
    kind = text(payload.get("type"))
    tool = optional(payload.get("name")) or kind.removesuffix("_call")
    if server := optional(payload.get("server_label")) or optional(payload.get("namespace")):
        tool = f"{server}.{tool}"
    asked = next((payload[key] for key in ("arguments", "input", "action", "code", "queries", "revised_prompt")
                  if payload.get(key) is not None), "")  # fmt: skip
    words = json_text(asked)
    native = optional(payload.get("call_id")) or optional(payload.get("id"))
    item = ItemEvent("", Kind.TOOL_CALL, words, entry="", tool=tool, call_id=native)
    made = [_single("assistant", item, f"call:{native or digest(kind, words)}")]
    if "call_id" in payload or kind in ("mcp_approval_request", "computer_call"):
        return made
    answer = next((payload[key] for key in _INSIDE if payload.get(key) is not None), None)
    item.needs_result = False
    if answer is not None:
        made += _inside(payload, kind, native, answer)
        item.needs_result = native is not None
    return made


def _inside(payload: dict[str, Any], kind: str, native: str | None, answer: Any) -> list[Message]:
    """The answer that a call of the provider's own brings with it."""
    item = ItemEvent("", Kind.TOOL_RESULT, "", entry="", call_id=native)
    if kind == "image_generation_call":
        item.media = (media("image", answer),)
    else:
        item.text = json_text(answer)
    if payload.get("error") is not None:
        item.error = True
    return [_single("assistant", item, f"result:{native or digest(item.text)}")]


def _result(payload: dict[str, Any]) -> list[Message]:
    answer = payload.get("output", payload.get("approve", payload.get("tools")))
    if isinstance(answer, dict):
        answer = answer.get("content", [answer])
    words, attached = joined(parts_of(answer))
    native = optional(payload.get("call_id")) or optional(payload.get("approval_request_id"))
    item = ItemEvent("", Kind.TOOL_RESULT, words, entry="", call_id=native, media=attached)
    return [_single("tool", item, f"result:{native or digest(words)}")]


def _compaction(payload: dict[str, Any]) -> Message:
    hidden = text(payload.get("encrypted_content"))
    item = ItemEvent("", Kind.SUMMARY, text(payload.get("summary")), entry="", opaque_chars=len(hidden))
    return _single(COMPACTION, item, f"compaction:{optional(payload.get('id')) or digest(hidden, item.text)}")


_BUILDERS: dict[str, Callable[[dict[str, Any]], list[Message]]] = {
    "message": _message,
    "reasoning": _reasoning,
    "tool_search_output": _result,
}

TYPES = frozenset(_BUILDERS) | SUMMARIES | {
    "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output", "local_shell_call",
    "local_shell_call_output", "web_search_call", "file_search_call", "code_interpreter_call", "computer_call",
    "computer_call_output", "image_generation_call", "mcp_call", "mcp_list_tools", "mcp_approval_request",
    "mcp_approval_response", "item_reference", "shell_call", "shell_call_output", "apply_patch_call",
    "apply_patch_call_output",
}  # fmt: skip
"""Types of items that tell the format."""
