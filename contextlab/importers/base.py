"""What every importer promises: bytes in, events out, nothing lost in silence.

An importer is one module of this folder with the names of `Importer`. It reads a stream once, keeps only what it
needs of it (memory does not grow with the texts), never raises on bad content (a record that cannot be read costs
that record: it is counted and named in the report) and yields `(session_key, event)` as core/events.py defines.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from contextlab.core.events import Event, FileReport
from contextlab.importers.streams import Source, UnreadableFile

__all__ = ["Importer", "SessionEvents", "Source", "UnknownFormat", "UnreadableFile"]

SessionEvents = Iterator[tuple[str, Event]]


class UnknownFormat(UnreadableFile):
    """No importer knows this content; the message names the best guess, the formats known, and the events format."""


class Importer(Protocol):
    """The names an importer module defines."""

    FORMAT: str
    """Machine name, as in `inspect`'s `format`: claude-code, codex, openai-chat, contextlab-events ..."""
    LABEL: str
    """Name for people."""
    CANNOT_CONTAIN: tuple[str, ...]
    """What logs of this kind never hold, one sentence each."""

    def sniff(self, head: bytes) -> int:
        """How sure this importer is that the content is its own: 0 (no) to 100, from the first 256 KB alone."""
        ...

    def read(self, source: Source, report: FileReport) -> SessionEvents:
        """Yield the events of the file and fill in the report on the way."""
        ...
