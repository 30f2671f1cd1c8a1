"""Writes a Codex rollout record by record, with token counts that follow from what stands in the context."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from typing import Any

from scripts.sample_sessions.writer import Clock, blob, count, ident, long_id

WINDOW = 121_600
BASE = 9_870
"""Tool descriptions and whatever else the log does not show, beside the base instructions."""
PER_MESSAGE, PER_CALL, PER_RESULT = 8, 11, 11


@dataclass(slots=True)
class Rollout:
    """One file, and the size of the context as it grows."""

    thread: str
    clock: Clock
    rng: random.Random
    cwd: str
    lines: list[str] = field(default_factory=list)
    context: int = 0
    reasoning: int = 0
    """Of the context: reasoning of the open turn, dropped at the next user message."""
    cached: int = 0
    clean: int = 0
    """The context in front of the open turn's first reasoning: what stays cached when the reasoning goes."""
    total: dict[str, int] = field(default_factory=dict)
    window_total: int = 0
    turn_id: str = ""
    users: list[dict[str, Any]] = field(default_factory=list)
    steps: int = 0

    def write(self, kind: str, payload: dict[str, Any]) -> None:
        """One line."""
        record = {"timestamp": self.clock.tick(0.001, 0.02), "type": kind, "payload": payload}
        self.lines.append(json.dumps(record, ensure_ascii=False, separators=(",", ":")))

    def item(self, payload: dict[str, Any]) -> None:
        """A response item."""
        self.write("response_item", payload)

    def event(self, kind: str, **fields: Any) -> None:
        """An event message."""
        self.write("event_msg", {"type": kind} | fields)

    def meta(self, instructions: str) -> None:
        """The head of the file."""
        git = {
            "commit_hash": "7c1f0d9e24b8a6f35d1e0c9b8a7f6e5d4c3b2a10",
            "branch": "ledger",
            "repository_url": "https://github.example/acme/acme-billing.git",
        }
        payload = {
            "id": self.thread,
            "timestamp": self.clock.tick(0, 1),
            "cwd": self.cwd,
            "originator": "codex-tui",
            "cli_version": "0.142.0",
            "source": "cli",
            "thread_source": "user",
            "model_provider": "openai",
        }
        self.write("session_meta", payload | {"base_instructions": {"text": instructions}, "git": git})
        self.context = BASE + count(instructions) + PER_MESSAGE

    def start(self, text: str, given: list[tuple[str, list[str]]]) -> None:
        """A turn: the task, what the client puts in front (role, texts), and the prompt."""
        self.turn_id = ident(self.rng)
        self.event(
            "task_started",
            turn_id=self.turn_id,
            started_at=int(self.clock.now.timestamp()),
            model_context_window=WINDOW,
            collaboration_mode_kind="default",
        )
        for role, texts in given:
            self.message(role, texts)
        self.turn_context()
        if self.reasoning:
            self.context -= self.reasoning
            self.cached = min(self.cached, self.clean)
        self.reasoning = 0
        self.message("user", [text])
        self.users.append(
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
        )
        self.event("user_message", message=text, images=[], local_images=[], text_elements=[])

    def turn_context(self) -> None:
        """Model and permissions; repeated after a compaction."""
        self.write(
            "turn_context",
            {
                "turn_id": self.turn_id,
                "cwd": self.cwd,
                "model": "gpt-5.5",
                "effort": "high",
                "approval_policy": "on-request",
                "sandbox_policy": {"type": "workspace-write"},
                "summary": "auto",
            },
        )

    def message(self, role: str, texts: list[str]) -> None:
        """A message of any role but the assistant's."""
        self.item(
            {
                "type": "message",
                "role": role,
                "content": [{"type": "input_text", "text": text} for text in texts],
            }
        )
        self.context += sum(count(text) for text in texts) + PER_MESSAGE

    def step(self, text: str, calls: list[tuple[str, str]], thought: str = "", final: bool = False) -> None:
        """One model call: reasoning, words, shell commands with their outputs, then the figures."""
        self.steps += 1
        self.clock.tick(3, 30)
        prompt = self.context
        reasoning = self.rng.randint(40, 900) if thought or self.rng.random() < 0.4 else 0
        output = reasoning
        if reasoning:
            self.clean = self.clean if self.reasoning else prompt
            summary = [{"type": "summary_text", "text": thought}] if thought else []
            self.item(
                {
                    "type": "reasoning",
                    "summary": summary,
                    "encrypted_content": blob(self.rng, 160 + reasoning * 2),
                }
            )
        if text:
            phase = "final_answer" if final else "commentary"
            self.event("agent_message", message=text, phase=phase, memory_citation=None)
            content = [{"type": "output_text", "text": text}]
            self.item({"type": "message", "role": "assistant", "content": content, "phase": phase})
            output += count(text) + PER_MESSAGE
        results = []
        for command, result in calls:
            arguments = json.dumps({"cmd": command, "workdir": self.cwd, "yield_time_ms": 10000})
            call_id = long_id(self.rng, "call_")
            self.item(
                {"type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": call_id}
            )
            output += count(arguments) + count("exec_command") + PER_CALL
            results.append((call_id, result))
        for call_id, result in results:
            self._output(call_id, result)
        self.reasoning += reasoning
        self.context += output
        self._figures(prompt, output, reasoning)

    def _output(self, call_id: str, result: str) -> None:
        self.clock.tick(0.05, 4)
        head = f"Chunk ID: {self.rng.getrandbits(24):06x}\nWall time: {self.rng.uniform(0, 3):.4f} seconds\n"
        text = f"{head}Process exited with code 0\nOriginal token count: {count(result)}\nOutput:\n{result}\n"
        self.item({"type": "function_call_output", "call_id": call_id, "output": text})
        self.context += count(text) + PER_RESULT

    def _figures(self, prompt: int, output: int, reasoning: int) -> None:
        read = self.cached - self.cached % 128
        self.cached = prompt
        last = {
            "input_tokens": prompt,
            "cached_input_tokens": read,
            "output_tokens": output,
            "reasoning_output_tokens": reasoning,
            "total_tokens": prompt + output,
        }
        self.total = {name: self.total.get(name, 0) + value for name, value in last.items()}
        self.token_count(last)

    def token_count(self, last: dict[str, int]) -> None:
        """The figures of a call, or the size after a compaction."""
        limits = {
            "limit_id": "codex",
            "primary": {"used_percent": 11.0, "window_minutes": 300},
            "plan_type": "plus",
        }
        info = {
            "total_token_usage": dict(self.total),
            "last_token_usage": last,
            "model_context_window": WINDOW,
        }
        self.event("token_count", info=info, rate_limits=limits)

    def compact(self, hidden_size: int) -> None:
        """An opaque compaction: the user's messages stay, the rest is one encrypted item."""
        sealed = {"type": "compaction", "encrypted_content": blob(self.rng, 5200)}
        self.clock.tick(20, 40)
        self.write("compacted", {"message": "", "replacement_history": [*self.users, sealed], "window_id": 1})
        kept = sum(count(user["content"][0]["text"]) + PER_MESSAGE for user in self.users)
        self.context = BASE + self.window_total + kept + hidden_size
        self.reasoning, self.cached = 0, 9_600
        self.turn_context()
        names = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens")
        self.token_count(dict.fromkeys(names, 0) | {"total_tokens": self.context})
        self.event("context_compacted")

    def end(self, text: str) -> None:
        """The turn is complete."""
        self.event(
            "task_complete",
            turn_id=self.turn_id,
            last_agent_message=text,
            duration_ms=self.rng.randint(90_000, 900_000),
        )
