"""Items of a session that wait to be written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contextlab.core.timeline import ItemRow, Timeline
from contextlab.services.ingest import rows


class Waiting:
    """The rows to be, and what of them wants to be counted."""

    __slots__ = ("_rows", "uncounted")

    def __init__(self) -> None:
        self._rows: list[tuple[tuple[Any, ...], tuple[Any, ...]]] = []
        self.uncounted: dict[bytes, tuple[str, bytes]] = {}
        """What is to be counted by its hash: the name of a call or nothing, and the text."""

    def __len__(self) -> int:
        return len(self._rows)

    def add(
        self, row: ItemRow, same: tuple[Any, ...], estimate: int, place: tuple[int, int], size: int
    ) -> None:
        """An item whose text of so many bytes stands at this segment and offset."""
        self._rows.append((same, rows.kept_values(row.event, estimate, *place, size)))

    def take(
        self, owner: tuple[int, int], counts: Mapping[bytes, int], timeline: Timeline
    ) -> list[tuple[Any, ...]]:
        """The rows, once, with their counts, which the timeline learns, too."""
        made, tokens = [], timeline.tokens
        for same, kept in self._rows:
            count = counts.get(same[rows.HASH])
            if count is not None:
                tokens[same[0]] = count
            made.append((*owner, *same, count, *kept))
        self._rows, self.uncounted = [], {}
        return made
