"""Messages of OpenAI's chat format as item events, in all the dialects that write them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from contextlab.core.events import ItemEvent, Usage
from contextlab.core.items import Injected, Kind
from contextlab.importers.content import joined, parts_of, texts
from contextlab.importers.message import Message
from contextlab.importers.values import count, json_text, mapping, optional, sequence, text

ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_REASONING = ("reasoning_content", "reasoning", "thinking")


def message(value: dict[str, Any]) -> Message:
    """The items of one message; an unknown role gives `ui` items, which are in no context."""
    role = text(value.get("role"))
    made = Message(role, ts=moment(value))
    if role == "assistant":
        _answer(made, value)
    elif role in ("tool", "function"):
        _results(made, value)
    else:
        kind = {"system": Kind.SYSTEM, "developer": Kind.SYSTEM, "user": Kind.USER}.get(role, Kind.UI)
        _texts(made, kind, value)
    if value.get("is_demo") is True:
        for item in made.items:
            item.injected, item.label = Injected.META, "demonstration"
    return made.seal()


def _texts(made: Message, kind: Kind, value: dict[str, Any]) -> None:
    # An empty message is a message: it keeps its place with an empty text.
    for words, attached in parts_of(value.get("content")) or [("", ())]:
        made.items.append(ItemEvent("", kind, words, entry="", media=attached))
    if kind == Kind.UI:
        made.items[0].label = made.role


def _answer(made: Message, value: dict[str, Any]) -> None:
    thought = next((value[name] for name in _REASONING if value.get(name)), None)
    if thought is not None:
        words = texts(thought) if isinstance(thought, list) else json_text(thought)
        made.items.append(ItemEvent("", Kind.REASONING, words, entry=""))
    for words, attached in parts_of(value.get("content")):
        if words or attached:
            made.items.append(ItemEvent("", Kind.ASSISTANT, words, entry="", media=attached))
    if refusal := optional(value.get("refusal")):
        made.items.append(ItemEvent("", Kind.ASSISTANT, refusal, entry="", label="refusal"))
    for call in sequence(value.get("tool_calls")):
        made.items.append(_call(mapping(call)))
    if legacy := mapping(value.get("function_call")):
        # The old way has no ids: the name pairs a result with the nearest open call.
        name = text(legacy.get("name"))
        call = ItemEvent("", Kind.TOOL_CALL, json_text(legacy.get("arguments")), entry="", tool=name)
        call.call_id = f"function:{name}"
        made.items.append(call)
    if not made.items:
        made.items.append(ItemEvent("", Kind.ASSISTANT, "", entry=""))


def _call(call: dict[str, Any]) -> ItemEvent:
    """A tool call; the function stands in an object (OpenAI) or by name with its arguments beside it (AgentDojo)."""
    function = call.get("function", call.get("custom"))
    inner = mapping(function) or call
    name = text(inner.get("name")) or text(function)
    asked = next((inner[key] for key in ("arguments", "args", "input") if inner.get(key) is not None), "")
    event = ItemEvent("", Kind.TOOL_CALL, json_text(asked), entry="", tool=name)
    event.call_id = optional(call.get("id")) or f"function:{name}"
    return event


def _results(made: Message, value: dict[str, Any]) -> None:
    words, attached = joined(parts_of(value.get("content")))
    ids = [one for one in map(optional, sequence(value.get("tool_call_ids"))) if one]
    named = optional(value.get("name")) or optional(mapping(value.get("tool_call")).get("function"))
    first = optional(value.get("tool_call_id")) or (ids[0] if ids else None)
    event = ItemEvent("", Kind.TOOL_RESULT, words, entry="", media=attached)
    event.call_id = first or (f"function:{named}" if named else None)
    if "error" in value:
        event.error = bool(value["error"])
    made.items.append(event)
    for other in ids[1:]:
        # One observation that answers several calls at once.
        made.items.append(
            ItemEvent("", Kind.TOOL_RESULT, "", entry="", call_id=other, label="answered_together")
        )


def usage_of(step: str, value: Any) -> Usage | None:
    """A response's usage as one of ours: cached tokens are counted apart; None when it reports nothing."""
    usage = mapping(value)
    prompt, output = count(usage.get("prompt_tokens")), count(usage.get("completion_tokens"))
    if prompt is None and output is None:
        return None
    details = mapping(usage.get("prompt_tokens_details"))
    made = Usage(step, prompt, output=output)
    made.cache_read = _first(details.get("cached_tokens"), usage.get("prompt_cache_hit_tokens"))
    made.cache_write = _first(usage.get("cache_creation_input_tokens"), details.get("cache_creation_tokens"))
    if prompt is not None:
        made.input = max(0, prompt - (made.cache_read or 0) - (made.cache_write or 0))
    made.reasoning = count(mapping(usage.get("completion_tokens_details")).get("reasoning_tokens"))
    return made


def _first(*values: Any) -> int | None:
    return next((found for found in map(count, values) if found is not None), None)


def moment(value: dict[str, Any]) -> str | None:
    """The time of a message or response as the log has it; seconds since 1970 become a date in UTC."""
    extra = mapping(value.get("extra"))
    for place in (value, extra):
        for name in ("timestamp", "created_at", "created", "date"):
            found = place.get(name)
            if isinstance(found, str) and found:
                return text(found)
            if isinstance(found, (int, float)) and not isinstance(found, bool) and 1e8 < found < 1e11:
                return datetime.fromtimestamp(found, UTC).isoformat().replace("+00:00", "Z")
    return None
