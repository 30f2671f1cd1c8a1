"""Rows of many sessions, collected so that each table is written once per transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import models

from contextlab.store.bulk import Changes, bulk_delete, bulk_insert


class Batch:
    """Rows to replace, to insert and to change, by table, in the order in which the tables first appeared."""

    def __init__(self) -> None:
        self._rows: dict[type[models.Model], tuple[Sequence[str], list[Sequence[Any]]]] = {}
        self._old: dict[tuple[type[models.Model], Sequence[str]], list[Sequence[Any]]] = {}
        self.changes = Changes()
        """Fields of rows that are there already."""

    def add(self, model: type[models.Model], columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Collect rows; every call for a model names the same columns."""
        if rows:
            self._rows.setdefault(model, (columns, []))[1].extend(rows)

    def remove(self, model: type[models.Model], where: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Rows, given by these columns, that go before any are inserted."""
        if rows:
            self._old.setdefault((model, where), []).extend(rows)

    def write(self) -> None:
        """Write everything, inside the caller's transaction."""
        for (model, where), old in self._old.items():
            bulk_delete(model, where, old)
        for model, (columns, rows) in self._rows.items():
            bulk_insert(model, columns, rows)
        self.changes.write()
        self._old.clear()
        self._rows.clear()
