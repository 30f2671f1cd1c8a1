"""Sessions of a coding agent as chat messages, for benchmarks of the engine: seeded, the same size, the same bytes.

Turns of some steps; a step calls one tool, sometimes two, and results are 4 KB at most. `events` and `items` give the
same sessions as the engine takes them.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

from bench.gen_text import Text
from contextlab.core.events import Event, ItemEvent, StepEvent, TurnStart
from contextlab.core.items import Item, Kind

LARGEST = 4_000
TOOLS = ("read_file", "shell", "grep", "apply_patch")
_POOL = 400
"""Different texts of each kind: writing 100,000 would take longer than what is measured."""


def messages(count: int, seed: int = 7) -> list[dict[str, Any]]:
    """So many messages, a system prompt first."""
    made = _messages(random.Random(seed))
    return [next(made) for _ in range(count)]


def events(chat: list[dict[str, Any]]) -> Iterator[Event]:
    """The events of these messages; each assistant message is a step."""
    for place, message in enumerate(chat):
        if message["role"] == "user":
            yield TurnStart(f"t{place}")
        if message["role"] == "assistant":
            yield StepEvent(f"s{place}", model="gpt-4.1")
        for item in _items(place, message):
            yield ItemEvent(
                item.id, item.kind, item.text, item.entry, tool=item.tool, call_id=item.call_id,
                opens_turn=item.opens_turn, step=f"s{place}" if message["role"] == "assistant" else None,
            )  # fmt: skip


def items(chat: list[dict[str, Any]]) -> list[Item]:
    """The items of these messages."""
    return [item for place, message in enumerate(chat) for item in _items(place, message)]


def _items(place: int, message: dict[str, Any]) -> Iterator[Item]:
    entry, role = f"m{place}", message["role"]
    if role == "tool":
        yield Item(entry, Kind.TOOL_RESULT, message["content"], entry, call_id=message["tool_call_id"])
        return
    if message["content"]:
        yield Item(entry, Kind(role), message["content"], entry, opens_turn=role == "user")
    for call in message.get("tool_calls", ()):
        made = call["function"]
        yield Item(call["id"], Kind.TOOL_CALL, made["arguments"], entry, made["name"], call["id"])


def _messages(roll: random.Random) -> Iterator[dict[str, Any]]:
    text = Text(roll)
    results = [text.output(text.size(900, 1.1, LARGEST)) for _ in range(_POOL)]
    prose = [text.prose(text.size(300, 0.8, 6_000)) for _ in range(_POOL)]
    calls = 0
    yield {"role": "system", "content": text.prose(4_000)}
    while True:
        yield {"role": "user", "content": roll.choice(prose)}
        for _ in range(int(roll.expovariate(1 / 6))):
            ids = [f"call_{calls + number}" for number in range(2 if roll.random() < 0.15 else 1)]
            calls += len(ids)
            asked = [_call(name, roll.choice(TOOLS), {"path": roll.choice(text.paths)}) for name in ids]
            said = roll.choice(prose)[:200] if roll.random() < 0.4 else ""
            yield {"role": "assistant", "content": said, "tool_calls": asked}
            for name in ids:
                yield {"role": "tool", "tool_call_id": name, "content": roll.choice(results)}
        yield {"role": "assistant", "content": roll.choice(prose)}


def _call(name: str, tool: str, arguments: dict[str, str]) -> dict[str, Any]:
    return {"id": name, "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}
