"""Random sessions for tests: every irregularity that real logs have, from one seed."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from contextlab.core.assembler import Assembler
from contextlab.core.events import (
    Cleared,
    Compaction,
    Event,
    ItemEvent,
    SessionStart,
    StepEvent,
    TurnStart,
    Usage,
)
from contextlab.core.items import Injected, Kind, Reason, Verdict
from contextlab.core.timeline import FLAG_PINNED, Timeline

MODELS = ("claude-opus-4-5", "claude-sonnet-4-5", "gpt-5.5", "other", None)


@dataclass
class Maker:
    """Writes the events of one random session."""

    seed: int
    steps: int = 12
    marks: bool = True
    random: random.Random = field(init=False)
    events: list[Event] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)
    count: int = 0
    entry: str = ""

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)

    def session(self) -> list[Event]:
        """The events, in order."""
        model = self.random.choice(MODELS)
        for _ in range(self.random.choice((0, 0, 1, 2))):
            self.item(Kind.SYSTEM)
        for number in range(1, self.steps + 1):
            self.between_steps(number)
            if self.random.random() < 0.05:
                model = self.random.choice(MODELS)
            self.step(number, model)
        return self.events

    def between_steps(self, number: int) -> None:
        """Prompts, injected texts, what only the person saw, and the log's own marks."""
        chance = self.random.random
        if number == 1 or chance() < 0.25:
            self.events.append(TurnStart(f"turn{number}"))
            for _ in range(self.random.choice((0, 1, 1, 1, 2))):
                self.item(Kind.USER)
        if chance() < 0.1:
            self.item(Kind.USER, injected=Injected.META)
        if chance() < 0.15:
            self.item(Kind.UI)
        if chance() < 0.04:
            self.item(Kind.SYSTEM)
        if self.marks and chance() < 0.15:
            self.mark(number)
        while self.late and chance() < 0.5:
            self.result(self.late.pop(0))

    def step(self, number: int, model: str | None) -> None:
        """One model call: reasoning, text and calls in one message or several, then their results."""
        roll, step = self.random, f"step{number}"
        self.events.append(StepEvent(step, model=model, limit=roll.choice((None, 5_000))))
        one_message = roll.random() < 0.7
        parts = [Kind.REASONING] * roll.choice((0, 0, 1, 2)) + [Kind.ASSISTANT] * roll.choice((0, 1))
        parts += [Kind.TOOL_CALL] * roll.choice((0, 1, 1, 2, 3))
        calls = []
        for part in parts:
            entry = f"message{number}" if one_message else None
            item = self.item(part, entry=entry, step=step)
            if part == Kind.TOOL_CALL:
                calls.append(item.call_id or "")
        if roll.random() < 0.7:
            self.events.append(
                Usage(step, input=roll.randrange(10), cache_read=roll.randrange(9_000), output=5)
            )
        joint = f"results{number}" if roll.random() < 0.3 else None
        roll.shuffle(calls)
        for call in calls:
            fate = roll.random()
            if fate < 0.1:
                self.late.append(call)
            elif fate < 0.9:
                self.result(call, joint)
        if roll.random() < 0.05:
            self.result(f"nobody{number}")

    def item(
        self, kind: Kind, entry: str | None = None, step: str | None = None, injected: Injected | None = None
    ) -> ItemEvent:
        """Any item but a result."""
        self.count += 1
        name = f"i{self.count}"
        call_id = f"c{self.count}" if kind == Kind.TOOL_CALL else None
        event = ItemEvent(
            name, kind, self.text(), entry or name, step=step, injected=injected, call_id=call_id
        )
        event.tool = self.random.choice(("read", "bash", None)) if kind == Kind.TOOL_CALL else None
        event.needs_result = self.random.random() > 0.05
        event.opaque_chars = self.random.choice((0, 0, 900)) if kind == Kind.REASONING else 0
        return self.write(event)

    def result(self, call_id: str, entry: str | None = None) -> ItemEvent:
        """A result, sometimes one that the agent itself offloaded."""
        self.count += 1
        name = f"i{self.count}"
        event = ItemEvent(name, Kind.TOOL_RESULT, self.text(), entry or name, call_id=call_id or None)
        event.original = "elsewhere" if self.random.random() < 0.05 else None
        return self.write(event)

    def write(self, event: ItemEvent) -> ItemEvent:
        """Append it and remember its id; now and then it belongs to the message before, even across a step."""
        before = self.events[-1] if self.events else None
        if self.random.random() < 0.04 and self.ids:
            event.entry = self.entry
        elif before is not None and isinstance(before, ItemEvent) and self.random.random() < 0.02:
            event.entry = before.entry
        self.entry = event.entry
        self.events.append(event)
        self.ids.append(event.id)
        return event

    def text(self) -> str:
        """Mostly short, sometimes long, sometimes nothing."""
        return "x" * self.random.choice((0, 1, 5, 20, 60, 60, 200, 1_500))

    def mark(self, number: int) -> None:
        """Something the log says about what stands before."""
        roll, name = self.random, f"mark{number}"
        some = tuple(roll.sample(self.ids, min(len(self.ids), roll.choice((1, 3, 8)))))
        kind = roll.randrange(6)
        if kind == 0:
            summary = self.write(ItemEvent(f"summary{number}", Kind.SUMMARY, self.text(), f"summary{number}"))
            self.events.insert(-1, Compaction(name, summary=summary.id, keeps=some[:2]))
        elif kind == 1:
            self.events.append(Cleared(name, some))
        elif kind == 2:
            self.events.append(Cleared(name, (), Verdict.DROPPED, Reason.CONTEXT_CLEARED, all_before=True))
        elif kind == 3 and self.dropped:
            self.events.append(Cleared(name, tuple(self.dropped), Verdict.KEPT, Reason.ABANDONED_BRANCH))
            self.dropped = []
        else:
            recent = tuple(self.ids[-roll.randrange(1, 9) :]) if roll.random() < 0.7 else some
            self.events.append(Cleared(name, recent, Verdict.DROPPED, Reason.ABANDONED_BRANCH))
            self.dropped += recent


def random_timeline(seed: int, steps: int = 12, marks: bool = True) -> Timeline:
    """A session's timeline, with pins of a person and with counted tokens for some or all items."""
    return prepare(Maker(seed, steps, marks).session(), seed)


def prepare(events: list[Event], seed: int) -> Timeline:
    """Assemble events; pin and count at random."""
    assembler = Assembler(SessionStart(f"s{seed}"))
    assembler.feed_all(events)
    timeline, roll = assembler.timeline, random.Random(seed + 1)
    pinning = roll.choice((0.0, 0.0, 0.05, 0.3))
    counting = roll.choice((0.0, 0.9, 1.0))
    for position in range(len(timeline)):
        if roll.random() < pinning:
            timeline.flags[position] |= FLAG_PINNED
        if roll.random() < counting:
            timeline.tokens[position] = timeline.chars[position] // 3
    return timeline


def random_options(seed: int) -> dict[str, object]:
    """Options of the type-aware projector (those of the default projector among them)."""
    roll = random.Random(seed)
    options: dict[str, object] = {}
    if roll.random() < 0.5:
        options["max_items"] = roll.choice((0, 1, 2, 3, 5, 8, 20))
    if roll.random() < 0.5:
        options["max_approx_chars"] = roll.choice((0, 10, 100, 300, 1_000, 3_000))
    if roll.random() < 0.5:
        options["max_tokens"] = roll.choice((0, 10, 50, 200, 600))
    if roll.random() < 0.5:
        options["pinned_prefix_items"] = roll.choice((1, 1, 2, 4, 30))
    if roll.random() < 0.5:
        options["max_recent_tool_results"] = roll.choice((0, 1, 3, 5))
    if roll.random() < 0.5:
        options["trim_old_reasoning"] = True
    if roll.random() < 0.2:
        options["pair_guard"] = False
    if roll.random() < 0.2:
        options["drop_unanswered_calls"] = True
    return options
