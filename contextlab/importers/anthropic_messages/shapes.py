"""Whether a value is of Anthropic's Messages: told by its keys and blocks, never by a file's name."""

from __future__ import annotations

from typing import Any

from contextlab.importers.anthropic_messages.blocks import TYPES
from contextlab.importers.exchanges import Exchange, exchange
from contextlab.importers.values import mapping, sequence, text

EXCHANGE, REQUEST, RESPONSE, MESSAGE = 95, 85, 85, 75
"""How sure a shape is, 0 to 100."""


def sureness(value: Any) -> int:
    """How sure it is that one record is of this format: 0 when it is not."""
    if isinstance(value, list):
        return max(
            [are_messages(value), *(sureness(one) for one in value if isinstance(one, dict))], default=0
        )
    record = mapping(value)
    if is_response(record):
        return RESPONSE
    found = exchange(record)
    if found is not None and is_exchange(found):
        return EXCHANGE if "response" in record or found.uri else REQUEST
    return are_messages([record])


def is_exchange(found: Exchange) -> bool:
    """Whether a recorded request went to Anthropic's Messages, or is written as one."""
    messages = sequence(found.request.get("messages"))
    if not messages:
        return False
    if "choices" in mapping(found.response) or "chat/completions" in found.uri:
        return False
    if (
        _address(found.uri)
        or is_response(mapping(found.response))
        or text(found.response).startswith(_STREAM)
    ):
        return True
    if "anthropic_version" in found.request or ("system" in found.request and "max_tokens" in found.request):
        return True
    if "system" in found.request and text(found.request.get("model")).find("claude") >= 0:
        return True
    return are_messages(messages) > 0


_STREAM = ("event: message_start", 'data: {"type":"message_start"', 'data: {"type": "message_start"')


def counts_tokens(uri: str) -> bool:
    """Whether a request asked for a count only: no model call."""
    return "count_tokens" in uri


def is_response(value: dict[str, Any]) -> bool:
    """Whether a value is one whole response."""
    typical = value.get("type") == "message" and value.get("role") == "assistant"
    return typical and isinstance(value.get("content"), list) and ("stop_reason" in value or "usage" in value)


def are_messages(value: list[Any]) -> int:
    """Whether a list begins with messages that hold blocks of this format, and how sure that is."""
    found = [mapping(one) for one in value[:20]]
    if not found or any("parts" in one or "payload" in one or "uuid" in one for one in found):
        return 0
    blocks = [
        mapping(block)
        for one in found
        if text(one.get("role")) in ("user", "assistant", "system")
        for block in sequence(one.get("content"))
    ]
    return MESSAGE if any(text(block.get("type")) in TYPES for block in blocks) else 0


def _address(uri: str) -> bool:
    plain = uri.split("?")[0]
    claude = "anthropic" in plain and (plain.endswith(("/invoke", ":rawPredict", ":streamRawPredict")))
    return plain.endswith(("/v1/messages", "/messages/count_tokens")) or claude or "/v1/messages" in plain
