"""One conversation becoming events: message by message, or request by request where requests were recorded.

A request tells exactly what the model was given. Where it repeats what stood in the context before, nothing is said
again; what it leaves out is dropped from this step on, what it adds enters. (An agent that compacts its history
shows it in no other way.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from contextlab.core.events import Cleared, Event, Place, SessionStart, StepEvent, TurnStart, Usage
from contextlab.core.items import Injected, Kind, Reason, Verdict
from contextlab.importers.openai_chat.messages import Message
from contextlab.importers.values import Occurrences

TITLE = 200
"""Longest title made of a prompt, in characters."""


@dataclass(slots=True)
class Call:
    """What is known about a model call beside its messages."""

    model: str | None = None
    limit: int | None = None
    usage: Usage | None = None
    exact: bool = False
    place: Place | None = None
    ts: str | None = None


@dataclass(slots=True)
class _Standing:
    """A message that the session has had: its key and the ids of its items."""

    key: str
    ids: tuple[str, ...]


@dataclass(slots=True)
class Talk:
    """A session in the making; every method returns the events that its call brought about."""

    name: str
    observed: bool = False
    """User messages after the first answer are observations of the environment, not words of a person."""
    _names: Occurrences = field(default_factory=Occurrences)
    _context: list[_Standing] = field(default_factory=list)
    _left: list[_Standing] = field(default_factory=list)
    _answered: bool = False
    _titled: bool = False

    def add(self, message: Message, call: Call) -> Iterator[Event]:
        """The next message of the list: an assistant's is a step."""
        if message.role == "assistant" and message.items[0].injected is None:
            yield from self._answer(message, call)
            return
        if message.role == "user":
            yield from self._prompt(message, call)
        yield from self._enter(message, call, step=None)

    def extends(self, request: list[Message]) -> bool:
        """Whether a request goes on where this conversation stands: it repeats its end, or all of it."""
        if not self._context:
            return True
        keys = [message.key for message in request]
        if keys[: len(self._context)] == [one.key for one in self._context]:
            return len(keys) > len(self._context)
        return self._answered and self._context[-1].key in keys

    def request(self, messages: list[Message], call: Call) -> Iterator[Event]:
        """Make the context what a request says it is."""
        matched, tail = self._match(messages)
        yield from self._drop(matched, call)
        context: list[_Standing] = []
        for number, (message, known) in enumerate(zip(messages, matched, strict=True)):
            self._context = context
            if known is not None:
                context.append(known)
            elif number < tail:
                yield from self._insert(message, call)
            else:
                yield from self.add(message, Call(call.model, place=call.place, ts=message.ts))
        self._context = context

    def _answer(self, message: Message, call: Call) -> Iterator[Event]:
        entry = self._names(message.key)
        step = StepEvent(
            f"step:{entry}", call.model, call.ts or message.ts, call.place, call.limit, call.exact
        )
        yield step
        yield from self._enter(message, call, step.id, entry)
        if call.usage is not None:
            call.usage.step = step.id
            yield call.usage
        self._answered = True

    def _prompt(self, message: Message, call: Call) -> Iterator[Event]:
        """A user message opens a turn, unless the environment wrote it."""
        real = [item for item in message.items if item.injected is None]
        if not real:
            return
        if self.observed and self._answered:
            for item in real:
                item.injected, item.label = Injected.SYNTHETIC, "observation"
            return
        yield TurnStart(f"turn:{self._names.peek(message.key)}", message.ts or call.ts)
        real[0].opens_turn = True
        words = " ".join(real[0].text[: TITLE * 4].split())[:TITLE]
        if words and not self._titled:
            self._titled = True
            yield SessionStart(self.name, title=words, title_origin="prompt")

    def _enter(
        self, message: Message, call: Call, step: str | None, entry: str | None = None
    ) -> Iterator[Event]:
        entry = entry or self._names(message.key)
        for number, item in enumerate(message.items):
            item.id = entry if len(message.items) == 1 else f"{entry}.{number}"
            item.entry, item.step, item.place = entry, step, call.place
            item.ts = message.ts or call.ts
            yield item
        self._context.append(_Standing(message.key, tuple(item.id for item in message.items)))

    def _insert(self, message: Message, call: Call) -> Iterator[Event]:
        """A message that a request puts between older ones: nobody said it now (a summary, an example)."""
        for item in message.items:
            if item.kind == Kind.USER:
                item.injected, item.label = Injected.SYNTHETIC, "inserted"
        yield from self._enter(message, call, step=None)

    def _match(self, messages: list[Message]) -> tuple[list[_Standing | None], int]:
        """For each message the one it repeats, in order; and where the part begins that is new altogether."""
        standing: dict[str, list[int]] = {}
        for place, one in enumerate(self._context):
            standing.setdefault(one.key, []).append(place)
        left = {one.key: one for one in self._left}
        found: list[_Standing | None] = []
        last, tail = -1, 0
        for number, message in enumerate(messages):
            place = next((place for place in standing.get(message.key, ()) if place > last), -1)
            known = self._context[place] if place >= 0 else left.pop(message.key, None)
            last = max(last, place)
            tail = tail if known is None else number + 1
            found.append(known)
        return found, tail

    def _drop(self, matched: list[_Standing | None], call: Call) -> Iterator[Event]:
        """What a request leaves out, and what it brings back, from this step on."""
        kept = {one.ids for one in matched if one is not None}
        gone = [one for one in self._context if one.ids not in kept]
        back = [one for one in self._left if one.ids in kept]
        self._left = [one for one in self._left if one.ids not in kept] + gone
        for group, verdict in ((gone, Verdict.DROPPED), (back, Verdict.KEPT)):
            if group:
                items = tuple(name for one in group for name in one.ids)
                name = self._names(f"request:{verdict}")
                cleared = Cleared(name, items, verdict, Reason.CONTEXT_CLEARED, call.ts, call.place)
                cleared.trigger = "request"
                yield cleared
