"""Random memories that every provider accepts, for tests of automatic context compression."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from contextlab.core.auto_context.options import AutoContextOptions
from contextlab.core.items import Injected, Item, Kind
from contextlab.core.language_model import ModelError
from contextlab.core.testing import ScriptedModel

TOOLS = ("read", "bash", "context_reload", "create_plan")


@dataclass
class Maker:
    """Writes one memory from a seed: parallel calls, joint and single results, reasoning, pins, an open end."""

    seed: int
    pins: bool = True
    items: list[Item] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)

    def memory(self) -> tuple[Item, ...]:
        """The memory."""
        if self.random.random() < 0.3:
            self.add(Kind.SYSTEM)
        for number in range(self.random.choice((1, 1, 2, 3, 5))):
            self.round(f"{number}")
        if self.random.random() < 0.6:
            self.question()
            for number in range(self.random.choice((0, 1, 2, 4))):
                self.step(f"open{number}")
            if self.random.random() < 0.3:
                self.step("pending", answered=False)
        return tuple(self.items)

    def round(self, name: str) -> None:
        """A question, steps, an answer."""
        self.question()
        for number in range(self.random.choice((0, 0, 1, 2, 3, 5))):
            self.step(f"{name}.{number}")
            if self.random.random() < 0.08:
                self.add(Kind.USER, injected=self.random.choice((Injected.MIDTURN, Injected.META)))
        if self.random.random() < 0.9:
            self.reason()
            self.add(Kind.ASSISTANT)

    def question(self) -> None:
        """One prompt, sometimes two."""
        for _ in range(self.random.choice((1, 1, 1, 2))):
            self.add(Kind.USER)

    def step(self, name: str, *, answered: bool = True) -> None:
        """Calls of one message or of several, and their results."""
        joint = self.random.random() < 0.6
        entry = f"step{name}" if joint else ""
        self.reason(entry)
        if self.random.random() < 0.3:
            self.add(Kind.ASSISTANT, entry)
        calls = [self.add(Kind.TOOL_CALL, entry) for _ in range(self.random.choice((1, 1, 2, 3)))]
        if not answered:
            calls = calls[: self.random.randrange(len(calls))]
        together = f"results{name}" if self.random.random() < 0.3 else ""
        self.random.shuffle(calls)
        for call in calls:
            item = self.add(Kind.TOOL_RESULT, together)
            item.call_id = call.call_id

    def reason(self, entry: str = "") -> None:
        """Sometimes a thought."""
        if self.random.random() < 0.25:
            self.add(Kind.REASONING, entry)

    def add(self, kind: Kind, entry: str = "", injected: Injected | None = None) -> Item:
        """One item."""
        name = f"i{len(self.items)}"
        text = self.random.choice(("ä", "word ", "🎉", "x")) * self.random.choice((1, 5, 30, 90))
        item = Item(name, kind, text, entry or name, injected=injected)
        item.pinned = self.pins and self.random.random() < 0.03
        if kind == Kind.TOOL_CALL:
            item.tool, item.call_id = self.random.choice(TOOLS), f"c{name}"
        self.items.append(item)
        return item

    def options(self) -> AutoContextOptions:
        """Settings that are reached by small memories."""
        pick = self.random.choice
        return AutoContextOptions(
            msg_threshold=pick((1, 3, 8)),
            last_keep=pick((0, 1, 2, 5, 10)),
            large_payload_threshold=pick((20, 60, 5000)),
            offload_single_preview=pick((0, 5, 20)),
            min_consecutive_tool_messages=pick((0, 1, 3, 6)),
            min_compression_token_threshold=pick((0, 0, 100)),
            gate_s3=pick((True, False)),
            max_passes=pick((1, 1, 3)),
            keep_unread_results=pick((True, False)),
        )

    def model(self, *, size: int = 1, fails_at: int | None = None) -> ScriptedModel:
        """A model that gives short answers (or `size` times longer ones), and fails once if it is told to."""
        answers: list[str | Exception] = [f"SUM {n} " * size for n in range(60)]
        if fails_at is not None:
            answers[fails_at] = ModelError("overloaded", "down")
        return ScriptedModel.saying(answers)
