"""Typed facts of items: each item is read once (extract/), what several say is put together (merging.py)."""

from __future__ import annotations

from collections.abc import Iterable

from contextlab.core.audit.extract.items import Read, read_item
from contextlab.core.audit.merging import Facts, Merger
from contextlab.core.audit.source import Source


class Extractor:
    """Reads the items of a session, each one once."""

    def __init__(self, source: Source) -> None:
        """Nothing is read yet."""
        self.source = source
        self._read: dict[int, Read] = {}

    def read(self, position: int) -> Read:
        """What the item at a position says."""
        read = self._read.get(position)
        if read is None:
            read = self._read[position] = read_item(self.source, self.source.item(position))
        return read

    def facts(self, positions: Iterable[int]) -> Facts:
        """The facts of items, put together."""
        items = [item for item in self.source.items(positions) if item.text]
        return Merger(items, [self.read(item.position) for item in items]).facts()
