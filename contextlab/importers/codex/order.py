"""The order of a rollout's events: a step is held until it is over, then come its parts, then what follows it.

A step begins at the first output item after the last new token count, and is held until its own count (or the end
of its turn): that count names the step's window, and results written before it belong to the next context. A
compaction is held in the same way until the record behind it tells the new size. Never more than that is held.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from itertools import pairwise

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
    """What belongs to the next context: results, and what came in between."""
    unanswered: set[str] = field(default_factory=set)
    results: int = 0
    rounds: list[tuple[int, int]] = field(default_factory=list)
    """Lengths of `parts` and `behind` where the model spoke again after all its calls had been answered."""

    def add(self, group: Group) -> None:
        """Something that the model produced."""
        if self.answered:
            self.rounds.append((len(self.parts), len(self.behind)))
            self.results = 0
        self.parts.append(group)
        calls = (one.event for one in group if one.event.kind == Kind.TOOL_CALL and one.event.needs_result)
        self.unanswered.update(event.call_id for event in calls if event.call_id)

    def follow(self, group: Group) -> None:
        """Something that the model is given next."""
        self.behind.append(group)
        for draft in group:
            if draft.event.kind == Kind.TOOL_RESULT:
                self.results += 1
                self.unanswered.discard(draft.event.call_id or "")

    @property
    def answered(self) -> bool:
        """Whether it made calls and all of them have their results."""
        return self.results > 0 and not self.unanswered

    def split(self) -> list[OpenStep]:
        """The same as one step for each round of calls and results (where nothing counted tokens)."""
        cuts = [(0, 0), *self.rounds, (len(self.parts), len(self.behind))]
        steps = []
        for (part, behind), (next_part, next_behind) in pairwise(cuts):
            parts = self.parts[part:next_part]
            first = parts[0][0].event if parts else self.event
            event = replace(self.event, ts=first.ts, place=first.place)
            steps.append(OpenStep(event, parts, self.behind[behind:next_behind]))
        return steps


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
        self.step.add(group)

    def input(self, group: Group) -> None:
        """Something the model is given next: a result, a message, an instruction."""
        if self.step is None:
            self.settle()
            self._enter(group)
            return
        self.step.follow(group)

    def close(self, limit: int | None = None) -> StepEvent | None:
        """The open step is over: it is settled, and what stood behind it follows; returns the step."""
        step, self.step = self.step, None
        if step is not None:
            step.event.limit = limit if limit is not None else step.event.limit
            self._settle_step(step)
        return step.event if step is not None else None

    def close_uncounted(self) -> None:
        """As `close`, where nothing in the log counts tokens: each round of calls and results is a step."""
        step, self.step = self.step, None
        for part in step.split() if step is not None else ():
            self._settle_step(part)

    def _settle_step(self, step: OpenStep) -> None:
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
