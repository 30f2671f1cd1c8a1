"""The stored items of a session, walked along while its log is read again."""

from __future__ import annotations

from typing import Any, Self

import zstandard

from contextlab.services.ingest.rows import SAME_COLUMNS
from contextlab.store.items import session_items
from contextlab.store.models import Session, TextSegment

CHUNK = 2000
_PLACE = ("text_segment", "text_offset", "text_length")


class StoredItems:
    """Compares items read with items stored, position by position, until the first that differs."""

    def __init__(self, session: Session, count: int | None = None) -> None:
        """`count` is given where it is known."""
        self._session = session
        self._rows = session_items(session)
        self._chunk: list[tuple[Any, ...]] = []
        self._start = 0
        self._last: tuple[Any, ...] | None = None
        self.count = self._rows.count() if count is None else count

    @classmethod
    def passed(cls, session: Session) -> Self:
        """Those of a session, by whoever has all of them behind himself."""
        stored = cls(session, session.items)
        if session.items:
            stored._load(session.items - 1)
            stored._last = stored._chunk[-1] if stored._chunk else None
        return stored

    def matches(self, same: tuple[Any, ...]) -> bool:
        """Whether the next stored item has these SAME_COLUMNS; False behind the last one."""
        position = same[0]
        if position >= self.count:
            return False
        if position >= self._start + len(self._chunk):
            self._load(position)
        if position - self._start >= len(self._chunk):
            return False
        row = self._chunk[position - self._start]
        if row[: len(SAME_COLUMNS)] != same:
            return False
        self._last = row
        return True

    def last_text(self) -> tuple[int, bytes] | None:
        """The text segment of the last item that matched, up to that item's end; None when none did."""
        if self._last is None:
            return None
        segment, offset, length = self._last[len(SAME_COLUMNS) :]
        stored = TextSegment.objects.filter(
            session=self._session, revision=self._session.revision, number=segment
        )
        data = stored.values_list("data", flat=True).first()
        unpacked = b"" if data is None else zstandard.ZstdDecompressor().decompress(bytes(data))
        return segment, unpacked[: offset + length]

    def _load(self, position: int) -> None:
        self._start = position
        rows = self._rows.filter(position__gte=position, position__lt=position + CHUNK).order_by("position")
        self._chunk = list(rows.values_list(*SAME_COLUMNS, *_PLACE))
