"""Content blocks as items: what kind each is, its text as logged, and what stands beside the text."""

from __future__ import annotations

from typing import Any, NamedTuple

from msgspec import Raw

from contextlab.core.items import Kind, Media
from contextlab.core.texts import clean
from contextlab.importers.claude_code.records import (
    Block,
    MediaSource,
    Message,
    Part,
    as_logged,
    as_parts,
    as_string,
    plain,
    raw_blocks,
)

OFFLOADED = "<persisted-output>"
"""How the preview of a result begins that the agent itself stored elsewhere."""


class Content(NamedTuple):
    """What one block gives to an item."""

    kind: Kind
    text: str
    tool: str | None = None
    call_id: str | None = None
    error: bool | None = None
    media: tuple[Media, ...] = ()
    opaque_chars: int = 0
    label: str | None = None


def assistant_contents(message: Message, raw: Raw) -> list[Content]:
    """The items of an assistant record."""
    if message.content is None:
        return []
    if isinstance(message.content, str):
        return [Content(Kind.ASSISTANT, clean(message.content))]
    return [_assistant(block, index, raw) for index, block in enumerate(message.content)]


def user_contents(message: Message, raw: Raw) -> list[Content]:
    """The items of a user record; results are told from prompts by their kind."""
    if message.content is None:
        return []
    if isinstance(message.content, str):
        return [Content(Kind.USER, clean(message.content))]
    return [_user(block, index, raw) for index, block in enumerate(message.content)]


def readable(contents: list[Content]) -> str:
    """The texts of a record in one."""
    return "\n".join(content.text for content in contents if content.text)


def original_of(text: str, in_subfolder: bool) -> str | None:
    """Where the original of an offloaded result lies, relative to the log; None when the text names no place.

    The log names an absolute path of the machine that wrote it. What counts is the place beside the log:
    `<session>/tool-results/<name>`, seen from a subagent's log `../tool-results/<name>`.
    """
    for line in text[:2000].splitlines():
        _, found, path = line.partition("saved to: ")
        parts = path.strip().replace("\\", "/").split("/")
        if found and len(parts) >= 3 and parts[-2] == "tool-results" and ".." not in parts[-3:]:
            return "/".join(["..", *parts[-2:]] if in_subfolder else parts[-3:])
    return None


def _assistant(block: Block, index: int, raw: Raw) -> Content:
    kind = block.type
    if kind == "text" and block.text is not None:
        return Content(Kind.ASSISTANT, clean(block.text))
    if kind == "thinking":
        return Content(Kind.REASONING, clean(block.thinking or ""), opaque_chars=_inside(block.signature))
    if kind == "redacted_thinking":
        return Content(Kind.REASONING, "", opaque_chars=_inside(block.data))
    if kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
        name, call = clean(block.name or ""), _id(block.id)
        return Content(Kind.TOOL_CALL, clean(as_logged(block.input)), tool=name, call_id=call)
    if kind is not None and kind.endswith("tool_result"):
        return _result(block)
    return _other(Kind.ASSISTANT, block, index, raw)


def _user(block: Block, index: int, raw: Raw) -> Content:
    if block.type == "text" and block.text is not None:
        return Content(Kind.USER, clean(block.text))
    if block.type == "tool_result":
        return _result(block)
    if block.type in ("image", "document"):
        return Content(Kind.USER, "", media=(_media(block.type, block.source),))
    return _other(Kind.USER, block, index, raw)


def _result(block: Block) -> Content:
    parts = as_parts(block.content)
    text = ""
    media: tuple[Media, ...] = ()
    if isinstance(parts, str):
        text = parts
    elif parts is not None and all(part.type in ("text", "image", "document") for part in parts):
        text, media = _joined(parts)
    else:
        # Parts of other types carry text in fields of their own: the JSON as logged loses nothing.
        text = as_logged(block.content)
    call = _id(block.tool_use_id)
    return Content(Kind.TOOL_RESULT, clean(text), call_id=call, error=block.is_error, media=media)


def _joined(parts: list[Part]) -> tuple[str, tuple[Media, ...]]:
    text = "\n".join(part.text for part in parts if part.text is not None)
    return text, tuple(_media(part.type or "", part.source) for part in parts if part.type != "text")


def _media(kind: str, source: MediaSource | None) -> Media:
    size = _inside(source.data) if source else 0
    return Media("image" if kind == "image" else "file", source.media_type if source else None, size or None)


def _other(kind: Kind, block: Block, index: int, raw: Raw) -> Content:
    """A block of a type we do not know: its JSON as logged."""
    blocks = raw_blocks(raw)
    text = as_logged(blocks[index]) if index < len(blocks) else ""
    return Content(kind, clean(text), label=clean(block.type or "unknown"))


def _inside(raw: Raw) -> int:
    """Characters between the quotes of a raw string (base64, so none is escaped)."""
    return max(0, len(bytes(raw)) - 2) if raw and bytes(raw)[:1] == b'"' else 0


def _id(name: str | None) -> str | None:
    return clean(name) if name is not None else None


def attachment_text(raw: Raw) -> tuple[str, str]:
    """The type of an attachment and its text: its own text where it has one, else its JSON as logged."""
    value = plain(raw)
    if not isinstance(value, dict):
        return "unknown", clean(as_logged(raw))
    kind = value.get("type")
    texts = (_words(value.get(key)) for key in ("prompt", "content", "text"))
    text = next((text for text in texts if text is not None), None)
    return clean(kind) if isinstance(kind, str) else "unknown", clean(
        as_logged(raw) if text is None else text
    )


def _words(value: Any) -> str | None:
    """A text, or the texts of a list of blocks; None for all else."""
    if isinstance(value, list) and value:
        texts = [part.get("text") for part in value if isinstance(part, dict) and part.get("type") == "text"]
        return "\n".join(text for text in texts if isinstance(text, str)) or None
    return value if isinstance(value, str) else None


def error_text(error: Raw, content: Raw) -> str:
    """What an api_error record says: its text, else status and message, else its JSON."""
    text = as_string(content)
    if text is None:
        value = plain(error)
        status = value.get("status") if isinstance(value, dict) else None
        while isinstance(value, dict) and not isinstance(value.get("message"), str):
            value = value.get("error", value.get("cause"))
        text = value["message"] if isinstance(value, dict) else as_logged(error)
        text = f"{status} {text}" if status else text
    return clean(text)
