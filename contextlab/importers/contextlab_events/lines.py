"""One line on its own: whether reading a log will take it, asked before it is appended to one.

The reader itself is asked, so that what is let in is what is read.
"""

from __future__ import annotations

from dataclasses import dataclass

from contextlab.core.events import FileReport
from contextlab.core.texts import clean
from contextlab.importers.base import Source
from contextlab.importers.contextlab_events.reader import Reader
from contextlab.importers.lines import Record, records

ELSEWHERE = "session: the events of another session are sent to that session's own address"
HEADER = "format: the log has its header; send events only"


@dataclass(frozen=True, slots=True)
class CheckedLine:
    """A line that is an event, or the reason why it is none."""

    key: str | None = None
    """What it is known by, type and id; None for one without an id."""
    reason: str = ""


def check_line(raw: bytes, session: str) -> CheckedLine:
    """Look at one line (without its end) for the log of a session."""
    report = FileReport()
    found = list(records(Source("line", data=raw).open(), report))
    if len(found) != 1 or report.skipped:
        reason = report.skipped[0][1] if report.skipped else "not one JSON object"
        return CheckedLine(reason=reason)
    value = found[0].value
    if reason := _misplaced(value, session):
        return CheckedLine(reason=reason)
    if reason := _refused(found[0], session, report):
        return CheckedLine(reason=reason)
    name = value.get("id") if value["type"] != "session" else None
    return CheckedLine(f"{value['type']}:{clean(name)}" if isinstance(name, str) and name else None)


def _misplaced(value: object, session: str) -> str:
    if not isinstance(value, dict):
        return "not an object"
    if "format" in value:
        return HEADER
    named = value.get("id") if value.get("type") == "session" else None
    if value.get("session") not in (None, session) or named not in (None, session):
        return ELSEWHERE
    return ""


def _refused(record: Record, session: str, report: FileReport) -> str:
    """Why the reader would not take it."""
    reader = Reader.within(session, report)
    if reader.takes(record):
        return ""
    if report.skipped:
        return report.skipped[0][1]
    return f"type: {next(iter(report.unknown_types), 'none')} is not known"
