"""contextlab-events: JSON Lines that any framework can write when no importer fits, read and written without loss.

The first line names the format and the session, each further line is one event of core/events.py. Described, with a
runnable example, in docs/formats/contextlab-events.md.
"""

from __future__ import annotations

from contextlab.core.events import FileReport
from contextlab.importers.base import SessionEvents, Source
from contextlab.importers.contextlab_events.fields import FORMAT, VERSION
from contextlab.importers.contextlab_events.reader import Reader
from contextlab.importers.contextlab_events.writer import write_events, write_sessions
from contextlab.importers.values import head_records, mapping

__all__ = ["CANNOT_CONTAIN", "FORMAT", "LABEL", "VERSION", "read", "sniff", "write_events", "write_sessions"]

LABEL = "ContextLab events"
CANNOT_CONTAIN: tuple[str, ...] = ()


def sniff(head: bytes) -> int:
    """100 when the first line names the format, 0 otherwise."""
    first = next(iter(head_records(head, 1)), None)
    return 100 if mapping(first).get("format") == FORMAT else 0


def read(source: Source, report: FileReport) -> SessionEvents:
    """The events of one file; never raises on content."""
    return Reader(source, report).events()
