"""Whether a value is of OpenAI's Responses: told by its keys and types, never by a file's name."""

from __future__ import annotations

from typing import Any

from contextlab.importers.exchanges import Exchange, exchange
from contextlab.importers.openai_responses.items import TYPES
from contextlab.importers.values import mapping, sequence, text

EXCHANGE, RESPONSE, REQUEST, ITEMS = 95, 90, 80, 75
"""How sure a shape is, 0 to 100."""

RESPONSES = frozenset({"response", "response.compaction"})
_STREAM = ("event: response.", 'data: {"type":"response.', 'data: {"type": "response.')
_PARTS = frozenset({"input_text", "output_text", "input_image", "input_file"})
_OWN_KEYS = ("instructions", "previous_response_id", "conversation", "context_management", "reasoning")


def sureness(value: Any) -> int:
    """How sure it is that one record is of this format: 0 when it is not."""
    if isinstance(value, list):
        return max([are_items(value), *(sureness(one) for one in value if isinstance(one, dict))], default=0)
    record = mapping(value)
    if is_response(record):
        return RESPONSE
    found = exchange(record)
    if found is not None and is_exchange(found):
        return EXCHANGE if "response" in record or found.uri else REQUEST
    return are_items([record])


def is_exchange(found: Exchange) -> bool:
    """Whether a recorded request went to the Responses API, or is written as one."""
    if is_response(mapping(found.response)) or text(found.response).startswith(_STREAM):
        return True
    plain = found.uri.split("?")[0].rstrip("/")
    if plain.endswith(("/responses", "/responses/compact")):
        return "input" in found.request or "model" in found.request
    asked = found.request.get("input")
    if not isinstance(asked, (str, list)) or not isinstance(found.request.get("model"), str):
        return False
    return any(key in found.request for key in _OWN_KEYS) or are_items(sequence(asked)) > 0


def is_response(value: dict[str, Any]) -> bool:
    """Whether a value is one whole response."""
    return value.get("object") in RESPONSES and isinstance(value.get("output"), list)


def are_items(value: list[Any]) -> int:
    """Whether a list begins with Responses items, and how sure that is."""
    found = [mapping(one) for one in value[:20]]
    if not found or any("payload" in one or "uuid" in one or "data" in one for one in found):
        return 0
    return ITEMS if any(_is_item(one) for one in found) else 0


def _is_item(one: dict[str, Any]) -> bool:
    kind = text(one.get("type"))
    if kind in TYPES and kind != "message":
        # Types that other formats use as well need a key of their own.
        return bool(one.keys() & {"call_id", "encrypted_content", "summary", "id"})
    parts = {text(mapping(part).get("type")) for part in sequence(one.get("content"))}
    return text(one.get("role")) != "" and bool(parts & _PARTS)
