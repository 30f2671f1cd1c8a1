"""Content blocks of Anthropic's Messages as item events.

One provider message becomes a few `Message` parts that share an entry: a compaction block stands alone (it replaces
all before it), thinking stands alone (clients send it back or leave it out), the rest is kept together.
"""

from __future__ import annotations

from typing import Any

from contextlab.core.events import ItemEvent
from contextlab.core.items import Injected, Kind, Media
from contextlab.importers.content import joined, parts_of
from contextlab.importers.message import COMPACTION, Message
from contextlab.importers.values import digest, json_text, mapping, media, optional, sequence, text

TYPES = frozenset(
    "tool_use tool_result thinking redacted_thinking server_tool_use mcp_tool_use mcp_tool_result compaction "
    "web_search_tool_result web_fetch_tool_result bash_code_execution_tool_result advisor_tool_result "
    "text_editor_code_execution_tool_result code_execution_tool_result tool_search_tool_result".split()
)
"""Types of blocks that no other format has."""

_CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_REMINDER = "<system-reminder>"


def message(value: dict[str, Any]) -> list[Message]:
    """The parts of one message of a request or response; none when its role is not known."""
    role = text(value.get("role"))
    content = value.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else sequence(content)
    if role in ("user", "system"):
        return [_given(role, blocks)]
    return _produced(blocks) if role == "assistant" else []


def system(value: Any) -> list[Message]:
    """The system prompt of a request: a text or blocks; one message, none when there is none."""
    blocks = [{"type": "text", "text": value}] if isinstance(value, str) and value else sequence(value)
    return [_given("system", blocks)] if blocks else []


def _given(role: str, blocks: list[Any]) -> Message:
    made = Message(role)
    answers = any(text(mapping(block).get("type")).endswith("tool_result") for block in blocks)
    for block in blocks or [{"type": "text", "text": ""}]:
        item = _item(mapping(block), Kind.SYSTEM if role == "system" else Kind.USER)
        if item.kind == Kind.USER and (answers or item.text.lstrip().startswith(_REMINDER)):
            # Text beside results was not typed at a turn's start: agents put it there.
            reminder = item.text.lstrip().startswith(_REMINDER)
            item.injected, item.label = (Injected.META, "reminder") if reminder else (Injected.MIDTURN, None)
        made.items.append(item)
    return made.seal()


def _produced(blocks: list[Any]) -> list[Message]:
    made: list[Message] = []
    for block in map(mapping, blocks):
        kind = text(block.get("type"))
        if kind == "compaction":
            made.append(_compaction(block))
        elif kind in ("thinking", "redacted_thinking"):
            made.append(_thinking(block))
        else:
            if not made or made[-1].role == COMPACTION or made[-1].items[0].kind == Kind.REASONING:
                made.append(Message("assistant"))
            made[-1].items.append(_item(block, Kind.ASSISTANT))
    made = made or [Message("assistant", [ItemEvent("", Kind.ASSISTANT, "", entry="")])]
    before: Message | None = None
    for part in made:
        part.joined = before is not None and before.role == part.role == "assistant"
        part.seal()
        before = part
    return made


def _compaction(block: dict[str, Any]) -> Message:
    words = joined(parts_of(block.get("content")))[0]
    hidden = text(block.get("encrypted_content"))
    item = ItemEvent("", Kind.SUMMARY, words, entry="", opaque_chars=0 if words else len(hidden))
    return Message(COMPACTION, [item])


def _thinking(block: dict[str, Any]) -> Message:
    hidden = text(block.get("signature")) or text(block.get("data"))
    item = ItemEvent("", Kind.REASONING, text(block.get("thinking")), entry="", opaque_chars=len(hidden))
    if not item.text:
        # Redacted: only what is encrypted tells one from another.
        item.label = f"redacted:{digest(hidden)}" if hidden else None
    return Message("assistant", [item])


def _item(block: dict[str, Any], kind: Kind) -> ItemEvent:
    name = text(block.get("type")) or "text"
    if name in _CALLS:
        return _call(block)
    if name.endswith("tool_result"):
        return _result(block)
    if name in ("image", "document"):
        return ItemEvent("", kind, text(block.get("title")), entry="", media=(_attachment(block),))
    words = text(block.get("text")) if name == "text" else json_text(block)
    return ItemEvent("", kind, words, entry="", label=None if name == "text" else name)


def _call(block: dict[str, Any]) -> ItemEvent:
    tool = text(block.get("name"))
    if server := optional(block.get("server_name")):
        tool = f"{server}.{tool}"
    item = ItemEvent("", Kind.TOOL_CALL, json_text(block.get("input")), entry="", tool=tool)
    item.call_id = optional(block.get("id"))
    return item


def _result(block: dict[str, Any]) -> ItemEvent:
    content = block.get("content")
    blocks = sequence(content) if isinstance(content, list) else [content] if content is not None else []
    plain: list[Any] = []
    attached: list[Media] = []
    for part in blocks:
        if text(mapping(part).get("type")) in ("image", "document"):
            attached.append(_attachment(part))
        else:
            plain.append(_without_nulls(part))
    words, others = joined(parts_of(plain))
    item = ItemEvent("", Kind.TOOL_RESULT, words, entry="", media=(*attached, *others))
    item.call_id = optional(block.get("tool_use_id"))
    failed = block.get("is_error")
    if isinstance(failed, bool):
        item.error = failed
    elif text(mapping(content).get("type")).endswith("_error"):
        item.error = True
    return item


def _without_nulls(value: Any) -> Any:
    """The same value whether a client sends fields that are null back or leaves them out."""
    if isinstance(value, dict):
        return {key: _without_nulls(part) for key, part in value.items() if part is not None}
    return [_without_nulls(part) for part in value] if isinstance(value, list) else value


def _attachment(block: dict[str, Any]) -> Media:
    """A picture or document; its data is never decoded."""
    source = mapping(block.get("source"))
    family = "image" if block.get("type") == "image" else "file"
    found = media(family, source.get("data") or source.get("url") or source.get("file_id"))
    return Media(found.type, optional(source.get("media_type")) or found.mime, found.size)
