"""Which dialect of the chat format a value is: told by its keys, never by a file's name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from contextlab.importers.openai_chat.messages import ROLES
from contextlab.importers.values import mapping, optional, sequence, text

FOREIGN_PARTS = frozenset(
    "tool_use tool_result thinking redacted_thinking server_tool_use input_text output_text input_image".split()
)
"""Content parts of Anthropic's Messages and OpenAI's Responses: other formats with the same roles."""


_LOOKED_AT = 20
"""Elements of a list that are looked at for its dialect."""


@dataclass(slots=True)
class Shape:
    """What a value holds: the name of its dialect, how sure that is (0 to 100), and where its messages stand."""

    dialect: str
    sure: int
    messages: str | None = None
    """Key of the message list; None when the value is one itself."""


def shape(value: Any) -> Shape | None:
    """The dialect of a document or of one record of JSON Lines; None when it is not chat at all."""
    if isinstance(value, list):
        return _list_shape(value)
    if not isinstance(value, dict):
        return None
    if is_message(value):
        return Shape("message", 60)
    if _anthropic(value):
        return None
    if exchange(value) is not None:
        return Shape("exchange", 90)
    for key in ("messages", "history", "traj"):
        if are_messages(value.get(key)):
            return _object_shape(value, key)
    return None


def _list_shape(value: list[Any]) -> Shape | None:
    if are_messages(value):
        return Shape("messages", 70)
    # A log of all that went over the wire begins with other requests now and then.
    inner = [found for one in value[:_LOOKED_AT] if (found := shape(one)) is not None]
    if not inner or inner[0].dialect == "message":
        return None
    return Shape("list", inner[0].sure)


def _object_shape(value: dict[str, Any], key: str) -> Shape:
    if key == "traj":
        return Shape("tau-bench", 90, key)
    first = mapping(sequence(value[key])[0])
    if key == "history":
        typical = "trajectory" in value or "message_type" in first or "agent" in first
        return Shape("swe-agent", 90 if typical else 60, key)
    if text(value.get("trajectory_format")).startswith("mini-swe-agent"):
        return Shape("mini-swe-agent", 95, key)
    if "user_task_id" in value and ("suite_name" in value or "pipeline_name" in value):
        return Shape("agentdojo", 95, key)
    return Shape("messages", 70, key)


def are_messages(value: Any) -> bool:
    """Whether a list begins with chat messages (most of the first eight, and none of a sister format)."""
    found = sequence(value)[:8]
    return 2 * sum(map(is_message, found)) > len(found) and not any(map(_foreign, found))


def is_message(value: Any) -> bool:
    """Whether a value is one chat message, and not one of a sister format."""
    if not isinstance(value, dict) or "type" in value or _foreign(value):
        return False
    known = text(value.get("role")) in ROLES or value.get("role") == "exit"
    return known and bool(value.keys() & {"content", "tool_calls", "function_call"})


def _foreign(value: Any) -> bool:
    """Whether a message has the parts of Anthropic's, Google's or OpenAI's other format."""
    if not isinstance(value, dict) or "role" not in value:
        return False
    content = sequence(value.get("content"))
    parts = {text(part.get("type")) for part in content if isinstance(part, dict)}
    return "parts" in value or bool(parts & FOREIGN_PARTS)


def _anthropic(value: dict[str, Any]) -> bool:
    """Anthropic's requests have the same list of messages, but a system prompt beside it."""
    request, response = mapping(value.get("request")) or value, mapping(value.get("response"))
    if "anthropic" in text(value.get("uri")) or "anthropic_version" in request:
        return True
    return "system" in request or "stop_reason" in response or "stop_reason" in value


@dataclass(slots=True)
class Exchange:
    """One request and what came back."""

    messages: list[Any]
    response: Any
    """The response object, an event stream as text, or None."""
    model: str | None = None
    limit: Any = None
    record: dict[str, Any] = field(default_factory=dict)


def exchange(value: dict[str, Any]) -> Exchange | None:
    """The recorded exchange in a value: request and response side by side, or the request's keys with a response."""
    request = next((value[key] for key in ("request", "body") if isinstance(value.get(key), dict)), value)
    response = value.get("response", value if "choices" in value else None)
    response = mapping(response).get("body", response) if isinstance(response, dict) else response
    messages = sequence(request.get("messages"))
    if not are_messages(messages) or (request is value and not _answers(response)):
        return None
    model = optional(mapping(response).get("model")) or optional(request.get("model"))
    return Exchange(messages, response, model, value.get("context_window"), value)


def _answers(response: Any) -> bool:
    return bool(sequence(mapping(response).get("choices"))) or text(response)[:5] == "data:"
