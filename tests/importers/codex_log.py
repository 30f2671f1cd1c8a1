"""Codex rollouts made by hand, record by record."""

from __future__ import annotations

import json
from typing import Any


class Rollout:
    """A rollout in the making; times count up by a second."""

    def __init__(self, session: str = "11111111-2222-3333-4444-555555555555", **meta: Any) -> None:
        self.records: list[dict[str, Any]] = []
        self._input = self._cached = self._output = 0
        self.meta(session, **meta)

    def add(self, kind: str, payload: dict[str, Any]) -> None:
        """Any record."""
        stamp = f"2026-01-01T10:{len(self.records) // 60:02}:{len(self.records) % 60:02}.000Z"
        self.records.append({"timestamp": stamp, "type": kind, "payload": payload})

    def meta(self, session: str, prompt: str = "You are Codex.", **fields: Any) -> None:
        """A session_meta record."""
        payload = {"id": session, "cwd": "/home/ada/shop", "cli_version": "0.142.0", "source": "cli"}
        self.add("session_meta", {**payload, "base_instructions": {"text": prompt}, **fields})

    def event(self, kind: str, **fields: Any) -> None:
        """An event_msg record."""
        self.add("event_msg", {"type": kind, **fields})

    def item(self, kind: str, **fields: Any) -> None:
        """A response_item record."""
        self.add("response_item", {"type": kind, **fields})

    def task(self, turn: str, window: int = 258_400, model: str = "gpt-5.5") -> None:
        """A turn starts."""
        self.event("task_started", turn_id=turn, model_context_window=window)
        self.add("turn_context", {"turn_id": turn, "model": model})

    def done(self, turn: str) -> None:
        """A turn ends."""
        self.event("task_complete", turn_id=turn, last_agent_message=None)

    def say(self, role: str, *texts: str) -> None:
        """A message of one or more parts; a user's is repeated as an event, as Codex does it."""
        form = "output_text" if role == "assistant" else "input_text"
        if role == "assistant":
            self.event("agent_message", message=texts[0])
        self.item("message", role=role, content=[{"type": form, "text": one} for one in texts])
        if role == "user":
            self.event("user_message", message=texts[0])

    def think(self, hidden: str = "sealed") -> None:
        """A reasoning item."""
        self.item("reasoning", summary=[], encrypted_content=hidden)

    def call(self, call_id: str, command: str = "ls", answer: str | None = "ok") -> None:
        """A call, with its output unless there is none."""
        self.item(
            "function_call", name="exec_command", arguments=json.dumps({"cmd": command}), call_id=call_id
        )
        if answer is not None:
            self.item("function_call_output", call_id=call_id, output=answer)

    def count(
        self, prompt: int, cached: int = 0, output: int = 10, window: int = 258_400, **last: Any
    ) -> None:
        """A token count of a new call."""
        self._input, self._cached = self._input + prompt, self._cached + cached
        self._output += output
        figures = {"input_tokens": prompt, "cached_input_tokens": cached, "output_tokens": output}
        figures |= {"reasoning_output_tokens": 0, "total_tokens": prompt + output, **last}
        self._count(figures, window)

    def repeat(self, window: int = 258_400) -> None:
        """A token count that only repeats the totals."""
        self._count(
            {"input_tokens": 1, "cached_input_tokens": 0, "output_tokens": 1, "total_tokens": 2}, window
        )

    def after(self, tokens: int, window: int = 258_400) -> None:
        """The token count behind a compaction: the size of the new context."""
        figures = dict.fromkeys(
            ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens"), 0
        )
        self._count({**figures, "total_tokens": tokens}, window)

    def _count(self, last: dict[str, Any], window: int) -> None:
        total = {
            "input_tokens": self._input,
            "cached_input_tokens": self._cached,
            "output_tokens": self._output,
        }
        total["total_tokens"] = self._input + self._output
        info = {"total_token_usage": total, "last_token_usage": last, "model_context_window": window}
        self.event("token_count", info=info, rate_limits={})

    def compacted(self, message: str = "", history: list[dict[str, Any]] | None = None) -> None:
        """A compacted record."""
        payload: dict[str, Any] = {"message": message}
        if history is not None:
            payload["replacement_history"] = history
        self.add("compacted", payload)

    def text(self) -> str:
        """The file."""
        return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in self.records)


def message(role: str, *texts: str) -> dict[str, Any]:
    """A message as replacement histories hold it."""
    return {
        "type": "message",
        "role": role,
        "content": [{"type": "input_text", "text": one} for one in texts],
    }
