"""A made conversation written as a log of one of four formats, with its compaction.

| format            | the compaction                                                                  |
|-------------------|---------------------------------------------------------------------------------|
| claude-code       | a boundary record, then the summary as a user record                            |
| codex             | a `compacted` record with its text; the person's messages stay in the context    |
| contextlab-events | a compaction event, then the summary                                            |
| openai-chat       | nothing but a message that says it is a summary: it must be detected             |
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

FORMATS = ("claude-code", "codex", "contextlab-events", "openai-chat")
OPENING = {
    "en": "This session is being continued from a previous conversation that ran out of context. Summary:\n",
    "zh": "之前对话的摘要如下：\n",
    "ja": "これまでの会話の要約です。\n",
    "de": "Zusammenfassung des bisherigen Gesprächs:\n",
}


@dataclass(frozen=True)
class Said:
    """One thing in a conversation: words of somebody, or a call with its result."""

    who: str
    """`user`, `assistant` or `call`."""
    text: str
    tool: str = ""
    arguments: tuple[tuple[str, str], ...] = ()
    failed: bool = False


def write(kind: str, name: str, before: list[Said], summary: str, after: list[Said]) -> str:
    """The log, as text."""
    return _WRITERS[kind](name, before, summary, after)


def _lines(records: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def _claude(name: str, before: list[Said], summary: str, after: list[Said]) -> str:
    records: list[dict[str, Any]] = []
    parent: str | None = None

    def add(kind: str, content: Any, role: str, **more: Any) -> None:
        nonlocal parent
        uuid = f"{name}-{len(records):04}"
        message: dict[str, Any] = {"role": role, "content": content}
        if role == "assistant":
            message |= {"id": f"msg-{len(records)}", "model": "claude-opus-4-5-20251101", "type": "message"}
            message["usage"] = {"input_tokens": 5, "output_tokens": 9, "cache_read_input_tokens": 900}
        stamp = f"2026-11-17T09:{len(records) // 60:02}:{len(records) % 60:02}.000Z"
        record = {"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": name, "timestamp": stamp}
        records.append({**record, "cwd": "/home/dev/app", "version": "2.1.45", "message": message, **more})
        parent = uuid

    def tell(said: Said) -> None:
        if said.who == "call":
            call = f"toolu_{len(records)}"
            use = {"type": "tool_use", "id": call, "name": said.tool, "input": dict(said.arguments)}
            add("assistant", [use], "assistant")
            result = {
                "type": "tool_result",
                "tool_use_id": call,
                "content": said.text,
                "is_error": said.failed,
            }
            add("user", [result], "user")
        elif said.who == "user":
            add("user", said.text, "user")
        else:
            add("assistant", [{"type": "text", "text": said.text}], "assistant")

    for said in before:
        tell(said)
    boundary = {"type": "system", "subtype": "compact_boundary", "uuid": f"{name}-boundary", "parentUuid": None,
                "logicalParentUuid": parent, "sessionId": name, "timestamp": "2026-11-17T10:00:00.000Z",
                "content": "Conversation compacted",
                "compactMetadata": {"trigger": "auto", "preTokens": 150_000}}  # fmt: skip
    records.append(boundary)
    parent = f"{name}-boundary"
    add("user", summary, "user", isCompactSummary=True, isVisibleInTranscriptOnly=True)
    for said in after:
        tell(said)
    return _lines(records)


def _codex(name: str, before: list[Said], summary: str, after: list[Said]) -> str:
    records: list[dict[str, Any]] = []

    def add(kind: str, **payload: Any) -> None:
        stamp = f"2026-11-17T09:{len(records) // 60:02}:{len(records) % 60:02}.000Z"
        records.append({"timestamp": stamp, "type": kind, "payload": payload})

    def tell(said: Said) -> None:
        if said.who == "call":
            call = f"call_{len(records)}"
            arguments = json.dumps(dict(said.arguments), ensure_ascii=False)
            tool = "exec_command" if said.tool == "Bash" else said.tool
            add("response_item", type="function_call", name=tool, arguments=arguments, call_id=call)
            add("response_item", type="function_call_output", call_id=call, output=said.text)
        elif said.who == "user":
            add("event_msg", type="task_started", turn_id=f"turn-{len(records)}")
            add(
                "response_item",
                type="message",
                role="user",
                content=[{"type": "input_text", "text": said.text}],
            )
        else:
            content = [{"type": "output_text", "text": said.text}]
            add("response_item", type="message", role="assistant", content=content)
        usage = {"input_tokens": 900 + len(records), "output_tokens": 9, "total_tokens": 909 + len(records)}
        if said.who != "user":
            add("event_msg", type="token_count", info={"last_token_usage": usage, "total_token_usage": usage})

    add("session_meta", id=name, cwd="/home/dev/app", cli_version="0.142.0", source="cli")
    add("turn_context", turn_id="turn-1", model="gpt-5.5")
    for said in before:
        tell(said)
    add("compacted", message=summary)
    for said in after:
        tell(said)
    return _lines(records)


def _events(name: str, before: list[Said], summary: str, after: list[Said]) -> str:
    records: list[dict[str, Any]] = [
        {"format": "contextlab-events", "version": 1, "session": {"id": name, "model": "gpt-5"}}
    ]

    def tell(said: Said) -> None:
        if said.who != "user":
            records.append({"type": "step"})
        if said.who == "call":
            call = f"k{len(records)}"
            arguments = json.dumps(dict(said.arguments), ensure_ascii=False)
            records.append(
                {"type": "item", "kind": "tool_call", "tool": said.tool, "text": arguments, "call_id": call}
            )
            result = {"type": "item", "kind": "tool_result", "call_id": call, "text": said.text}
            records.append(result | ({"error": True} if said.failed else {}))
        else:
            records.append({"type": "item", "kind": said.who, "text": said.text})

    for said in before:
        tell(said)
    records.append({"type": "compaction", "trigger": "manual", "summary": "sum-1"})
    records.append({"type": "item", "id": "sum-1", "kind": "summary", "text": summary})
    for said in after:
        tell(said)
    return _lines(records)


def _chat(name: str, before: list[Said], summary: str, after: list[Said]) -> str:
    messages: list[dict[str, Any]] = [{"role": "system", "content": f"You are a coding agent ({name})."}]

    def tell(said: Said) -> None:
        if said.who == "call":
            call = f"call_{len(messages)}"
            arguments = json.dumps(dict(said.arguments), ensure_ascii=False)
            function = {"name": said.tool, "arguments": arguments}
            use = [{"id": call, "type": "function", "function": function}]
            messages.append({"role": "assistant", "content": None, "tool_calls": use})
            messages.append({"role": "tool", "tool_call_id": call, "content": said.text})
        else:
            messages.append({"role": said.who, "content": said.text})

    for said in before:
        tell(said)
    messages.append({"role": "user", "content": summary})
    for said in after:
        tell(said)
    return json.dumps(messages, ensure_ascii=False)


_WRITERS = {"claude-code": _claude, "codex": _codex, "contextlab-events": _events, "openai-chat": _chat}
