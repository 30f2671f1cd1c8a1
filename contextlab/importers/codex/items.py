"""Responses items of a rollout as item events: what each is, what it says, and what to call it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from contextlab.core.events import ItemEvent
from contextlab.core.items import Injected, Kind
from contextlab.importers.content import joined, parts_of, texts
from contextlab.importers.values import digest, json_text, media, optional, sequence, text

SUMMARY_TYPES = frozenset({"compaction", "compaction_summary", "context_compaction"})
"""Items that stand for a compacted history; their content is encrypted."""

NOT_CONTEXT = frozenset({"ghost_snapshot", "compaction_trigger", "additional_tools", "configuration_update"})
"""Response items that are no part of the conversation."""

_INSTRUCTIONS = (
    "<permissions instructions>",
    "<collaboration_mode>",
    "<apps_instructions>",
    "<skills_instructions>",
    "<plugins_instructions>",
    "<model_switch>",
    "<personality_spec>",
    "<token_budget>",
)
"""How the developer messages begin that Codex itself writes: they are part of the system prompt."""

_INJECTED = (
    ("# AGENTS.md instructions", Injected.CONTEXT, "agents_md"),
    ("<environment_context>", Injected.CONTEXT, "environment_context"),
    ("<user_instructions>", Injected.CONTEXT, "user_instructions"),
    ("<skill>", Injected.CONTEXT, "skill"),
    ("<turn_aborted>", Injected.SYNTHETIC, "turn_aborted"),
    ("<subagent_notification>", Injected.TASK, "subagent_notification"),
    ("<user_shell_command>", Injected.COMMAND_OUTPUT, "user_shell_command"),
    ("<hook_prompt", Injected.META, "hook_prompt"),
)
"""How user messages begin that no person wrote."""

_EXIT = re.compile(r"(?:Process exited with code|Exit code:|\"exit_code\":) ?(-?\d+)")


@dataclass(slots=True)
class Draft:
    """An item before it has its id: `key` is equal for equal content, `native` is the log's own id."""

    key: str
    native: str | None
    event: ItemEvent
    output: bool = False
    """Whether the model produced it."""


def drafts(payload: dict[str, Any]) -> list[Draft] | None:
    """The item events of one Responses item, without ids; None when its type is not known."""
    # The oldest items have a role and no type.
    kind = payload.get("type") or ("message" if "role" in payload else None)
    build = _BUILDERS.get(kind) if isinstance(kind, str) else None
    return None if build is None else build(payload)


def _message(payload: dict[str, Any]) -> list[Draft]:
    role = text(payload.get("role")) or "user"
    parts = parts_of(payload.get("content"))
    native = optional(payload.get("id"))
    made = []
    for number, (words, attached) in enumerate(parts):
        event = ItemEvent("", Kind.ASSISTANT, words, entry="", media=attached)
        if role != "assistant":
            _classify(event, role)
        sizes = ",".join(f"{one.mime}{one.size}" for one in attached)
        key = f"{role}:{digest(words, sizes)}"
        name = native if native is None or len(parts) == 1 else f"{native}.{number}"
        made.append(Draft(key, name, event, output=role == "assistant"))
    return made


def _classify(event: ItemEvent, role: str) -> None:
    """System prompt, words of a person, or text that the harness put in: told by how it begins."""
    start = event.text.lstrip()[:60]
    event.kind = Kind.USER
    if role == "system" or (role == "developer" and start.startswith(_INSTRUCTIONS)):
        event.kind = Kind.SYSTEM
        event.label = start[1:].split(">")[0].split()[0] if start.startswith("<") else None
        return
    if role != "user":
        event.injected, event.label = Injected.CONTEXT, role
        return
    for beginning, why, label in _INJECTED:
        if start.startswith(beginning):
            event.injected, event.label = why, label
            return


def _agent_message(payload: dict[str, Any]) -> list[Draft]:
    """A message that another agent sent into this session."""
    made = _message({**payload, "role": "user"})
    for draft in made:
        draft.event.injected, draft.event.label = Injected.TASK, "agent_message"
    return made


def _reasoning(payload: dict[str, Any]) -> list[Draft]:
    shown = texts(sequence(payload.get("summary")) + sequence(payload.get("content")))
    hidden = text(payload.get("encrypted_content"))
    event = ItemEvent("", Kind.REASONING, shown, entry="", opaque_chars=len(hidden))
    key = f"reasoning:{digest(event.text, hidden)}"
    return [Draft(key, optional(payload.get("id")), event, output=True)]


def _call(payload: dict[str, Any]) -> list[Draft]:
    kind = text(payload.get("type"))
    name = optional(payload.get("name")) or kind.removesuffix("_call")
    if namespace := optional(payload.get("namespace")):
        name = f"{namespace}.{name}"
    asked = next(
        (payload[key] for key in ("arguments", "input", "action") if payload.get(key) is not None), ""
    )
    words = json_text(asked)
    call_id = optional(payload.get("call_id")) or (optional(payload.get("id")) if "shell" in kind else None)
    key = f"call:{call_id or digest(kind, words)}"
    event = ItemEvent("", Kind.TOOL_CALL, words, entry="", tool=name, call_id=call_id)
    return [Draft(key, optional(payload.get("id")), event, output=True)]


def _provider_call(payload: dict[str, Any]) -> list[Draft]:
    """A call that the provider answers by itself: web searches, pictures; the log has no result of it."""
    [draft] = _call(payload)
    draft.event.needs_result = False
    # Web searches have no id at all (formats.md 4.16); the one made here links nothing but names the call.
    draft.event.call_id = draft.event.call_id or draft.native
    if payload.get("type") == "image_generation_call":
        draft.event.text = text(payload.get("revised_prompt"))
        draft.event.media = (media("image", payload.get("result")),)
    return [draft]


def _result(payload: dict[str, Any]) -> list[Draft]:
    answer = payload.get("output")
    error: bool | None = None
    if isinstance(answer, dict):
        error = not answer["success"] if isinstance(answer.get("success"), bool) else None
        answer = answer.get("content", answer)
    if answer is None and "tools" in payload:
        # A tool search answers with the tools it found; the model sees their definitions.
        answer = json_text(payload["tools"])
    words, attached = joined(parts_of(answer))
    if error is None:
        error = _failed(words)
    call_id = optional(payload.get("call_id"))
    event = ItemEvent("", Kind.TOOL_RESULT, words, entry="", call_id=call_id, error=error, media=attached)
    return [Draft(f"result:{call_id or digest(words)}", optional(payload.get("id")), event)]


def _failed(words: str) -> bool | None:
    """What the exit code says that Codex writes above (in old versions behind) a command's output."""
    exited = _EXIT.search(words, 0, 400) or (
        _EXIT.search(words, len(words) - 120) if words[:1] == "{" else None
    )
    return None if exited is None else exited.group(1) != "0"


def summary(payload: dict[str, Any]) -> ItemEvent:
    """The item that stands for a compacted history: no text, the size of what is encrypted."""
    hidden = text(payload.get("encrypted_content"))
    return ItemEvent("", Kind.SUMMARY, "", entry="", opaque_chars=len(hidden))


_BUILDERS: dict[str, Callable[[dict[str, Any]], list[Draft]]] = {
    "message": _message,
    "agent_message": _agent_message,
    "reasoning": _reasoning,
    "function_call": _call,
    "custom_tool_call": _call,
    "local_shell_call": _call,
    "tool_search_call": _call,
    "web_search_call": _provider_call,
    "image_generation_call": _provider_call,
    "function_call_output": _result,
    "custom_tool_call_output": _result,
    "local_shell_call_output": _result,
    "tool_search_output": _result,
}

RESPONSE_TYPES = frozenset(_BUILDERS) | SUMMARY_TYPES | NOT_CONTEXT
