"""Random memories for tests: every irregularity that a live agent's history has, from one seed."""

from __future__ import annotations

import random
from collections.abc import Mapping

from contextlab.core import Injected, Item, Kind

WORDS = "plan read the file again fix tests port 8080 /src/app.py done { } \n".split(" ")


def random_memory(seed: int, turns: int = 6) -> list[Item]:
    """Items with parallel calls, late and missing results, orphans, pins, reasoning and injected text."""
    return _Writer(random.Random(seed)).write(turns)


class _Writer:
    def __init__(self, roll: random.Random) -> None:
        self.roll = roll
        self.items: list[Item] = []
        self.late: list[str] = []
        self.pinning = roll.choice((0.0, 0.0, 0.05, 0.3))

    def write(self, turns: int) -> list[Item]:
        roll = self.roll
        for _ in range(roll.choice((0, 0, 1, 2))):
            self.add(Kind.SYSTEM)
        for _ in range(roll.randrange(turns + 1)):
            if roll.random() < 0.9:
                self.add(Kind.USER)
            if roll.random() < 0.1:
                self.add(Kind.USER, injected=Injected.META)
            for _ in range(roll.choice((0, 1, 1, 2, 4))):
                self.step()
        return self.items

    def step(self) -> None:
        roll, entry = self.roll, f"m{len(self.items)}"
        joint = roll.random() < 0.7
        calls = []
        parts = [Kind.REASONING] * roll.choice((0, 0, 1)) + [Kind.ASSISTANT] * roll.choice((0, 1))
        for part in (*parts, *[Kind.TOOL_CALL] * roll.choice((0, 1, 1, 3))):
            item = self.add(part, entry if joint else "")
            if part == Kind.TOOL_CALL:
                calls.append(item.call_id or "")
        roll.shuffle(calls)
        for call in calls:
            fate = roll.random()
            if fate < 0.1:
                self.late.append(call)
            elif fate < 0.9:
                self.add(Kind.TOOL_RESULT, call_id=call)
        while self.late and roll.random() < 0.4:
            self.add(Kind.TOOL_RESULT, call_id=self.late.pop(0))
        if roll.random() < 0.05:
            self.add(Kind.TOOL_RESULT, call_id="nobody")

    def add(
        self, kind: Kind, entry: str = "", call_id: str | None = None, injected: Injected | None = None
    ) -> Item:
        roll, name = self.roll, f"i{len(self.items)}"
        text = " ".join(roll.choices(WORDS, k=roll.choice((0, 1, 5, 20, 200))))
        if kind == Kind.TOOL_CALL:
            call_id, text = f"c{len(self.items)}", f'{{"path": "/f{roll.randrange(9)}.py"}}'
        item = Item(name, kind, text, entry or name, call_id=call_id, injected=injected)
        item.tool = roll.choice(("read", "edit_file", "bash")) if kind == Kind.TOOL_CALL else None
        item.pinned = roll.random() < self.pinning
        self.items.append(item)
        return item


def random_policy(seed: int) -> tuple[str, Mapping[str, object]]:
    """The name and the options of a policy, with limits small enough to matter."""
    roll = random.Random(seed + 1)
    items = roll.choice((0, 1, 2, 5, 9))
    window = roll.choice((60, 200, 800))
    return roll.choice(
        (
            ("structured_summary", {"max_items": items, "pinned_prefix_items": roll.choice((0, 1))}),
            ("structured_summary", {"max_approx_chars": 40 * items}),
            ("llm_summary", {"max_items": items, "fallback": roll.choice(("fail", "mechanical"))}),
            (
                "coding_checkpoint",
                {
                    "window_tokens": window,
                    "reserve_tokens": 20,
                    "keep_recent_tokens": roll.choice((0, 30, 100)),
                    "micro": roll.random() < 0.5,
                    "micro_keep": roll.choice((0, 1, 3)),
                    "micro_max_tokens": 30,
                },
            ),
        )
    )
