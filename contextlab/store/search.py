"""The search index as databases have it: FTS5 on SQLite, a tsvector on PostgreSQL, one table of one name on both.

Words come from core.audit.search_words: ASCII letters and digits, so that neither database splits or folds anything
further. Every piece also holds a word for its session, so that a search in one session does not walk through all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import Model

from contextlab.core.audit.search_words import SearchQuery
from contextlab.store.models import ItemRecord, SearchPiece, SpanRecord

LISTED = 1_000
"""Pieces that one search looks at, at most."""

Piece = tuple[int, list[str]]
"""Position of an item and the words of a piece of it."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An item that may hold what is looked for."""

    session_id: int
    revision: int
    position: int


def write_pieces(session_id: int, revision: int, pieces: Sequence[Piece]) -> None:
    """Index pieces of a session's items, in the caller's transaction."""
    if not pieces:
        return
    rows = [
        SearchPiece(session_id=session_id, revision=revision, position=position) for position, _ in pieces
    ]
    made = SearchPiece.objects.bulk_create(rows, batch_size=300)
    words = ((row.pk, [_owner(session_id), *found]) for row, (_, found) in zip(made, pieces, strict=True))
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with (
                connection.wrap_database_errors,
                cursor.copy("COPY store_searchwords (id, words) FROM STDIN") as copy,
            ):
                for key, found in words:
                    copy.write_row((key, _vector(found)))
        else:
            insert = "INSERT INTO store_searchwords (rowid, words) VALUES (%s, %s)"
            cursor.executemany(insert, [(key, " ".join(found)) for key, found in words])


def find(
    query: SearchQuery, session_id: int | None = None, newest_first: bool = False
) -> tuple[list[Candidate], bool]:
    """Items that may hold the text, each once, in the order they were indexed; and whether these are all."""
    order = "DESC" if newest_first else "ASC"
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(_POSTGRES, [_postgres_query(query, session_id), LISTED + 1])
            keys = [key for (key,) in cursor.fetchall()]
            cursor.execute(_PIECES.format(order=order), [keys])
        else:
            cursor.execute(_SQLITE.format(order=order), [_sqlite_query(query, session_id), LISTED + 1])
        rows = cursor.fetchall()
    found = (Candidate(*row) for row in rows[:LISTED] if session_id is None or row[0] == session_id)
    return list(dict.fromkeys(found)), len(rows) <= LISTED


def items_at(columns: Sequence[str], places: Sequence[tuple[int, int, int]]) -> list[tuple[Any, ...]]:
    """Columns of the items at (session, revision, position), behind their session; those that are gone are left out."""
    found = "item.session_id = s AND item.revision = r AND item.position = p"
    return _joined(ItemRecord, ("session_id", *columns), places, "s, r, p", found)


def spans_at(columns: Sequence[str], places: Sequence[tuple[int, int]]) -> list[tuple[Any, ...]]:
    """Columns of the spans over the items at (view, position), behind their view."""
    found = "item.view_id = v AND item.first_item <= p AND item.last_item >= p"
    return _joined(SpanRecord, ("view_id", *columns), places, "v, p", found)


def _joined(
    model: type[Model], columns: Sequence[str], places: Sequence[tuple[int, ...]], names: str, on: str
) -> list[tuple[Any, ...]]:
    """Rows of a table for each of some places; a condition for each with OR between them costs the ORM far more."""
    if not places:
        return []
    one = f"({', '.join(['%s'] * len(places[0]))})"
    table = connection.ops.quote_name(model._meta.db_table)
    question = (
        f"WITH wanted ({names}) AS (VALUES {', '.join([one] * len(places))}) "  # noqa: S608
        f"SELECT DISTINCT {', '.join(f'item.{name}' for name in columns)} FROM wanted JOIN {table} AS item ON {on}"
    )
    with connection.cursor() as cursor:
        cursor.execute(question, [part for place in places for part in place])
        return list(cursor.fetchall())


def squeeze() -> None:
    """Give up what deleted pieces left behind in the index."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("INSERT INTO store_searchwords (store_searchwords) VALUES ('optimize')")


_SQLITE = (
    "SELECT piece.session_id, piece.revision, piece.position FROM store_searchwords "
    "JOIN store_searchpiece piece ON piece.id = store_searchwords.rowid "
    "WHERE store_searchwords MATCH %s ORDER BY store_searchwords.rowid {order} LIMIT %s"
)
# Asked for an order, or for a join, the planner would rather walk over everything than use the index of words.
_POSTGRES = "SELECT id FROM store_searchwords WHERE words @@ %s::tsquery LIMIT %s"
_PIECES = (
    "SELECT session_id, revision, position FROM store_searchpiece WHERE id = ANY(%s) ORDER BY id {order}"
)


def _owner(session_id: int) -> str:
    return f"s{session_id}s"


def _vector(words: Iterable[str]) -> str:
    return " ".join(f"{word}:{place}" for place, word in enumerate(words, 1))


def _sqlite_query(query: SearchQuery, session_id: int | None) -> str:
    phrase = f'"{" ".join(query.phrase)}"' + (" *" if query.open_end else "")
    return phrase if session_id is None else f'"{_owner(session_id)}" AND {phrase}'


def _postgres_query(query: SearchQuery, session_id: int | None) -> str:
    phrase = " <-> ".join(query.phrase) + (":*" if query.open_end else "")
    return phrase if session_id is None else f"{_owner(session_id)} & ({phrase})"
