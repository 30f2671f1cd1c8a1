"""The arguments of a tool call, from the text that the log has of them."""

from __future__ import annotations

import json
from typing import Any

from contextlab.core.texts import clean, clean_value

_read = json.JSONDecoder().raw_decode


def arguments_of(text: str) -> dict[str, Any]:
    """A call's arguments, empty where they are no JSON object; their texts can be stored.

    Some frameworks log the JSON text of a JSON text.
    """
    value: Any = text
    for _ in range(2):
        if not isinstance(value, str):
            break
        try:
            value = _decoded(value)
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, dict) else {}


def _decoded(text: str) -> Any:
    value = _json(clean(text))
    # Without an escape there is nothing in it that was not cleaned before.
    return clean_value(value, clean) if "\\u" in text else value


def _json(text: str) -> Any:
    """As `json.loads`, which looks for blanks around each of thousands of objects that have none."""
    if text.startswith("{"):
        value, end = _read(text)
        if end == len(text):
            return value
    return json.loads(text)
