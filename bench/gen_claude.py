"""A Claude Code transcript of any size: python -m bench.gen_claude --turns 20000 --steps 1 -o session.jsonl

Seeded: the same options give the same bytes. Shape and sizes follow real transcripts: answers in chunks that share
an id, results of log-normal length, structured copies of results, compactions when the window is full.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from bench.gen_text import Text

TOOLS = ("Read",) * 6 + ("Bash",) * 5 + ("Grep",) * 3 + ("Edit",) * 3 + ("Write",)
WINDOW, BASE = 160_000, 16_000


class Transcript:
    """The records of one session."""

    def __init__(self, seed: int, thinking: float = 0.4) -> None:
        self.rng = random.Random(seed)
        self.text = Text(self.rng)
        self.thinking = thinking
        self.session = self.ident()
        self.parent: str | None = None
        self.now = datetime(2026, 3, 1, tzinfo=UTC)
        self.size = BASE

    def ident(self) -> str:
        """A uuid."""
        return str(uuid.UUID(int=self.rng.getrandbits(128), version=4))

    def record(self, kind: str, **fields: Any) -> dict[str, Any]:
        """One line of the tree."""
        self.now += timedelta(milliseconds=self.rng.randint(200, 8000))
        own = self.ident()
        base = {
            "parentUuid": self.parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": "/home/dev/project",
        }
        base |= {"sessionId": self.session, "version": "2.1.45", "gitBranch": "main", "type": kind}
        self.parent = own
        stamp = self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return base | fields | {"uuid": own, "timestamp": stamp}

    def turn(self, steps: int) -> Iterator[dict[str, Any]]:
        """A prompt and the calls that answer it; the last one only speaks."""
        prompt = self.text.prose(self.text.size(180, 0.8, 4000))
        self.size += len(prompt) // 4
        yield self.record("user", message={"role": "user", "content": prompt})
        for number in range(1, steps + 1):
            yield from self.step(last=number == steps)
            if self.size > WINDOW:
                yield from self.compact()

    def step(self, last: bool) -> Iterator[dict[str, Any]]:
        """One call in chunks, and the result of its tool."""
        blocks = self._blocks(last)
        usage = {"input_tokens": 4, "cache_creation_input_tokens": self.rng.randint(100, 4000)}
        usage |= {"cache_read_input_tokens": self.size, "output_tokens": self.rng.randint(20, 900)}
        message, request = "msg_01" + self.text.letters(22), "req_01" + self.text.letters(22)
        for block in blocks:
            self.size += len(json.dumps(block)) // 4
            stop = None if block is not blocks[-1] else "end_turn" if last else "tool_use"
            body = {
                "model": "claude-opus-4-5-20251101",
                "id": message,
                "type": "message",
                "role": "assistant",
            }
            body |= {"content": [block], "stop_reason": stop, "stop_sequence": None, "usage": usage}
            yield self.record("assistant", message=body, requestId=request)
        if not last:
            yield self._result(blocks[-1])

    def _blocks(self, last: bool) -> list[dict[str, Any]]:
        text, blocks = self.text, []
        if self.rng.random() < self.thinking:
            thought = text.prose(text.size(500, 0.8, 8000))
            blocks.append(
                {
                    "type": "thinking",
                    "thinking": thought,
                    "signature": text.letters(text.size(420, 0.4, 2000)),
                }
            )
        if last or self.rng.random() < 0.45:
            blocks.append({"type": "text", "text": text.prose(text.size(900 if last else 150, 0.8, 9000))})
        if not last:
            name = self.rng.choice(TOOLS)
            call = {
                "type": "tool_use",
                "id": "toolu_01" + text.letters(22),
                "name": name,
                "input": self._input(name),
            }
            blocks.append(call)
        return blocks

    def _input(self, name: str) -> dict[str, Any]:
        text, path = self.text, f"/home/dev/project/{self.rng.choice(self.text.paths)}"
        if name == "Edit":
            return {
                "file_path": path,
                "old_string": text.output(text.size(350, 0.9, 6000)),
                "new_string": text.output(500),
            }
        if name == "Write":
            return {"file_path": path, "content": text.output(text.size(2500, 1, 30_000))}
        if name == "Bash":
            return {
                "command": f"python -m pytest {self.rng.choice(text.paths)} -q",
                "description": text.prose(50),
            }
        return {"file_path": path, "pattern": self.rng.choice(text.names)}

    def _result(self, call: dict[str, Any]) -> dict[str, Any]:
        out = self.text.output(self.text.size(1100, 1.2, 60_000))
        self.size += len(out) // 4
        block = {"tool_use_id": call["id"], "type": "tool_result", "content": out}
        copy = {"stdout": out, "stderr": "", "interrupted": False, "isImage": False}
        return self.record("user", message={"role": "user", "content": [block]}, toolUseResult=copy)

    def compact(self) -> Iterator[dict[str, Any]]:
        """The window is full: a boundary and a summary."""
        last, self.parent = self.parent, None
        figures = {"trigger": "auto", "preTokens": self.size}
        yield self.record("system", subtype="compact_boundary", content="Conversation compacted", isMeta=False,
                          level="info", logicalParentUuid=last, compactMetadata=figures)  # fmt: skip
        summary = "This session is being continued from a previous conversation.\n" + self.text.prose(8000)
        self.size = BASE + len(summary) // 4
        yield self.record("user", message={"role": "user", "content": summary}, isCompactSummary=True)


def lines(
    seed: int, turns: int | None, steps: float, most_lines: int | None, most_mb: float | None
) -> Iterator[str]:
    """The file line by line, until one of the limits is reached."""
    made, number, size, turn = Transcript(seed), 0, 0, 0
    while turns is None or turn < turns:
        turn += 1
        for record in made.turn(max(1, int(made.rng.expovariate(1 / steps)) + 1)):
            line = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
            number, size = number + 1, size + len(line.encode()) + 1
            yield line
            if number == most_lines or (most_mb and size >= most_mb * 1e6):
                return


def main() -> None:
    """Write a session to a file or to standard output."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--turns", type=int)
    parser.add_argument("--steps", type=float, default=12)
    parser.add_argument("--lines", type=int)
    parser.add_argument("--target-mb", type=float)
    parser.add_argument("-o", default="-")
    asked = parser.parse_args()
    turns = asked.turns or (None if asked.lines or asked.target_mb else 50)
    out = sys.stdout if asked.o == "-" else open(asked.o, "w", encoding="utf-8")  # noqa: SIM115
    for line in lines(asked.seed, turns, asked.steps, asked.lines, asked.target_mb):
        out.write(line + "\n")
    out.close()


if __name__ == "__main__":
    main()
