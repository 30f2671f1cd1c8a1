"""What kinds of records a rollout has, and who it is: the fields of its first session_meta."""

from __future__ import annotations

import re
from typing import Any

from contextlab.core.events import SessionStart
from contextlab.importers.base import Source
from contextlab.importers.values import digest, mapping, optional, text

RECORD_TYPES = frozenset({"session_meta", "turn_context", "response_item", "event_msg", "compacted"})

NO_CONTEXT = frozenset({"turn_context", "world_state", "inter_agent_communication_metadata"})
"""Records that tell the circumstances of a turn; the model sees nothing of them."""

REPEATED = frozenset(
    "agent_message user_message agent_reasoning agent_reasoning_raw_content agent_reasoning_section_break "
    "patch_apply_begin patch_apply_end mcp_tool_call_begin mcp_tool_call_end web_search_begin web_search_end "
    "exec_command_begin exec_command_end image_generation_end view_image_tool_call context_compacted item_started "
    "item_completed plan_update turn_diff thread_goal_updated sub_agent_activity entered_review_mode "
    "exited_review_mode stream_error error warning background_event thread_name_updated token_count".split()
)
"""Events that repeat what response items say, or that only the person saw."""

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?=\.jsonl)")


def session_start(payload: dict[str, Any], source: Source) -> SessionStart:
    """The session of a session_meta record, subagents and forks with the session they came from."""
    name = optional(payload.get("id")) or optional(payload.get("session_id")) or _fallback_id(source)
    start = SessionStart(name, started_at=optional(payload.get("timestamp")))
    start.project = optional(payload.get("cwd"))
    start.branch = optional(mapping(payload.get("git")).get("branch"))
    start.version = optional(payload.get("cli_version"))
    start.forked_from = optional(payload.get("forked_from_id"))
    _subagent(start, payload)
    return start


def unnamed(source: Source, started_at: str | None) -> SessionStart:
    """A session whose file does not begin with its session_meta."""
    return SessionStart(_fallback_id(source), started_at=started_at)


def base_instructions(payload: dict[str, Any]) -> str:
    """The system prompt of a session_meta record, empty when it has none."""
    base = payload.get("base_instructions")
    return text(mapping(base).get("text")) or text(base) or text(payload.get("instructions"))


def unwrap(value: dict[str, Any], first: bool) -> tuple[str, dict[str, Any]]:
    """Type and payload of a record; versions before the envelope wrote both as one object."""
    kind, payload = text(value.get("type")), value.get("payload")
    if isinstance(payload, dict):
        return kind, payload
    if first and not kind and "id" in value and "timestamp" in value:
        return "session_meta", value
    if "record_type" in value:
        return "turn_context", {}
    return ("response_item", value) if kind or "role" in value else ("", {})


def _subagent(start: SessionStart, payload: dict[str, Any]) -> None:
    source = mapping(payload.get("source"))
    kind = source.get("subagent", source.get("sub_agent"))
    if kind is None:
        return
    spawn = mapping(mapping(kind).get("thread_spawn"))
    start.role = "compaction" if kind == "compact" else "subagent"
    names = (spawn.get("agent_nickname"), spawn.get("agent_role"), mapping(kind).get("other"), kind)
    start.agent = next((name for name in map(optional, names) if name), None)
    start.parent = optional(spawn.get("parent_thread_id")) or optional(payload.get("parent_thread_id"))


def _fallback_id(source: Source) -> str:
    name = (source.relative or source.name).rsplit("/", 1)[-1]
    found = _UUID.search(name)
    return found.group(0) if found else f"codex:{digest(name)}"
