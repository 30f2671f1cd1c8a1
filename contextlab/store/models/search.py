"""The search index: which pieces of which items are indexed. The words stand in a table of the database's own kind.

`store_searchwords` (made by a migration) holds the words of each piece under the piece's key: an FTS5 table on SQLite,
a tsvector with a GIN index on PostgreSQL. Rows there go with their piece.
"""

# ruff: noqa: RUF012, DJ008 - Django reads Meta as it is; most rows never show as text

from __future__ import annotations

from django.db import models

from contextlab.store.models.sessions import Session, SessionRow


class SearchPiece(SessionRow):
    """About PIECE words of one item (core.audit.search_words)."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="+", db_index=False)
    """With a constraint: these rows are not written by bulk_insert, and a table with triggers is not rebuilt."""
    position = models.IntegerField()

    class Meta:
        indexes = [models.Index(fields=["session", "revision", "position"], name="searchpiece_item")]


class SearchState(models.Model):
    """How far a session is indexed."""

    session = models.OneToOneField(
        Session, primary_key=True, on_delete=models.CASCADE, related_name="search_state"
    )
    revision = models.IntegerField(default=0)
    items = models.IntegerField(default=0)
    """Items at positions below it are indexed."""
