"""Exchanges of Anthropic's Messages read: what a request says, what its response made of the context.

| in a response | what becomes of it |
|---|---|
| `content[0]` of type compaction | a step of its own (the summariser's call, with the usage of its iteration), |
| | then the compaction; the answer's step follows it |
| `applied_edits` of clear_tool_uses | the oldest results, as many as it says, are cleared before the step |
| `applied_edits` of clear_thinking | the thinking of the oldest turns, as many as it says, is cleared before the step |
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from contextlab.core.events import Compaction, Note, SessionStart, Usage
from contextlab.importers.anthropic_messages.blocks import message, system
from contextlab.importers.anthropic_messages.edits import Edits
from contextlab.importers.anthropic_messages.shapes import (
    are_messages,
    counts_tokens,
    is_exchange,
    is_response,
)
from contextlab.importers.anthropic_messages.stream import assembled
from contextlab.importers.base import SessionEvents
from contextlab.importers.documents import Node
from contextlab.importers.exchanges import Exchange, ExchangeReader, exchange, named, sent, unreadable_parts
from contextlab.importers.lines import warn
from contextlab.importers.message import COMPACTION, Call, Message
from contextlab.importers.openai_chat.messages import moment
from contextlab.importers.talk import Talk
from contextlab.importers.values import count, digest, mapping, sequence, text, warn_of_figures


@dataclass(slots=True)
class Reader(ExchangeReader):
    """Reads one file; `events` is used once."""

    edits: dict[str, Edits] = field(default_factory=dict)
    """What context edits did so far, by session."""

    def whole(self, value: Any) -> bool:
        """A list of messages is one conversation."""
        return are_messages(value) > 0

    def record(self, node: Node, value: Any) -> SessionEvents:
        """One exchange, request, response, message, or list of messages."""
        if isinstance(value, list):
            yield from self._exchange(node, Exchange({"messages": value}, None))
            return
        record = mapping(value)
        found = exchange(record)
        if is_response(record):
            yield from self._exchange(node, Exchange({}, record))
        elif found is not None and counts_tokens(found.uri):
            self.unknown(value, found.uri)
        elif found is not None and is_exchange(found):
            yield from self._exchange(node, found)
        elif "role" in record and message(record):
            yield from self._loose(node, record)
        else:
            self.unknown(value, found.uri if found else "")

    def _loose(self, node: Node, value: dict[str, Any]) -> SessionEvents:
        """A single message: the file is one conversation, message by message."""
        if not self.talks:
            talk = Talk(self.names(f"messages:{digest(self.source.relative or self.source.name)}"))
            self.talks.append(talk)
            yield talk.name, SessionStart(talk.name, started_at=moment(value))
        talk = self.talks[0]
        for part in message(value):
            for event in talk.add(part, Call(place=node.place, ts=moment(value))):
                yield talk.name, event

    def _exchange(self, node: Node, found: Exchange) -> SessionEvents:
        response = found.response if isinstance(found.response, dict) else assembled(text(found.response))
        response = mapping(response)
        listed = sequence(found.request.get("messages"))
        parts = [message(mapping(one)) for one in listed]
        unreadable_parts(self.report, node.line, listed, sum(1 for part in parts if part))
        request = [*system(found.request.get("system")), *(one for part in parts for one in part)]
        call = Call(named(response.get("model"), found.request.get("model")), place=node.place)
        call.exact = bool(request) and is_exchange(found)
        call.ts = moment(found.record) or moment(response)
        name = named(response.get("id")) or f"messages:{digest(*(one.key for one in request))}"
        start = SessionStart(name, model=call.model, started_at=call.ts)
        yield from self.talk_for(request, name, start)
        talk = self.talks[0]
        yield from sent(talk, request, call)
        if error := mapping(response.get("error")):
            yield (
                talk.name,
                Note("warning", f"the provider answered: {text(error.get('message'))[:500]}", node.place),
            )
        elif is_response(response) or sequence(response.get("content")):
            yield from self._answered(talk, response, call, found)

    def _answered(self, talk: Talk, response: dict[str, Any], call: Call, found: Exchange) -> SessionEvents:
        iterations = [mapping(one) for one in sequence(mapping(response.get("usage")).get("iterations"))]
        applied = sequence(mapping(response.get("context_management")).get("applied_edits"))
        edits = self.edits.setdefault(talk.name, Edits())
        for event in edits.applied(talk, applied, found.request, call):
            yield talk.name, event
        answer = message({"role": "assistant", "content": response.get("content")})
        made = [part for part in answer if part.role == COMPACTION]
        rest = [part for part in answer if part.role != COMPACTION]
        compactions = [one for one in iterations if one.get("type") == "compaction"]
        for part in made:
            cost = usage_of(compactions.pop(0)) if compactions else None
            yield from self._compacted(talk, part, call, cost)
        if len(compactions):
            warn(self.report, "a response names the usage of a compaction that it does not show")
        if response.get("stop_reason") == "compaction" and not any(
            item.text for one in rest for item in one.items
        ):
            # The provider paused right after it: there is no answer yet.
            return
        warn_of_figures(self.report, response.get("usage"), call.place.line if call.place else None)
        call.usage = usage_of(mapping(response.get("usage")), partial=response.get("stop_reason") is None)
        for event in talk.answer(rest, call):
            yield talk.name, event
        for one in iterations:
            if (kind := text(one.get("type"))) not in ("", "message", "compaction"):
                yield talk.name, Note("other", f"usage of a further call inside this one: {kind}", call.place)

    def _compacted(self, talk: Talk, part: Message, call: Call, cost: Usage | None) -> SessionEvents:
        """The summariser's own call, then what it replaced."""
        event = Compaction("", trigger="auto", place=call.place)
        if cost is not None:
            event.pre_tokens = sum(filter(None, (cost.input, cost.cache_read, cost.cache_write))) or None
            step = Call(call.model, usage=cost, exact=call.exact, place=call.place, ts=call.ts)
            for one in talk.answer([], step):
                yield talk.name, one
        for other in talk.compacted(part, call, event):
            yield talk.name, other


def usage_of(value: dict[str, Any], partial: bool = False) -> Usage | None:
    """A usage object as one of ours (its input excludes cached tokens already); None when it reports nothing."""
    made = Usage(
        "", count(value.get("input_tokens")), output=count(value.get("output_tokens")), partial=partial
    )
    made.cache_read = count(value.get("cache_read_input_tokens"))
    made.cache_write = count(value.get("cache_creation_input_tokens"))
    made.reasoning = count(mapping(value.get("output_tokens_details")).get("thinking_tokens"))
    return made if made.input is not None or made.output is not None else None
