"""Exchanges of OpenAI's Responses read: what a request says, what stands at the server, what a compaction keeps.

| a request names | its context is |
|---|---|
| nothing | its own input |
| `previous_response_id` | what stood behind that response (without its instructions), then its own input |
| `conversation` | all that this conversation held, then its own input |

A compaction item inside a response seals all that stood; the answer of `/responses/compact` says what stays beside
it: the user's messages.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from contextlab.core.events import Compaction, Event, Note, SessionStart, Usage
from contextlab.importers.base import SessionEvents
from contextlab.importers.documents import Node
from contextlab.importers.exchanges import Exchange, ExchangeReader, events_of, exchange, named, sent
from contextlab.importers.lines import warn
from contextlab.importers.message import COMPACTION, Call, Message
from contextlab.importers.openai_chat.messages import moment
from contextlab.importers.openai_responses.items import SUMMARIES, instructions, messages, prompt
from contextlab.importers.openai_responses.shapes import are_items, is_exchange, is_response
from contextlab.importers.talk import Standing, Talk
from contextlab.importers.values import count, digest, mapping, optional, sequence, text, warn_of_figures

_REMEMBERED = 256
"""Responses of a file that a later request may go on from."""


@dataclass(slots=True)
class Reader(ExchangeReader):
    """Reads one file; `events` is used once."""

    _behind: dict[str, tuple[Talk, list[Standing]]] = field(default_factory=dict)
    """The session and context behind a response, or of a conversation, by its id."""
    _known: dict[str, str] = field(default_factory=dict)
    """Key of each item that has an id of its own, for references."""

    def whole(self, value: Any) -> bool:
        """A list of items is one conversation."""
        return are_items(value) > 0

    def record(self, node: Node, value: Any) -> SessionEvents:
        """One exchange, request, response, item, or list of items."""
        if isinstance(value, list):
            yield from self._exchange(node, Exchange({"input": value}, None))
            return
        record = mapping(value)
        found = exchange(record)
        if is_response(record):
            yield from self._exchange(node, Exchange({}, record))
        elif found is not None and is_exchange(found):
            yield from self._exchange(node, found)
        elif are_items([record]) or ("role" in record and "content" in record):
            yield from self._loose(node, record)
        else:
            self.unknown(value, found.uri if found else "")

    def _loose(self, node: Node, value: dict[str, Any]) -> SessionEvents:
        """A single item: the file is one conversation, item by item."""
        if not self.talks:
            talk = Talk(self.names(f"items:{digest(self.source.relative or self.source.name)}"), joins=True)
            self.talks.append(talk)
            yield talk.name, SessionStart(talk.name, started_at=moment(value))
        talk = self.talks[0]
        for part in self._messages(node, [value]):
            for event in talk.add(part, Call(place=node.place, ts=moment(value))):
                yield talk.name, event

    def _exchange(self, node: Node, found: Exchange) -> SessionEvents:
        response = found.response if isinstance(found.response, dict) else assembled(text(found.response))
        response = mapping(response)
        asked = [*instructions(found.request.get("instructions")),
                 *self._messages(node, prompt(found.request.get("input")))]  # fmt: skip
        call = Call(named(response.get("model"), found.request.get("model")), place=node.place)
        call.exact = is_exchange(found) and not found.request.get("conversation")
        call.ts = moment(found.record) or moment(response)
        yield from self._placed(node, found, response, asked, call)
        talk = self.talks[0]
        if error := mapping(response.get("error")):
            yield (
                talk.name,
                Note("warning", f"the provider answered: {text(error.get('message'))[:500]}", node.place),
            )
        if is_response(response):
            yield from self._answered(node, talk, response, call)
        self._remember(found, response, talk)

    def _placed(
        self, node: Node, found: Exchange, response: dict[str, Any], asked: list[Message], call: Call
    ) -> SessionEvents:
        """Find the session that a request belongs to, and make its context what the request says."""
        before = optional(found.request.get("previous_response_id"))
        conversation = _conversation(found.request) or _conversation(response)
        name = conversation or optional(response.get("id")) or f"items:{digest(*(one.key for one in asked))}"
        start = SessionStart(name, model=call.model, started_at=call.ts)
        behind = self._behind.get(before or conversation or "")
        if behind is None:
            adds = response.get("object") != "response.compaction"
            yield from self.talk_for(asked, name, start, joins=True, adds=adds)
            talk = self.talks[0]
            if before is not None:
                call.exact = False
                text_of = f"the history before this request stands at the server ({before}), not in this file"
                yield talk.name, Note("missing_parent", text_of, node.place)
        else:
            talk, standing = behind
            call.exact = False
            kept = [Message(one.role, key=one.key) for one in standing if not one.instruction]
            asked = [*asked[:1], *kept, *asked[1:]] if found.request.get("instructions") else [*kept, *asked]
            if talk not in self.talks:
                self.talks.insert(0, talk)
            self.talks.remove(talk)
            self.talks.insert(0, talk)
        yield from sent(talk, asked, call)

    def _answered(self, node: Node, talk: Talk, response: dict[str, Any], call: Call) -> SessionEvents:
        output = [mapping(one) for one in sequence(response.get("output"))]
        call.usage = usage_of(mapping(response.get("usage")))
        warn_of_figures(self.report, response.get("usage"), node.line)
        if response.get("object") == "response.compaction":
            events = self._compact_call(node, talk, output, call)
        else:
            events = self._answer(node, talk, output, call)
        for event in events:
            yield talk.name, event

    def _answer(self, node: Node, talk: Talk, output: list[dict[str, Any]], call: Call) -> Iterator[Event]:
        made = self._messages(node, output)
        if made and made[0].role == COMPACTION:
            # Sealed before the model answered.
            yield from talk.compacted(made.pop(0), call, Compaction("", trigger="auto"))
        first = next((at for at, one in enumerate(made) if one.role == COMPACTION), len(made))
        yield from talk.answer(made[:first], call)
        for part in made[first:]:
            if part.role == COMPACTION:
                event = Compaction("", trigger="auto", pre_tokens=_prompt_tokens(call.usage))
                yield from talk.compacted(part, call, event)
            else:
                yield from talk.add(part, call)

    def _compact_call(
        self, node: Node, talk: Talk, output: list[dict[str, Any]], call: Call
    ) -> Iterator[Event]:
        """A call that only compacts: a step whose output is the sealed item; the user's messages stay."""
        summaries = [one for one in output if text(one.get("type")) in SUMMARIES]
        stay = {one.key for one in self._messages(node, [one for one in output if one not in summaries])}
        yield from talk.answer([], call)
        for part in self._messages(node, summaries):
            event = Compaction("", trigger="manual", pre_tokens=_prompt_tokens(call.usage))
            talk.keep_only(stay)
            part.keeps_user = True
            yield from talk.compacted(part, call, event)

    def _messages(self, node: Node, items: list[Any]) -> list[Message]:
        made: list[Message] = []
        for item in map(mapping, items):
            name = optional(item.get("id"))
            if item.get("type") == "item_reference":
                made += self._referenced(node, name)
                continue
            found = messages(item)
            if found is None:
                kind = text(item.get("type"))[:80] or "an item without a type"
                self.report.unknown_types[kind] = self.report.unknown_types.get(kind, 0) + 1
                continue
            if name is not None and found:
                self._known[name] = found[0].key
            made += found
        return made

    def _referenced(self, node: Node, name: str | None) -> list[Message]:
        """A reference repeats an item of a response in this file; else nobody can tell what it is."""
        key = self._known.get(name or "")
        standing = next((one for talk in self.talks for one in talk.context if one.key == key), None)
        if standing is None:
            warn(self.report, f"line {node.line}: a reference to an item that is not in this file ({name})")
            return []
        return [Message(standing.role, key=standing.key)]

    def _remember(self, found: Exchange, response: dict[str, Any], talk: Talk) -> None:
        for name in (optional(response.get("id")), _conversation(found.request) or _conversation(response)):
            if name is not None:
                self._behind.pop(name, None)
                self._behind[name] = (talk, list(talk.context))
        while len(self._behind) > _REMEMBERED:
            del self._behind[next(iter(self._behind))]


def assembled(stream: str) -> dict[str, Any] | None:
    """The response that a recorded event stream delivered; what an interrupted one held, as far as it came."""
    response: dict[str, Any] | None = None
    done: list[Any] = []
    for event in events_of(stream):
        kind = text(event.get("type"))
        if kind == "response.output_item.done":
            done.append(event.get("item"))
        elif isinstance(event.get("response"), dict):
            response = event["response"]
    if response is None:
        return None
    return response if response.get("output") else {**response, "output": done}


def usage_of(value: dict[str, Any]) -> Usage | None:
    """A response's usage as one of ours: cached tokens are counted apart; None when it reports nothing."""
    asked, output = count(value.get("input_tokens")), count(value.get("output_tokens"))
    if asked is None and output is None:
        return None
    details = mapping(value.get("input_tokens_details"))
    made = Usage("", asked, output=output, cache_read=count(details.get("cached_tokens")))
    made.cache_write = count(details.get("cache_write_tokens", value.get("cache_write_tokens")))
    if asked is not None:
        made = replace(made, input=max(0, asked - (made.cache_read or 0) - (made.cache_write or 0)))
    made.reasoning = count(mapping(value.get("output_tokens_details")).get("reasoning_tokens"))
    return made


def _prompt_tokens(usage: Usage | None) -> int | None:
    if usage is None or usage.input is None:
        return None
    return usage.input + (usage.cache_read or 0) + (usage.cache_write or 0)


def _conversation(value: dict[str, Any]) -> str | None:
    found = value.get("conversation")
    return optional(found) or optional(mapping(found).get("id"))
