"""What every importer promises: bytes in, events out, nothing lost in silence.

An importer is one module of this folder with the names of `Importer`. It reads a stream once, keeps only what it
needs of it (memory does not grow with the texts), never raises on bad content (a record that cannot be read costs
that record: it is counted and named in the report) and yields `(session_key, event)` as core/events.py defines.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Protocol

from contextlab.core.events import Event, FileReport

SessionEvents = Iterator[tuple[str, Event]]


class UnreadableFile(Exception):
    """The whole file cannot be read; the message says why, in words for the person who chose it."""


class UnknownFormat(UnreadableFile):
    """No importer knows this content; the message names the best guess, the formats known, and the events format."""


@dataclass(slots=True)
class Source:
    """One file to import: its name and how to open it (decompressed, from the start, as often as needed).

    `relative` is its path below the folder that was asked for, with forward slashes: importers learn from it about
    parents and siblings, never the format. `companions` are small files that belong to it (`agent-x.meta.json`).
    """

    name: str
    path: Path | None = None
    data: bytes | None = None
    relative: str = ""
    limit: int | None = None
    """Read at most so many (decompressed) bytes: the size when the import began, for files that still grow."""
    companions: dict[str, Path] = field(default_factory=dict)

    def open(self) -> BinaryIO:
        """A stream of the decompressed bytes; raises UnreadableFile with the reason."""
        from contextlab.importers.streams import open_source

        return open_source(self)


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
