"""Claude Code logs made by hand, line by line, and what the importer makes of them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from contextlab.core.assembler import Assembler
from contextlab.core.events import (
    Cleared,
    Compaction,
    Event,
    FileReport,
    ItemEvent,
    Link,
    Note,
    SessionStart,
    StepEvent,
    TurnStart,
    Usage,
)
from contextlab.importers import claude_code
from contextlab.importers.streams import Source

CHECKOUT = Path(__file__).resolve().parents[2]
LOGS = CHECKOUT / "tests" / "logs" / "claude-code"
CORPUS = CHECKOUT.parent / "shared" / "corpus"
needs_corpus = pytest.mark.skipif(
    not CORPUS.is_dir(), reason="the corpus of real logs is not beside the project"
)

USAGE = {
    "input_tokens": 3,
    "cache_creation_input_tokens": 100,
    "cache_read_input_tokens": 5000,
    "output_tokens": 40,
}


class Log:
    """A transcript in the making. Each record follows the one before it unless `parent` says otherwise."""

    def __init__(self, session: str = "s1") -> None:
        self.session = session
        self.lines: list[str] = []
        self.last: str | None = None
        self._count = 0

    def add(self, kind: str, uuid: str | None = None, **fields: Any) -> str:
        """Any record of the tree; returns its uuid."""
        self._count += 1
        uuid = uuid or f"u{self._count}"
        record: dict[str, Any] = {
            "parentUuid": fields.pop("parent", self.last),
            "isSidechain": fields.pop("side", False),
            "sessionId": self.session,
            "version": "2.1.12",
            "cwd": "/home/dev/shop",
            "gitBranch": "main",
            "type": kind,
            "uuid": uuid,
            "timestamp": f"2026-03-01T10:{self._count // 60 % 60:02d}:{self._count % 60:02d}.000Z",
        }
        record |= fields
        self.lines.append(json.dumps({key: value for key, value in record.items() if value is not ...}))
        self.last = uuid
        return uuid

    def raw(self, text: str | dict[str, Any]) -> None:
        """A line as it is, outside the tree."""
        self.lines.append(text if isinstance(text, str) else json.dumps(text))

    def user(self, content: Any, **fields: Any) -> str:
        """A user record with this content."""
        return self.add("user", message={"role": "user", "content": content}, **fields)

    def result(self, call: str, content: Any = "done", *, error: bool | None = None, **fields: Any) -> str:
        """The result of a call, in a user record."""
        block = {"type": "tool_result", "tool_use_id": call, "content": content}
        return self.user([block if error is None else {**block, "is_error": error}], **fields)

    def answer(self, message: str | None, *blocks: dict[str, Any], **fields: Any) -> str:
        """A chunk of an answer."""
        body = {
            "id": message,
            "type": "message",
            "role": "assistant",
            "model": fields.pop("model", "claude-opus-4-5-20251101"),
            "content": list(blocks),
            "stop_reason": fields.pop("stop", None),
            "usage": fields.pop("usage", USAGE),
        }
        return self.add("assistant", message=body, **fields)

    def boundary(self, **fields: Any) -> str:
        """A compact_boundary."""
        fields.setdefault("compactMetadata", {"trigger": "auto", "preTokens": 155000})
        return self.add("system", subtype="compact_boundary", parent=None, **fields)

    def summary(self, text: str = "What was done so far.", **fields: Any) -> str:
        """The flagged summary behind a boundary."""
        return self.user(text, isCompactSummary=True, isVisibleInTranscriptOnly=True, **fields)

    @property
    def data(self) -> bytes:
        """The bytes of the file."""
        return "".join(line + "\n" for line in self.lines).encode("utf-8", "surrogatepass")

    def read(self, **source: Any) -> Read:
        """What the importer makes of it."""
        return read(self.data, **source)


def text(words: str) -> dict[str, Any]:
    """A text block."""
    return {"type": "text", "text": words}


def call(name: str, tool: str = "Bash", **arguments: Any) -> dict[str, Any]:
    """A tool_use block."""
    return {"type": "tool_use", "id": name, "name": tool, "input": arguments}


@dataclass
class Read:
    """All that came out of a file."""

    report: FileReport
    events: list[tuple[str, Event]] = field(default_factory=list)
    sessions: dict[str, Assembler] = field(default_factory=dict)

    def of(self, kind: type[Any], key: str | None = None) -> list[Any]:
        """The events of one kind, of one session or of all."""
        return [event for name, event in self.events if isinstance(event, kind) and key in (None, name)]

    @property
    def keys(self) -> list[str]:
        """Sessions in the order of their first events."""
        return list(self.sessions)

    @property
    def main(self) -> Assembler:
        """The first session."""
        return self.sessions[self.keys[0]]

    def items(self, key: str | None = None) -> list[ItemEvent]:
        """Item events."""
        return self.of(ItemEvent, key)

    def notes(self, code: str) -> list[Note]:
        """Notes of one code."""
        return [note for note in self.of(Note) if note.code == code]

    def contexts(self, key: str | None = None) -> dict[str, list[str]]:
        """The ids of the items that stand in the context of each step, by following the events."""
        return contexts([event for name, event in self.events if name == (key or self.keys[0])])


def read(data: bytes, name: str = "s1.jsonl", **source: Any) -> Read:
    """Read a log from memory; every session is assembled on the way."""
    return read_source(Source(name, data=data, **source))


def read_path(path: Path, **source: Any) -> Read:
    """Read a log from disk."""
    return read_source(Source(path.name, path=path, **source))


def read_source(source: Source) -> Read:
    """Read any source."""
    got = Read(FileReport())
    for key, event in claude_code.read(source, got.report):
        got.events.append((key, event))
        if key not in got.sessions:
            assert isinstance(event, SessionStart), f"the first event of {key} is {event}"
            # The assembler goes on writing into its first event.
            got.sessions[key] = Assembler(replace(event))
        else:
            got.sessions[key].feed(event)
    return got


def contexts(events: Iterable[Event]) -> dict[str, list[str]]:
    """What stands before each step when the events are followed one by one, exactly as core/events.py defines."""
    order: list[str] = []
    inside: dict[str, bool] = {}
    found: dict[str, list[str]] = {}
    for event in events:
        if isinstance(event, ItemEvent) and event.kind != "ui" and event.id not in inside:
            order.append(event.id)
            inside[event.id] = True
        elif isinstance(event, StepEvent):
            found[event.id] = [item for item in order if inside[item]]
        elif isinstance(event, Compaction):
            inside = {item: item in event.keeps and stays for item, stays in inside.items()}
        elif isinstance(event, Cleared) and event.verdict in ("dropped", "kept"):
            for item in order if event.all_before else event.items:
                if item in inside:
                    inside[item] = event.verdict == "kept"
    return found


__all__ = [
    "CORPUS",
    "LOGS",
    "Cleared",
    "Compaction",
    "ItemEvent",
    "Link",
    "Log",
    "Note",
    "Read",
    "SessionStart",
    "StepEvent",
    "TurnStart",
    "Usage",
    "call",
    "needs_corpus",
    "read",
    "read_path",
    "read_source",
    "text",
]
