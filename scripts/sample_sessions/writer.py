"""Writes a Claude Code transcript record by record, with usage figures that follow from what stands in the context.

The size of an item is its o200k count times a factor plus a constant per block, as measured on real sessions of
this model, with a little seeded noise. Cache figures follow the provider's rules: the longest prefix that was sent
before is read, the rest is written; a cleared result or a stripped thinking block ends the prefix.
"""

from __future__ import annotations

import base64
import json
import random
import uuid
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from contextlab.adapters.tokens import counter
from contextlab.core.measuring.models import Calibration, reasoning_size

MODEL = "claude-sonnet-4-5-20250929"
CLEARED_SIZE = 30
PROVIDER = Calibration(1.142, 67, 0.0)
"""How the provider of these sessions counts: theirs to keep, whatever is learnt of real ones."""


def count(text: str) -> int:
    """Tokens of a text with o200k_base."""
    return counter().count(text)


@dataclass(slots=True)
class Piece:
    """Something in the context, with its size in the model's tokens."""

    key: str
    size: int
    thinking: bool = False


@dataclass(slots=True)
class Clock:
    """The time of the session, moved by seeded steps."""

    now: datetime
    rng: random.Random

    def tick(self, least: float, most: float) -> str:
        """Move on by a random number of seconds and give the time as the log writes it."""
        self.now += timedelta(seconds=self.rng.uniform(least, most))
        return self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(slots=True)
class Context:
    """What the provider holds, and what of it is cached."""

    hidden: int
    system: int
    rng: random.Random
    pieces: list[Piece] = field(default_factory=list)
    cached: int = 0

    def add(self, key: str, text: str, thinking: bool = False, signature: str = "", extra: int = 0) -> int:
        """Put an item at the end; returns its size."""
        if thinking and len(signature) > 100:
            size = reasoning_size(MODEL, len(signature), count(text))
        else:
            calibrated = PROVIDER.apply(count(text), 1)
            size = round(calibrated * self.rng.uniform(0.985, 1.015)) + extra
        self.pieces.append(Piece(key, size, thinking))
        return size

    def clear(self, keys: list[str]) -> int:
        """Replace results by a stub; returns the tokens saved."""
        saved, before = 0, self.system
        for piece in self.pieces:
            if piece.key in keys:
                saved += piece.size - CLEARED_SIZE
                piece.size = CLEARED_SIZE
                self.cached = min(self.cached, before)
            before += piece.size
        return saved

    def strip_thinking(self) -> None:
        """A new prompt: the model forgets its earlier thinking, and the cached prefix ends there."""
        kept, before = [], self.hidden
        for piece in self.pieces:
            if piece.thinking:
                self.cached = min(self.cached, before)
                continue
            kept.append(piece)
            before += piece.size
        self.pieces = kept

    def usage(self) -> dict[str, int]:
        """The input figures of a call made now."""
        total = self.hidden + sum(piece.size for piece in self.pieces)
        fresh = self.rng.choice((3, 4, 6, 9, 12))
        read = self.cached
        self.cached = total - fresh
        return {
            "input_tokens": fresh,
            "cache_creation_input_tokens": total - fresh - read,
            "cache_read_input_tokens": read,
        }


def ident(rng: random.Random) -> str:
    """A uuid of the session's own seeded kind."""
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


def long_id(rng: random.Random, prefix: str) -> str:
    """An id as the provider makes them."""
    return prefix + "".join(rng.choices("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789", k=24))


def blob(rng: random.Random, size: int) -> str:
    """Base64 without meaning, in place of a signature."""
    return base64.b64encode(rng.randbytes(size)).decode()


@dataclass(slots=True)
class Transcript:
    """One file of a session, as Claude Code writes it."""

    session: str
    cwd: str
    clock: Clock
    rng: random.Random
    context: Context
    branch: str = "main"
    version: str = "2.1.45"
    agent: str | None = None
    slug: str = "patient-sweeping-otter"
    lines: list[str] = field(default_factory=list)
    parent: str | None = None
    steps: int = 0

    def write(self, record: dict[str, Any]) -> None:
        """One line of the file."""
        self.lines.append(json.dumps(record, ensure_ascii=False, separators=(",", ":")))

    def record(self, kind: str, **fields: Any) -> str:
        """A record of the uuid tree; returns its uuid."""
        own = ident(self.rng)
        base: dict[str, Any] = {"parentUuid": self.parent, "isSidechain": self.agent is not None}
        base |= {"userType": "external", "cwd": self.cwd, "sessionId": self.session, "version": self.version}
        base |= {"gitBranch": self.branch, "slug": self.slug} | (
            {"agentId": self.agent} if self.agent else {}
        )
        self.write(base | {"type": kind} | fields | {"uuid": own, "timestamp": self.clock.tick(0.02, 0.4)})
        self.parent = own
        return own

    def user(self, text: str, image: str | None = None, meta: bool = False) -> None:
        """What a person typed, with a picture if they pasted one; a `meta` record is put in by the client."""
        self.clock.tick(20, 140)
        if not meta:
            self.context.strip_thinking()
        content: Any = text
        if image is not None:
            source = {"type": "base64", "media_type": "image/png", "data": image}
            content = [{"type": "text", "text": text}, {"type": "image", "source": source}]
        self.context.add("prompt", text, extra=1290 if image else 0)
        extra: dict[str, Any] = {"isMeta": True} if meta else {"permissionMode": "acceptEdits"}
        self.record("user", message={"role": "user", "content": content}, **extra)

    def answer(self, thinking: str, text: str, calls: list[tuple[str, dict[str, Any]]]) -> list[str]:
        """One model call: its chunks share an id; returns the ids of the tool calls."""
        self.steps += 1
        usage: dict[str, Any] = self.context.usage()
        written = usage["cache_creation_input_tokens"]
        usage["cache_creation"] = {"ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": 0}
        blocks, ids, output = self._blocks(thinking, text, calls)
        message, request = long_id(self.rng, "msg_01"), long_id(self.rng, "req_011CY")
        self.clock.tick(2, 14)
        for number, block in enumerate(blocks, 1):
            last = number == len(blocks)
            figures = usage | {
                "output_tokens": output if last else self.rng.randint(1, 9),
                "service_tier": "standard",
            }
            body: dict[str, Any] = {
                "model": MODEL,
                "id": message,
                "type": "message",
                "role": "assistant",
                "content": [block],
            }
            body |= {
                "stop_reason": ("tool_use" if calls else "end_turn") if last else None,
                "stop_sequence": None,
            }
            self.record("assistant", message=body | {"usage": figures}, requestId=request)
        return ids

    def _blocks(
        self, thinking: str, text: str, calls: list[tuple[str, dict[str, Any]]]
    ) -> tuple[list[dict[str, Any]], list[str], int]:
        blocks: list[dict[str, Any]] = []
        ids, output = [], 0
        if thinking:
            signature = blob(self.rng, max(200, len(thinking) + self.rng.randint(120, 420)))
            blocks.append({"type": "thinking", "thinking": thinking, "signature": signature})
            output += self.context.add("thinking", thinking, thinking=True, signature=signature)
        if text:
            blocks.append({"type": "text", "text": text})
            output += self.context.add("text", text)
        for name, arguments in calls:
            call = long_id(self.rng, "toolu_01")
            blocks.append({"type": "tool_use", "id": call, "name": name, "input": arguments})
            output += self.context.add(call + ":call", name + json.dumps(arguments, ensure_ascii=False))
            ids.append(call)
        return blocks, ids, output

    def result(self, call: str, text: str, error: bool = False, extra: Any = None) -> None:
        """What a tool answered."""
        self.clock.tick(0.1, 20)
        block: dict[str, Any] = {"tool_use_id": call, "type": "tool_result", "content": text}
        if error:
            block["is_error"] = True
        self.context.add(call, text)
        own: Any = f"Error: {text}" if error else (extra if extra is not None else {"type": "text"})
        self.record("user", message={"role": "user", "content": [block]}, toolUseResult=own)
