"""Recorded requests and responses, however a recorder wraps them, read one by one with their places.

| wrapping | who writes it |
|---|---|
| `{request, response, uri}`, a list of them, or one a line | recorders of HTTP, proxies |
| `{request: {body}, response: {body}}`, bodies as JSON text or `{string}` | cassettes |
| the request's keys with a `response` beside them | completion logs |
| a request alone, a response alone | what a person saved |
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from contextlab.core.events import FileReport, SessionStart
from contextlab.importers.base import SessionEvents, Source
from contextlab.importers.documents import Node, document, head_of, whole_of
from contextlab.importers.lines import parse_text, records, skip, warn
from contextlab.importers.message import Call, Message
from contextlab.importers.talk import Talk
from contextlab.importers.values import Occurrences, mapping, optional, sequence, text

LOOKED_AT = 20
"""Elements of a list, or lines, that are looked at for the format."""

TALKS = 32
"""Conversations that a new request is compared with: agents that run side by side write into one log."""

_LISTS = ("interactions", "exchanges", "entries", "requests")


@dataclass(slots=True)
class Exchange:
    """One request and what came back: an object, an event stream as text, or None."""

    request: dict[str, Any]
    response: Any
    uri: str = ""
    record: dict[str, Any] = field(default_factory=dict)


def exchange(value: Any) -> Exchange | None:
    """The exchange in a value; None when it is no object. What its request is for is not looked at."""
    record = mapping(value)
    if not record:
        return None
    outer = mapping(record.get("request"))
    uri = next(
        (text(place[key]) for place in (record, outer) for key in ("uri", "url", "path") if place.get(key)),
        "",
    )
    asked = _body(record.get("request", record.get("body", record.get("request_body"))))
    answer = _body(record.get("response", record.get("response_body")))
    if not isinstance(asked, dict):
        asked = record if "request" not in record else {}
    return Exchange(asked, answer, uri, record)


def _body(value: Any) -> Any:
    """What was sent, out of `{body}`, `{string}` and JSON text."""
    for name in ("body", "string", "content", "json"):
        inner = mapping(value)
        # A response's own `content` is a list; a recorder's is a text or an object.
        if isinstance(inner.get(name), (str, dict)) and not inner.keys() & {
            "role",
            "model",
            "messages",
            "input",
        }:
            value = inner[name]
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return parse_text(value)
        except ValueError:
            return value
    return value


def events_of(stream: str) -> Iterator[dict[str, Any]]:
    """The data of server-sent events in order; lines that are none are passed over."""
    for line in stream.splitlines():
        if line.startswith("data:"):
            try:
                value = msgspec.json.decode(line[5:].strip())
            except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
                continue
            if isinstance(value, dict):
                yield value


@dataclass(slots=True)
class ExchangeReader:
    """Reads one file record by record; a format says what a record is. `events` is used once."""

    source: Source
    report: FileReport
    names: Occurrences = field(default_factory=Occurrences)
    talks: list[Talk] = field(default_factory=list)

    def events(self) -> SessionEvents:
        """All events of the file in order."""
        if _is_lines(head_of(self.source)):
            yield from self._lines()
        elif (root := document(whole_of(self.source, "one exchange"), self.report)) is not None:
            self.report.lines += root.data.count(b"\n") + 1
            yield from self._document(root)

    def record(self, node: Node, value: Any) -> SessionEvents:
        """The events of one record; the format's own."""
        raise NotImplementedError

    def whole(self, value: Any) -> bool:
        """Whether a list is one conversation by itself, no list of records; the format's own."""
        raise NotImplementedError

    def unknown(self, value: Any, uri: str = "") -> None:
        """A record that this format does not have: counted by its address or type, never an error."""
        record = mapping(value)
        name = uri.split("?")[0].split("://")[-1] or text(record.get("type")) or type(value).__name__
        kept = self.report.ignored_types if uri else self.report.unknown_types
        kept[name[:80]] = kept.get(name[:80], 0) + 1

    def talk_for(
        self, request: list[Message], name: str, start: SessionStart, joins: bool = False, adds: bool = True
    ) -> SessionEvents:
        """Put the session that a request belongs to first in `talks`; a new one yields its start."""
        talk = next((one for one in self.talks if one.extends(request, adds)), None)
        if talk is None:
            talk = Talk(self.names(name), joins=joins)
            start.native_id = talk.name
            yield talk.name, start
        else:
            self.talks.remove(talk)
        self.talks = [talk, *self.talks[: TALKS - 1]]

    def _lines(self) -> SessionEvents:
        with self.source.open() as stream:
            for found in records(stream, self.report):
                node = Node(found.raw, found.offset, found.line)
                yield from self._guarded(node)

    def _document(self, root: Node) -> SessionEvents:
        listed = root
        if root.data[:1] == b"{":
            fields = root.fields()
            listed = next(
                (fields[key] for key in _LISTS if key in fields and fields[key].data[:1] == b"["), root
            )
        first = [one.value() for one, _ in zip(listed.elements(), range(LOOKED_AT), strict=False)]
        if listed.data[:1] != b"[" or self.whole(first):
            self.report.records += 1
            yield from self._guarded(listed)
            return
        for element in listed.elements():
            self.report.records += 1
            yield from self._guarded(element)

    def _guarded(self, node: Node) -> SessionEvents:
        try:
            yield from self.record(node, node.value())
        except (ValueError, RecursionError) as error:
            skip(self.report, node.line, text(str(error)) or "not read")


def sent(talk: Talk, messages: list[Message], call: Call) -> SessionEvents:
    """What a request brings about in its session."""
    for event in talk.request(messages, call):
        yield talk.name, event


def unreadable_parts(report: FileReport, line: int, messages: list[Any], read: int) -> None:
    """Say so where a list holds what is no message."""
    if read < len(messages):
        warn(
            report,
            f"line {line}: {len(messages) - read} of {len(messages)} messages are none and were left out",
        )


def first_of(value: Any, most: int = LOOKED_AT) -> list[Any]:
    """The records at the beginning of a parsed document, whatever list they stand in."""
    if isinstance(value, dict):
        value = next((value[key] for key in _LISTS if isinstance(value.get(key), list)), [value])
    return sequence(value)[:most]


_AGENT_LOG = re.compile(
    rb'\s*\{"(?:parentUuid|isSidechain|sessionId|uuid|timestamp|leafUuid|messageId)"\s*:'
    rb'|\s*\{"type"\s*:\s*"(?:user|assistant|summary|system|progress|file-history-snapshot|queue-operation)"'
)


def is_agent_log(head: bytes) -> bool:
    """Whether the first record is of an agent's own log (Claude Code, Codex), by its first key."""
    return _AGENT_LOG.match(head) is not None


def named(*values: Any) -> str | None:
    """The first of these that is a text."""
    return next((found for found in map(optional, values) if found), None)


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
