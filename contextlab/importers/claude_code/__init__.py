"""Claude Code transcripts: `~/.claude/projects/<folder>/<session>.jsonl`, with their subagents in all layouts.

records.py says what the lines look like, handlers.py what each means, reader.py which session it belongs to,
tree.py what stands before a step, thread.py in which order a session's events are given out.
"""

from __future__ import annotations

import json
import re
from typing import Any

from contextlab.core.events import Event, FileReport, Note
from contextlab.core.texts import clean
from contextlab.importers.base import SessionEvents, Source
from contextlab.importers.claude_code.handlers import HANDLERS, unknown
from contextlab.importers.claude_code.reader import Reader
from contextlab.importers.claude_code.records import Line, as_line, decode_line
from contextlab.importers.lines import Record, records, skip

FORMAT = "claude-code"
LABEL = "Claude Code transcript"
CANNOT_CONTAIN = (
    "The system prompt and the descriptions of the tools: their size is what the reported input has beyond the items.",
    "The text of CLAUDE.md, and of files that are attached again after a compaction.",
    "The size of the context window.",
    "The reasoning itself: the log has its text (often empty or a summary) and a signature.",
)

_TYPES = frozenset(kind for kind in HANDLERS if kind is not None)
_MESSAGE_TYPES = ("user", "assistant", "progress", "system", "attachment")


def sniff(head: bytes) -> int:
    """How sure the first 256 KB are a Claude Code transcript: 0 to 100."""
    best = 0
    for line in head.split(b"\n")[:400]:
        try:
            value = json.loads(line.strip(b"\xef\xbb\xbf\x00 \r\t"))
        except (ValueError, RecursionError):
            # The first line may be longer than the head, or hold two records.
            best = max(
                best, 90 if re.match(rb'\s*\{.{0,400}?"(parentUuid|sessionId)"', line, re.DOTALL) else 0
            )
            continue
        best = max(best, _likeness(value))
        if best >= 95:
            break
    return best


def read(source: Source, report: FileReport) -> SessionEvents:
    """Yield the events of all sessions of the file; the report is complete when the iterator ends."""
    report.format, report.cannot_contain = FORMAT, CANNOT_CONTAIN
    out: list[tuple[str, Event]] = []
    reader = Reader(source, report, out.append)
    skipped = 0
    with source.open() as stream:
        for record in records(stream, report, decode_line):
            _take(reader, record)
            if report.skipped_total != skipped:
                _tell_skipped(reader, skipped)
                skipped = report.skipped_total
            if out:
                yield from out
                out.clear()
    reader.finish()
    _tell_skipped(reader, skipped)
    yield from out


def _take(reader: Reader, record: Record) -> None:
    line = record.value
    if type(line) is not Line:
        line = as_line(line)
        if line is None:
            skip(reader.report, record.line, "not an object")
            return
    if b"\\u0000" in record.raw or b"\x00" in record.raw:
        for name in Line.__struct_fields__:
            if isinstance(text := getattr(line, name), str):
                setattr(line, name, clean(text))
    HANDLERS.get(line.type, unknown)(reader, line, record)


def _tell_skipped(reader: Reader, since: int) -> None:
    """A note in the session for everything skipped since then (as far as the report lists it)."""
    if reader.main is not None:
        for line, reason in reader.report.skipped[since:]:
            reader.main.add(Note("skipped", f"line {line}: {reason}"))


def _likeness(value: Any) -> int:
    if not isinstance(value, dict):
        return 0
    kind = value.get("type")
    if kind in _MESSAGE_TYPES and ("parentUuid" in value or ("uuid" in value and "sessionId" in value)):
        return 98
    if kind in ("user", "assistant") and isinstance(value.get("message"), dict) and "uuid" in value:
        return 95
    if kind == "summary" and "leafUuid" in value:
        return 85
    if kind == "file-history-snapshot" or (kind in _TYPES and "sessionId" in value):
        return 80
    return 0
