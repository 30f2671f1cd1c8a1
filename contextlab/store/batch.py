"""Rows of many sessions, collected so that each table is written once per transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import models

from contextlab.store.bulk import bulk_insert


class Batch:
    """Rows to insert, by table, in the order in which the tables first appeared."""

    def __init__(self) -> None:
        self._rows: dict[type[models.Model], tuple[Sequence[str], list[Sequence[Any]]]] = {}

    def add(self, model: type[models.Model], columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Collect rows; every call for a model names the same columns."""
        if rows:
            self._rows.setdefault(model, (columns, []))[1].extend(rows)

    def write(self) -> None:
        """Insert everything, inside the caller's transaction."""
        for model, (columns, rows) in self._rows.items():
            bulk_insert(model, columns, rows)
        self._rows.clear()
