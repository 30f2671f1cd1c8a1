"""One conversation becoming events: message by message, or request by request where requests were recorded.

A request tells exactly what the model was given. Where it repeats what stood in the context before, nothing is said
again; what it leaves out is dropped from this step on, what it adds enters. A message of the role `compaction`
stands for all that came before it, except the system prompt and what the provider says it keeps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from contextlab.core.events import Cleared, Compaction, Event, SessionStart, StepEvent, TurnStart
from contextlab.core.items import Injected, Kind, Reason, Verdict
from contextlab.importers.message import COMPACTION, Call, Message
from contextlab.importers.values import Occurrences

TITLE = 200
"""Longest title made of a prompt, in characters."""


@dataclass(slots=True)
class Standing:
    """A message that the session has had: its key, its role and the ids of its items."""

    key: str
    ids: tuple[str, ...]
    role: str = ""
    results: tuple[tuple[str, str], ...] = ()
    """Its results: item and call id."""
    thinking: bool = False
    opens: bool = False
    """Whether a turn begins with it."""
    instruction: bool = False
    """Whether it holds for one call only (instructions of a Responses request)."""


@dataclass(slots=True)
class Talk:
    """A session in the making; every method returns the events that its call brought about."""

    name: str
    observed: bool = False
    """User messages after the first answer are observations of the environment, not words of a person."""
    joins: bool = False
    """Whether output that follows output belongs to the same step (formats whose messages are single items)."""
    context: list[Standing] = field(default_factory=list)
    _names: Occurrences = field(default_factory=Occurrences)
    _left: list[Standing] = field(default_factory=list)
    _answered: bool = False
    _titled: bool = False
    _calls: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Item and tool of each call, by its id."""
    _step: str | None = None
    """The step that output joins."""
    _entry: str = ""

    def add(self, message: Message, call: Call) -> Iterator[Event]:
        """The next message of the list: an assistant's is a step."""
        if message.role == COMPACTION:
            yield from self.compacted(message, call)
            return
        if message.role == "assistant" and message.items[0].injected is None:
            if self._step is not None and (self.joins or message.joined):
                yield from self._enter(message, call, self._step)
            else:
                yield from self.answer([message], call)
            return
        self._step = None
        if message.role == "user":
            yield from self._prompt(message, call)
        yield from self._enter(message, call, step=None)

    def extends(self, request: list[Message], adds: bool = True) -> bool:
        """Whether a request goes on where this conversation stands: it repeats its end, or all of it.

        One that asks for a compaction only repeats all and adds nothing (`adds` is False).
        """
        if not self.context:
            return True
        keys = [message.key for message in request]
        if keys[: len(self.context)] == [one.key for one in self.context]:
            return not adds or len(keys) > len(self.context)
        return self._answered and self.context[-1].key in keys

    def request(self, messages: list[Message], call: Call) -> Iterator[Event]:
        """Make the context what a request says it is."""
        self._step = None
        messages = self._behind_known_compaction(messages)
        matched, tail = self._match(messages)
        # What an unknown compaction leaves out, it stands for: that is not dropped.
        if all(
            known is not None for one, known in zip(messages, matched, strict=True) if one.role == COMPACTION
        ):
            yield from self._drop(matched, call)
        context: list[Standing] = []
        for number, (message, known) in enumerate(zip(messages, matched, strict=True)):
            self.context = context
            if known is not None:
                context.append(known)
            elif number < tail:
                yield from self._insert(message, call)
            else:
                yield from self.add(message, Call(call.model, place=call.place, ts=message.ts))
            context = self.context
        self.context = context
        self._step = None

    def answer(self, messages: list[Message], call: Call) -> Iterator[Event]:
        """One model call with what it produced."""
        name = self._names.peek(messages[0].key if messages else "empty")
        step = StepEvent(f"step:{name}", call.model, call.ts or _ts(messages), call.place, call.limit)
        step.exact = call.exact
        if not messages:
            self._names("empty")
        yield step
        for message in messages:
            yield from self._enter(message, call, step.id)
        if call.usage is not None:
            yield replace(call.usage, step=step.id)
        self._step = step.id
        self._answered = True

    def compacted(
        self, message: Message, call: Call, compaction: Compaction | None = None
    ) -> Iterator[Event]:
        """All that stands is replaced by this message, except system prompts and what the provider keeps."""
        kept = [
            one for one in self.context if one.role == "system" or (message.keeps_user and one.role == "user")
        ]
        event = compaction or Compaction("")
        event.id = self._names(f"compaction:{message.key}")
        event.ts, event.place = event.ts or message.ts or call.ts, event.place or call.place
        event.summary = self._names.peek(message.key)
        event.opaque = not message.items[0].text
        event.keeps = tuple(name for one in kept for name in one.ids)
        yield event
        self._left.clear()
        self.context = kept
        step, self._step = self._step if compaction is not None else None, None
        yield from self._enter(message, call, step)

    def clear(self, event: Cleared) -> Iterator[Event]:
        """Items of this session have another fate from the next step on."""
        event.id = self._names(f"edit:{event.verdict}")
        yield event

    def keep_only(self, keys: set[str]) -> None:
        """Of the user's messages only these stay through the compaction that follows."""
        for one in self.context:
            if one.role == "user" and one.key not in keys:
                one.role = "user:summarised"

    def standing_results(self, excluded: frozenset[str], with_calls: bool) -> list[tuple[str, ...]]:
        """The results that stand in the context, oldest first, without those of excluded tools."""
        found: list[tuple[str, ...]] = []
        for one in self.context:
            for item, call_id in one.results:
                call, tool = self._calls.get(call_id, ("", ""))
                if tool not in excluded:
                    found.append((call, item) if with_calls and call else (item,))
        return found

    def standing_thinking(self) -> list[tuple[str, ...]]:
        """The thinking that stands in the context, oldest first, turn by turn."""
        turns: list[list[str]] = [[]]
        for one in self.context:
            if one.opens:
                turns.append([])
            if one.thinking:
                turns[-1].extend(one.ids)
        return [tuple(turn) for turn in turns if turn]

    def _behind_known_compaction(self, messages: list[Message]) -> list[Message]:
        """A request without what the provider ignores: all before a compaction that stands already."""
        standing = {one.key for one in self.context}
        last = max((at for at, one in enumerate(messages) if one.role == COMPACTION), default=-1)
        if last < 0 or messages[last].key not in standing:
            return messages
        return [one for one in messages[:last] if one.key in standing or one.role == "system"] + messages[
            last:
        ]

    def _prompt(self, message: Message, call: Call) -> Iterator[Event]:
        """A user message opens a turn, unless the environment wrote it."""
        real = [item for item in message.items if item.injected is None and item.kind == Kind.USER]
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

    def _enter(self, message: Message, call: Call, step: str | None) -> Iterator[Event]:
        name = self._names(message.key)
        self._entry = self._entry if message.joined else name
        for number, item in enumerate(message.items):
            item.id = name if len(message.items) == 1 else f"{name}.{number}"
            item.entry, item.step, item.place = self._entry, step, call.place
            item.ts = message.ts or call.ts
            if item.kind == Kind.TOOL_CALL and item.call_id:
                self._calls[item.call_id] = (item.id, item.tool or "")
            yield item
        self.context.append(_standing(message))

    def _insert(self, message: Message, call: Call) -> Iterator[Event]:
        """A message that a request puts between older ones: nobody said it now (a summary, an example)."""
        if message.role == COMPACTION:
            yield from self.compacted(message, call)
            return
        for item in message.items:
            if item.kind == Kind.USER:
                item.injected, item.label = Injected.SYNTHETIC, "inserted"
        yield from self._enter(message, call, step=None)

    def _match(self, messages: list[Message]) -> tuple[list[Standing | None], int]:
        """For each message the one it repeats, in order; and where the part begins that is new altogether."""
        standing: dict[str, list[int]] = {}
        for place, one in enumerate(self.context):
            standing.setdefault(one.key, []).append(place)
        left = {one.key: one for one in self._left}
        found: list[Standing | None] = []
        last, tail = -1, 0
        for number, message in enumerate(messages):
            place = next((place for place in standing.get(message.key, ()) if place > last), -1)
            known = self.context[place] if place >= 0 else left.pop(message.key, None)
            last = max(last, place)
            tail = tail if known is None else number + 1
            found.append(known)
        return found, tail

    def _drop(self, matched: list[Standing | None], call: Call) -> Iterator[Event]:
        """What a request leaves out, and what it brings back, from this step on."""
        kept = {one.ids for one in matched if one is not None}
        gone = [one for one in self.context if one.ids not in kept]
        back = [one for one in self._left if one.ids in kept]
        self._left = [one for one in self._left if one.ids not in kept] + gone
        for group, verdict in ((gone, Verdict.DROPPED), (back, Verdict.KEPT)):
            if group:
                items = tuple(name for one in group for name in one.ids)
                name = self._names(f"request:{verdict}")
                cleared = Cleared(name, items, verdict, Reason.CONTEXT_CLEARED, call.ts, call.place)
                cleared.trigger = "request"
                yield cleared


def _standing(message: Message) -> Standing:
    items = message.items
    one = Standing(message.key, tuple(item.id for item in items), message.role)
    one.results = tuple((item.id, item.call_id or "") for item in items if item.kind == Kind.TOOL_RESULT)
    one.thinking = any(item.kind == Kind.REASONING for item in items)
    one.opens = any(item.opens_turn for item in items)
    one.instruction = any(item.label == "instructions" for item in items)
    return one


def _ts(messages: list[Message]) -> str | None:
    return next((message.ts for message in messages if message.ts), None)
