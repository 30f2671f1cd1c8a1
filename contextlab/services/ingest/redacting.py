"""REDACT_AT_INGEST: secrets are taken out of a log's bytes before anything else sees them.

Importer and raw segments read the same redacted stream, so offsets, hashes and growth mean that stream. Line by line:
a log that grew is still the old one with lines behind it.
"""

from __future__ import annotations

import io
from dataclasses import fields
from typing import TYPE_CHECKING, BinaryIO, cast

from django.conf import settings

from contextlab.core.redaction import redact_counted
from contextlab.importers.base import Source
from contextlab.importers.streams import BUFFER, damage_of, open_source

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

LINE = 32 * 1024 * 1024
"""Longest piece that is looked at as a whole; a secret that lies across two pieces of one line may stay."""


def as_stored(source: Source) -> Source:
    """The source as it may be stored: redacted where the settings say so."""
    if not settings.REDACT_AT_INGEST:
        return source
    return RedactedSource(**{field.name: getattr(source, field.name) for field in fields(Source)})


def marks_in(stream: BinaryIO) -> int:
    """How many secrets were replaced in what was read of the stream."""
    return getattr(getattr(stream, "raw", None), "marks", 0)


class RedactedSource(Source):
    """A source whose streams hold no secret."""

    __slots__ = ()

    def open(self) -> BinaryIO:
        """The redacted stream; raises UnreadableFile with the reason."""
        return cast(BinaryIO, io.BufferedReader(_Redacted(open_source(self)), BUFFER))


class _Redacted(io.RawIOBase):
    """The lines of `inner`, redacted."""

    def __init__(self, inner: BinaryIO) -> None:
        self._inner = inner
        self._pending = b""
        self.marks = 0

    @property
    def damage(self) -> str | None:
        """Why the stream ended early, None when it did not."""
        return damage_of(self._inner)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        if not self._pending:
            # Bytes that are not UTF-8 come out as they went in.
            line = self._inner.readline(LINE).decode("utf-8", "surrogateescape")
            text, marks = redact_counted(line)
            self._pending = text.encode("utf-8", "surrogateescape")
            self.marks += marks
        view = memoryview(buffer)
        count = min(len(view), len(self._pending))
        view[:count] = self._pending[:count]
        self._pending = self._pending[count:]
        return count

    def close(self) -> None:
        if not self.closed:
            self._inner.close()
        super().close()
