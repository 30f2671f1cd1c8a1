"""A streamed response put together again: the events of Anthropic's stream as one message with its usage."""

from __future__ import annotations

from typing import Any

from contextlab.importers.exchanges import events_of
from contextlab.importers.lines import parse_text
from contextlab.importers.values import mapping, text

_GROWS = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("signature", "signature"),
    "compaction_delta": ("content", "content"),
    "input_json_delta": ("partial_json", "partial_json"),
}
"""What a delta brings, and the field of the block that grows by it."""


def assembled(stream: str) -> dict[str, Any] | None:
    """The message that a recorded event stream delivered; None when it holds no beginning of one."""
    response: dict[str, Any] | None = None
    blocks: dict[int, dict[str, Any]] = {}
    for event in events_of(stream):
        kind = text(event.get("type"))
        if kind == "message_start":
            response = dict(mapping(event.get("message")))
        elif kind == "content_block_start" and isinstance(event.get("index"), int):
            blocks[event["index"]] = dict(mapping(event.get("content_block")))
        elif kind == "content_block_delta":
            _grow(blocks.setdefault(event.get("index", 0), {}), mapping(event.get("delta")))
        elif kind == "message_delta" and response is not None:
            _finish(response, event)
    if response is None:
        return None
    return {**response, "content": [_whole(blocks[at]) for at in sorted(blocks)]}


def _grow(block: dict[str, Any], delta: dict[str, Any]) -> None:
    source, target = _GROWS.get(text(delta.get("type")), ("", ""))
    if source:
        block[target] = text(block.get(target)) + text(delta.get(source))


def _finish(response: dict[str, Any], event: dict[str, Any]) -> None:
    """The end of a stream: the last usage wins, field by field."""
    response.update(mapping(event.get("delta")))
    response["usage"] = {**mapping(response.get("usage")), **mapping(event.get("usage"))}
    if "context_management" in event:
        response["context_management"] = event["context_management"]


def _whole(block: dict[str, Any]) -> dict[str, Any]:
    pieces = block.pop("partial_json", "")
    if pieces:
        try:
            block["input"] = parse_text(pieces)
        except ValueError:
            # An interrupted call: what arrived of its arguments stays as it is.
            block["input"] = pieces
    return block
