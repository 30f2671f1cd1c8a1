"""Files of chat messages read: JSON Lines record by record, documents by their lists, exchanges request by request."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from contextlab.core.events import FileReport, Place, SessionStart
from contextlab.importers.base import SessionEvents, Source
from contextlab.importers.documents import Node, document, head_of, whole_of
from contextlab.importers.lines import records, skip, warn
from contextlab.importers.message import Call, Message
from contextlab.importers.openai_chat.chunks import assembled
from contextlab.importers.openai_chat.dialects import Exchange, Shape, exchange, is_message, shape
from contextlab.importers.openai_chat.messages import message, moment, usage_of
from contextlab.importers.openai_chat.trajectories import model_of, queries_of, totals_of
from contextlab.importers.talk import Talk
from contextlab.importers.values import (
    Occurrences,
    count,
    digest,
    mapping,
    optional,
    sequence,
    text,
    warn_of_figures,
)

_TALKS = 32
"""Conversations that a new request is compared with: agents that run side by side write into one log."""

_SESSION_KEYS = ("id", "conversation_id", "session_id", "instance_id", "task_id")
"""Where records name the conversation they belong to."""


@dataclass(slots=True)
class Reader:
    """Reads one file; `events` is used once."""

    source: Source
    report: FileReport
    _names: Occurrences = field(default_factory=Occurrences)
    _talks: list[Talk] = field(default_factory=list)
    _loose: Talk | None = None
    """The conversation of JSON Lines whose records are single messages."""

    def events(self) -> SessionEvents:
        """All events of the file in order."""
        head = head_of(self.source)
        if _is_lines(head):
            yield from self._lines()
        elif (
            root := document(whole_of(self.source, "one message or conversation"), self.report)
        ) is not None:
            self.report.lines += root.data.count(b"\n") + 1
            yield from self._document(root)

    def _lines(self) -> SessionEvents:
        with self.source.open() as stream:
            for record in records(stream, self.report):
                node = Node(record.raw, record.offset, record.line)
                try:
                    yield from self._record(node, record.value)
                except RecursionError:
                    skip(self.report, record.line, "nested too deeply")

    def _document(self, root: Node) -> SessionEvents:
        kind = self._shape_of(root)
        if kind is not None and kind.dialect == "list":
            for element in root.elements():
                self.report.records += 1
                yield from self._guarded(element)
        else:
            self.report.records += 1
            yield from self._guarded(root)

    def _guarded(self, node: Node) -> SessionEvents:
        try:
            kind = self._shape_of(node)
            if kind is not None and kind.dialect in _LISTS:
                yield from self._conversation(node, kind)
            else:
                yield from self._record(node, node.value())
        except (ValueError, RecursionError) as error:
            skip(self.report, node.line, text(str(error)) or "not read")

    def _shape_of(self, node: Node) -> Shape | None:
        """The shape of a value, from its keys and first messages alone: large lists are not made into values."""
        if node.data[:1] == b"[":
            first = [element.value() for element, _ in zip(node.elements(), range(20), strict=False)]
            return shape(first)
        outline: dict[str, Any] = {}
        for key, part in node.fields().items():
            if key in ("messages", "history", "traj") and part.data[:1] == b"[":
                outline[key] = [
                    element.value() for element, _ in zip(part.elements(), range(8), strict=False)
                ]
            elif len(part.data) < 65536 or key in ("request", "response", "body"):
                outline[key] = part.value()
            else:
                outline[key] = None
        return shape(outline)

    # Records

    def _record(self, node: Node, value: Any) -> SessionEvents:
        kind = shape(value)
        if kind is None:
            name = text(mapping(value).get("type"))[:80] or type(value).__name__
            self.report.unknown_types[name] = self.report.unknown_types.get(name, 0) + 1
        elif kind.dialect == "message":
            yield from self._message(node, value)
        elif kind.dialect == "exchange":
            found = exchange(value)
            if found is not None:
                yield from self._exchange(node, found)
        elif kind.dialect == "list":
            for element in node.sound().elements():
                yield from self._guarded(element)
        else:
            yield from self._conversation(node.sound(), kind)

    def _message(self, node: Node, value: dict[str, Any]) -> SessionEvents:
        if self._loose is None:
            self._loose = Talk(self._name(f"chat:{digest(self.source.relative or self.source.name)}"))
            yield self._loose.name, SessionStart(self._loose.name, started_at=moment(value))
        yield from self._added(self._loose, value, node.place, None)

    def _added(self, talk: Talk, value: Any, place: Place | None, model: str | None) -> SessionEvents:
        """One message of a list, with the usage that some dialects write beside an answer."""
        if not is_message(value):
            self._unknown(value)
            return
        answer = mapping(mapping(value.get("extra")).get("response")) or value
        call = Call(
            optional(answer.get("model")) or model, place=place, usage=usage_of("", answer.get("usage"))
        )
        warn_of_figures(self.report, answer.get("usage"), place.line if place else None)
        for event in talk.add(self._made(value), call):
            yield talk.name, event

    def _made(self, value: dict[str, Any]) -> Message:
        made = message(value)
        if made.role == "exit":
            self.report.ignored_types["exit"] = self.report.ignored_types.get("exit", 0) + 1
        return made

    def _unknown(self, value: Any) -> None:
        name = f"role {text(value.get('role'))[:80]}" if isinstance(value, dict) else type(value).__name__
        self.report.unknown_types[name] = self.report.unknown_types.get(name, 0) + 1

    # Conversations

    def _conversation(self, node: Node, kind: Shape) -> SessionEvents:
        """A list of messages, bare or in an object that says more about it."""
        fields = node.fields()
        meta = {
            key: part.value()
            for key, part in fields.items()
            if len(part.data) < 65536 and key != kind.messages
        }
        listed = node if kind.messages is None else fields[kind.messages]
        name = self._conversation_name(meta, listed)
        talk = Talk(name, observed=kind.dialect in ("swe-agent", "mini-swe-agent"))
        model = model_of(meta)
        yield (
            name,
            SessionStart(name, model=model, started_at=moment(meta), agent=optional(meta.get("agent"))),
        )
        queries = queries_of(fields.get("trajectory")) if kind.dialect == "swe-agent" else None
        if queries is not None:
            yield from self._queried(talk, listed, queries, model)
        else:
            for element in listed.elements():
                yield from self._element(talk, element, model)
        if (note := totals_of(meta)) is not None:
            yield name, note

    def _element(self, talk: Talk, element: Node, model: str | None) -> SessionEvents:
        try:
            yield from self._added(talk, element.value(), element.place, model)
        except (ValueError, RecursionError) as error:
            skip(self.report, element.line, text(str(error)) or "not read")

    def _queried(self, talk: Talk, listed: Node, queries: list[Node], model: str | None) -> SessionEvents:
        """A trajectory that holds each request: what was sent is known exactly, its answer stands in the history."""
        waiting = iter(queries)
        behind: list[Node] = []
        for element in listed.elements():
            value = element.value()
            if mapping(value).get("role") != "assistant" or mapping(value).get("is_demo") is True:
                behind.append(element)
                continue
            query = next(waiting, None)
            if query is None:
                behind.append(element)
                continue
            behind.clear()
            request = [self._made(one) for one in sequence(query.value()) if is_message(one)]
            call = Call(model, place=query.place, exact=True)
            yield from self._sent(talk, request, self._made(mapping(value)), call)
        for element in behind:
            yield from self._element(talk, element, model)

    def _sent(self, talk: Talk, request: list[Message], answer: Message | None, call: Call) -> SessionEvents:
        for event in talk.request(request, call):
            yield talk.name, event
        if answer is not None:
            for event in talk.add(answer, call):
                yield talk.name, event

    def _conversation_name(self, meta: dict[str, Any], listed: Node) -> str:
        """A name that the same content gets again: the log's own where it has one, else from its first messages."""
        stem = (self.source.relative or self.source.name).rsplit("/", 1)[-1].split(".", 1)[0]
        parts = [str(meta[key]) for key in ("pipeline_name", "suite_name", "user_task_id", "injection_task_id",
                                            "task_id", "trial") if meta.get(key) is not None]  # fmt: skip
        if parts:
            return self._name(":".join((stem, *parts)))
        own = next((optional(meta.get(key)) for key in _SESSION_KEYS if optional(meta.get(key))), None)
        first = [
            element.data.decode("utf-8", "replace")
            for element, _ in zip(listed.elements(), range(3), strict=False)
        ]
        return self._name(own or f"chat:{digest(self.source.relative or self.source.name, *first)}")

    def _name(self, wished: str) -> str:
        return self._names(wished)

    # Exchanges

    def _exchange(self, node: Node, found: Exchange) -> SessionEvents:
        request = [self._made(one) for one in found.messages if is_message(one)]
        if len(request) < len(found.messages):
            warn(self.report, f"line {node.line}: a request has messages that are none")
        response = found.response if isinstance(found.response, dict) else assembled(text(found.response))
        talk = next((one for one in self._talks if one.extends(request)), None)
        if talk is None:
            yield from self._opened(found, mapping(response), request)
            talk = self._talks[0]
        self._talks.remove(talk)
        self._talks.insert(0, talk)
        call = Call(found.model, count(found.limit), exact=True, place=node.place)
        call.ts = moment(mapping(response)) or moment(found.record)
        call.model = optional(mapping(response).get("model")) or call.model
        call.usage = usage_of("", mapping(response).get("usage"))
        warn_of_figures(self.report, mapping(response).get("usage"), node.line)
        yield from self._sent(talk, request, self._answer(mapping(response), node), call)

    def _opened(self, found: Exchange, response: dict[str, Any], request: list[Message]) -> SessionEvents:
        name = optional(response.get("id")) or f"chat:{digest(*(one.key for one in request))}"
        talk = Talk(self._name(name))
        self._talks = [talk, *self._talks[: _TALKS - 1]]
        started = moment(response) or moment(found.record)
        yield talk.name, SessionStart(talk.name, model=found.model, started_at=started)

    def _answer(self, response: dict[str, Any], node: Node) -> Message | None:
        choices = sequence(response.get("choices"))
        if len(choices) > 1:
            warn(self.report, f"line {node.line}: {len(choices)} choices in a response, the first was taken")
        answer = mapping(mapping(choices[0]).get("message")) if choices else {}
        if not answer:
            return None
        return self._made({**answer, "role": "assistant"})


_LISTS = frozenset({"messages", "swe-agent", "mini-swe-agent", "agentdojo", "tau-bench"})


def _is_lines(head: bytes) -> bool:
    """Whether the file is JSON Lines: its first line is an object, and another line follows."""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n\x00")
    first, _, rest = start.partition(b"\n")
    if start[:1] != b"{" or not rest.strip(b"\x00 \t\r\n"):
        return False
    try:
        return isinstance(Node(first.strip(), 0, 1).value(), dict)
    except (ValueError, RecursionError):
        return False
