"""Rows that may change after they were written (a step's usage comes late), kept equal with little writing.

A table remembers a hash of each row that it wrote or found stored, 8 bytes a row, and writes only what differs.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import Any

from django.db import models

from contextlab.services.ingest.rows import OWNER
from contextlab.store.batch import Batch

Row = tuple[Any, ...]


class Table:
    """The rows of one model for one session and revision, numbered from 1 by their place."""

    def __init__(
        self, model: type[models.Model], columns: Sequence[str], *, by_number: bool = True, theirs: int = 0
    ) -> None:
        """`by_number` is False where the number is not the place: such a table is small and written anew as a whole.

        The last `theirs` columns are filled in by somebody else later and not compared.
        """
        self.model, self.columns = model, columns
        self._by_number = by_number
        self._compared = len(columns) - len(OWNER) - theirs
        self.hashes = array("q")
        """Of the rows known to be stored."""

    def __len__(self) -> int:
        """Rows known to be stored."""
        return len(self.hashes)

    def load(self, owner: tuple[int, int]) -> None:
        """Learn what is stored."""
        names = self.columns[len(OWNER) :]
        rows = self._rows(owner).order_by("id" if not self._by_number else "number").values_list(*names)
        self.hashes = array("q", (self._digest(row) for row in rows.iterator(chunk_size=2000)))

    def sync(
        self, owner: tuple[int, int], rows: Iterable[Row], first: int, batch: Batch, complete: bool
    ) -> bool:
        """Make the stored rows equal to `rows`, which begin at place `first` (from 0); True when that took writing.

        Unless `complete`, rows beyond the given ones stay: they are about to be written anew.
        """
        fresh = array("q")
        changed: list[tuple[int, Row]] = []
        for place, row in enumerate(rows if self._by_number else (rows := list(rows)), first):
            fresh.append(self._digest(row))
            if place >= len(self.hashes) or self.hashes[place] != fresh[-1]:
                changed.append((place, row))
        end = first + len(fresh)
        beyond = complete and len(self.hashes) > end
        if not changed and not beyond:
            return False
        if not self._by_number:
            changed = list(enumerate(rows))
        replaced = [place for place, _ in changed if place < len(self.hashes)]
        self._remove(replaced, end if beyond else None, owner, batch)
        batch.add(self.model, self.columns, [owner + row for _, row in changed])
        self.hashes[first:] = fresh + (array("q") if complete else self.hashes[end:])
        return True

    def learn(self, rows: Iterable[Row], first: int) -> None:
        """These rows are stored from place `first` (from 0) on."""
        self.hashes[first:] = array("q", (self._digest(row) for row in rows))

    def _remove(self, places: list[int], beyond: int | None, owner: tuple[int, int], batch: Batch) -> None:
        if not self._by_number:
            self._rows(owner).delete()
            return
        batch.remove(self.model, (*OWNER, "number"), [(*owner, place + 1) for place in places])
        if beyond is not None:
            self._rows(owner).filter(number__gt=beyond).delete()

    def _digest(self, row: Row) -> int:
        row = row[: self._compared]
        try:
            return hash(row)
        except TypeError:
            return hash(tuple(tuple(value) if isinstance(value, list) else value for value in row))

    def _rows(self, owner: tuple[int, int]) -> models.QuerySet[Any]:
        return self.model._default_manager.filter(session_id=owner[0], revision=owner[1])
