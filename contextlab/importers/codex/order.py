"""The order of a rollout's events: a step is held until it is over, then come its parts, then what follows it.

A step begins at the first output item after the last new token count, and is held until its own count (or the end
of its turn): that count names the step's window, and results written before it belong to the next context. A
compaction is held in the same way until the record behind it tells the new size. Never more than that is held.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from contextlab.core.events import Cleared, Event, ItemEvent, Link, StepEvent, Usage
from contextlab.core.items import Kind, Reason, Verdict
from contextlab.importers.codex.compacting import Replacement
from contextlab.importers.codex.items import Draft
from contextlab.importers.codex.live import Live
from contextlab.importers.values import Occurrences, mapping, optional

Group = list[Draft]
"""The parts of one message: they share an entry."""


@dataclass(slots=True)
class OpenStep:
    """A model call whose token count has not come yet."""

    event: StepEvent
    parts: list[Group] = field(default_factory=list)
    behind: list[Group | Event] = field(default_factory=list)
    unanswered: set[str] = field(default_factory=set)
    results: int = 0

    @property
    def answered(self) -> bool:
        """Whether it made calls and all of them have their results."""
        return self.results > 0 and not self.unanswered


@dataclass(slots=True)
class Order:
    """Takes groups and events as they come in the file; `out` holds those whose place is settled."""

    out: list[Event] = field(default_factory=list)
    live: Live = field(default_factory=Live)
    step: OpenStep | None = None
    _names: Occurrences = field(default_factory=Occurrences)
    _held: Replacement | None = None
    _spawns: set[str] = field(default_factory=set)

    def emit(self, event: Event) -> None:
        """An event that is no item."""
        if self.step is not None:
            self.step.behind.append(event)
            return
        self.settle()
        self.out.append(event)

    def output(self, group: Group, step: StepEvent) -> None:
        """Something the model produced; it begins `step` when none is open."""
        if self.step is None:
            self.settle()
            self.step = OpenStep(step)
        self.step.parts.append(group)
        calls = (
            draft.event for draft in group if draft.event.kind == Kind.TOOL_CALL and draft.event.needs_result
        )
        self.step.unanswered.update(event.call_id for event in calls if event.call_id)

    def input(self, group: Group) -> None:
        """Something the model is given next: a result, a message, an instruction."""
        if self.step is None:
            self.settle()
            self._enter(group)
            return
        self.step.behind.append(group)
        for draft in group:
            if draft.event.kind == Kind.TOOL_RESULT:
                self.step.results += 1
                self.step.unanswered.discard(draft.event.call_id or "")

    def close(self, limit: int | None = None) -> StepEvent | None:
        """The open step is over: it is settled, and what stood behind it follows; returns the step."""
        step, self.step = self.step, None
        if step is None:
            return None
        step.event.limit = limit if limit is not None else step.event.limit
        if step.parts:
            first = step.parts[0][0]
            step.event.id = f"step:{first.native or self._names.peek(first.key)}"
        self.out.append(step.event)
        for group in step.parts:
            self._enter(group, step.event.id)
        for later in step.behind:
            if isinstance(later, list):
                self._enter(later)
            else:
                self.out.append(later)
        return step.event

    def empty_step(self, event: StepEvent) -> StepEvent:
        """A model call that the log counts tokens for without any output (a summariser's own call)."""
        self.settle()
        event.id = self._names("step:empty")
        self.out.append(event)
        return event

    def used(self, usage: Usage) -> None:
        """What the provider reported for a step that is closed."""
        self.out.append(usage)

    def compact(self, made: Replacement) -> None:
        """A compaction, held until `settle` or `sized`."""
        self.close()
        self.settle()
        self._held = made

    def sized(self, tokens: int | None) -> bool:
        """The size of the context after the compaction that is held; False when none is."""
        if self._held is None:
            return False
        self._held.event.post_tokens = tokens
        self.settle()
        return True

    def settle(self) -> None:
        """Let go of a held compaction: nothing more will be said about it."""
        made, self._held = self._held, None
        if made is None:
            return
        self.live.replace(made.kept)
        self.out.append(made.event)
        self.out.append(made.summary)
        self.live.add(made.summary, made.summary.id)
        for group in made.new:
            self._enter(group)

    def roll_back(self, event: Cleared, turns: int) -> None:
        """The last `turns` user messages and all that followed are gone."""
        self.close()
        self.settle()
        event.id = self._names("rollback")
        event.verdict, event.reason = Verdict.DROPPED, Reason.ROLLED_BACK
        event.items = tuple(self.live.roll_back(turns))
        self.out.append(event)

    def unique(self, name: str) -> str:
        """An id from a name that may come back."""
        return self._names(name)

    def _enter(self, group: Group, step: str | None = None) -> None:
        """Items get their ids where their place in the order is settled."""
        for draft in group:
            event = draft.event
            event.id = draft.native or self._names(draft.key)
            event.entry = group[0].event.id
            event.step = step
            self.live.add(event, draft.key)
            self.out.append(event)
            self._link(event)

    def _link(self, event: ItemEvent) -> None:
        """The result of a spawn call names the session it started."""
        if event.call_id is None:
            return
        if event.kind == Kind.TOOL_CALL and (event.tool or "").endswith("spawn_agent"):
            self._spawns.add(event.call_id)
        elif event.call_id in self._spawns:
            self._spawns.discard(event.call_id)
            try:
                answer = mapping(json.loads(event.text[:4096]))
            except (ValueError, RecursionError):
                return
            child = optional(answer.get("agent_id")) or optional(answer.get("thread_id"))
            if child is not None:
                self.out.append(Link(child, event.call_id, optional(answer.get("nickname"))))
