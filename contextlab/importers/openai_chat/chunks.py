"""A streamed response put together again: the chunks of server-sent events as one message with its usage."""

from __future__ import annotations

from typing import Any

import msgspec

from contextlab.importers.values import mapping, sequence, text


def assembled(stream: str) -> dict[str, Any] | None:
    """The response that a recorded event stream (`data: {...}` lines) delivered; None when it holds no chunk."""
    response: dict[str, Any] = {}
    message: dict[str, Any] = {"role": "assistant", "content": None}
    for line in stream.splitlines():
        chunk = _chunk(line)
        if chunk is None:
            continue
        for name in ("id", "created", "model", "usage"):
            if chunk.get(name) is not None:
                response[name] = chunk[name]
        for choice in sequence(chunk.get("choices")):
            if mapping(choice).get("index", 0) == 0:
                _merge(message, mapping(mapping(choice).get("delta")))
    if not response:
        return None
    if "tool_calls" in message:
        message["tool_calls"] = list(message["tool_calls"].values())
    return {**response, "choices": [{"index": 0, "message": message}]}


def _chunk(line: str) -> dict[str, Any] | None:
    if not line.startswith("data:"):
        return None
    try:
        value = msgspec.json.decode(line[5:].strip())
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _merge(message: dict[str, Any], delta: dict[str, Any]) -> None:
    for name in ("content", "refusal", "reasoning_content"):
        if piece := text(delta.get(name)):
            message[name] = (message.get(name) or "") + piece
    for piece in sequence(delta.get("tool_calls")):
        part = mapping(piece)
        calls = message.setdefault("tool_calls", {})
        call = calls.setdefault(
            str(part.get("index", len(calls))), {"function": {"name": "", "arguments": ""}}
        )
        call["id"] = call.get("id") or part.get("id")
        _join(call["function"], mapping(part.get("function")))
    if legacy := mapping(delta.get("function_call")):
        _join(message.setdefault("function_call", {"name": "", "arguments": ""}), legacy)


def _join(whole: dict[str, Any], piece: dict[str, Any]) -> None:
    for name in ("name", "arguments"):
        whole[name] += text(piece.get(name))
