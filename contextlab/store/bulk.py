"""Many rows at once: executemany on SQLite, COPY on PostgreSQL; both take what Django's own insert would store.

Everything written here passes one guard: no NUL and no lone surrogate, no text longer than its column, and no number
beyond its column (unknown, where the column has that, instead of wrong).

Tables of many rows refer to the row that they belong to without a constraint: PostgreSQL would look it up once for
each of them, a twentieth of an import. It is looked up here once for all, and held until the transaction ends; whoever
deletes such a row locks it first (`lock_rows`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, datetime
from functools import cache, partial
from typing import Any

import msgspec
from django.db import IntegrityError, connection, models

from contextlab.core.texts import clean

Row = Sequence[Any]
Column = Sequence[Any]
Encode = Callable[[Column], Column]
"""Values of one column as the database takes them: a column at a time, since few of them need a second look."""

LONGEST = 2**31
_to_json = msgspec.json.Encoder().encode
INT64 = (-(2**63), 2**63 - 1)
_POSTGRES_TYPES = {
    "bigint": "int8", "integer": "int4", "smallint": "int2", "boolean": "bool", "double precision": "float8",
    "timestamp with time zone": "timestamptz", "jsonb": "text",
}  # fmt: skip


def bulk_insert(model: type[models.Model], columns: Sequence[str], rows: Sequence[Row]) -> None:
    """Insert rows of the named columns (Django's attribute names, `session_id`); all but the key must be named.

    Raises IntegrityError where the row that one belongs to is gone.
    """
    quoted = ", ".join(_quoted(model, name) for name in columns)
    table = connection.ops.quote_name(model._meta.db_table)
    _check_all_named(model, columns)
    for name in _unconstrained(model):
        _hold_owners(model, name, {row[columns.index(name)] for row in rows})
    copied = connection.vendor == "postgresql"
    encoded = _encoded(model, columns, rows, copied)
    with connection.cursor() as cursor:
        if copied:
            with (
                connection.wrap_database_errors,
                cursor.copy(f"COPY {table} ({quoted}) FROM STDIN (FORMAT BINARY)") as copy,
            ):
                copy.set_types([_postgres_type(model, name) for name in columns])
                for row in encoded:
                    copy.write_row(row)
        else:
            places = ", ".join(["%s"] * len(columns))
            cursor.executemany(f"INSERT INTO {table} ({quoted}) VALUES ({places})", list(encoded))  # noqa: S608


def bulk_make(objects: Sequence[models.Model]) -> None:
    """Insert new objects of one model, which has a `uid`, and give them their keys.

    As Django's bulk_create does, in a third of its time where a table has many columns.
    """
    if not objects:
        return
    model = type(objects[0])
    fields = [field for field in model._meta.concrete_fields if not field.primary_key]
    rows = [tuple(field.pre_save(one, True) for field in fields) for one in objects]
    bulk_insert(model, [field.attname for field in fields], rows)
    made = {getattr(one, "uid"): one for one in objects}  # noqa: B009 -- not every model has one
    for uid, key in model._base_manager.filter(uid__in=list(made)).values_list("uid", "pk"):
        made[uid].pk = key
        made[uid]._state.adding, made[uid]._state.db = False, connection.alias


def bulk_set(model: type[models.Model], column: str, values: Sequence[tuple[int, int]]) -> None:
    """Set one number column of many rows, given as (value, primary key)."""
    table, name = connection.ops.quote_name(model._meta.db_table), _quoted(model, column)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                f"UPDATE {table} SET {name} = new.value "  # noqa: S608
                "FROM unnest(%s::bigint[], %s::bigint[]) AS new(value, key) WHERE id = new.key",
                [int_array(value for value, _ in values), int_array(key for _, key in values)],
            )
        else:
            cursor.executemany(f"UPDATE {table} SET {name} = %s WHERE id = %s", values)  # noqa: S608


def bulk_update(
    model: type[models.Model], columns: Sequence[str], rows: Sequence[Row], where: Sequence[str] = ("id",)
) -> int:
    """Set columns of many rows, given as the new values and behind them those of `where`; returns how many matched."""
    if not rows:
        return 0
    places = ", ".join(f"{_quoted(model, name)} = %s" for name in columns)
    chosen = " AND ".join(f"{_quoted(model, name)} = %s" for name in where)
    table = connection.ops.quote_name(model._meta.db_table)
    with connection.cursor() as cursor:
        values = list(_encoded(model, (*columns, *where), rows))
        cursor.executemany(f"UPDATE {table} SET {places} WHERE {chosen}", values)  # noqa: S608
        return int(cursor.rowcount)


def bulk_delete(model: type[models.Model], where: Sequence[str], rows: Sequence[Row]) -> None:
    """Delete rows given by the values of these columns."""
    chosen = " AND ".join(f"{_quoted(model, name)} = %s" for name in where)
    table = connection.ops.quote_name(model._meta.db_table)
    with connection.cursor() as cursor:
        cursor.executemany(f"DELETE FROM {table} WHERE {chosen}", rows)  # noqa: S608


def update_changed(row: models.Model, fields: dict[str, Any]) -> bool:
    """Write those fields of a row (and its object) that differ from what the object says; True when any did."""
    changes = Changes()
    changed = changes.note(row, fields)
    changes.write()
    return changed


class Changes:
    """Fields of many rows that differ from what their objects say; rows that change alike share a statement."""

    def __init__(self) -> None:
        self._rows: dict[tuple[type[models.Model], tuple[str, ...]], list[Row]] = {}

    def note(self, row: models.Model, fields: dict[str, Any]) -> bool:
        """Take those fields (attribute names) that differ over into the object; True when any did."""
        changed = {name: value for name, value in fields.items() if getattr(row, name) != value}
        if changed:
            self._rows.setdefault((type(row), tuple(changed)), []).append((*changed.values(), row.pk))
            for name, value in changed.items():
                setattr(row, name, value)
        return bool(changed)

    def write(self) -> None:
        """Write what was noted."""
        for (model, columns), rows in self._rows.items():
            bulk_update(model, columns, rows)
        self._rows.clear()


def lock_rows(rows: models.QuerySet[Any]) -> None:
    """Nobody adds rows that belong to these until the transaction ends: they are to be deleted."""
    list(rows.order_by("pk").select_for_update(of=("self",)).values_list("pk", flat=True))


def _hold_owners(model: type[models.Model], name: str, keys: Collection[int]) -> None:
    """What a constraint on the column would check for each row, once for all of them; raises IntegrityError."""
    owner = _field(model, name).related_model
    assert owner is not None
    table = connection.ops.quote_name(owner._meta.db_table)
    if connection.vendor == "postgresql":
        chosen, named = "id = ANY(%s::bigint[]) FOR KEY SHARE", int_array(keys)
    else:
        chosen, named = "id IN (SELECT value FROM json_each(%s))", f"[{','.join(map(str, keys))}]"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT id FROM {table} WHERE {chosen}", [named])  # noqa: S608
        if len(cursor.fetchall()) < len(keys):
            raise IntegrityError(f"{model.__name__}: the row that {name} names has been deleted")


def int_array(values: Iterable[int]) -> str:
    """Numbers as PostgreSQL writes an array of them; psycopg takes ten times as long for a list."""
    return "{" + ",".join(map(str, values)) + "}"


def clean_text(text: str, longest: int | None = None) -> str:
    """The text as a column may hold it: cleaned, and cut to `longest` characters."""
    if not text.isascii() or "\x00" in text:
        text = clean(text)
    return text if longest is None or len(text) <= longest else text[:longest]


def _quoted(model: type[models.Model], name: str) -> str:
    return connection.ops.quote_name(str(_field(model, name).column))


def _field(model: type[models.Model], name: str) -> models.Field[Any, Any]:
    return next(field for field in model._meta.concrete_fields if field.attname == name)


@cache
def _unconstrained(model: type[models.Model]) -> tuple[str, ...]:
    """Columns that refer to another row without a constraint."""
    fields = model._meta.concrete_fields
    return tuple(field.attname for field in fields if not getattr(field, "db_constraint", True))


def _postgres_type(model: type[models.Model], name: str) -> str:
    kind = (_field(model, name).db_type(connection) or "").split("(")[0]
    return _POSTGRES_TYPES.get(kind, kind)


def _check_all_named(model: type[models.Model], columns: Sequence[str]) -> None:
    missing = {field.attname for field in model._meta.concrete_fields if not field.primary_key} - set(columns)
    if missing:
        raise ValueError(f"{model.__name__}: no values for {', '.join(sorted(missing))}")


def _encoded(
    model: type[models.Model], columns: Sequence[str], rows: Iterable[Row], copied: bool = False
) -> Iterable[Row]:
    given: list[Column] = list(zip(*rows, strict=True))
    if given:
        for place, encode in _encoders(model, tuple(columns), connection.vendor, copied):
            given[place] = encode(given[place])
    return zip(*given, strict=True)


@cache
def _encoders(
    model: type[models.Model], columns: tuple[str, ...], vendor: str, copied: bool
) -> tuple[tuple[int, Encode], ...]:
    """The columns whose values are not handed over as they are."""
    found = ((place, _encoder(_field(model, name), vendor, copied)) for place, name in enumerate(columns))
    return tuple((place, encode) for place, encode in found if encode is not None)


def _encoder(field: models.Field[Any, Any], vendor: str, copied: bool) -> Encode | None:
    if isinstance(field, models.JSONField):
        return _jsonb if copied else _json
    if isinstance(field, models.UUIDField) and vendor == "sqlite":
        return _sqlite_uuids
    if isinstance(field, models.DateTimeField) and vendor == "sqlite":
        return _sqlite_times
    if isinstance(field, models.BigIntegerField) and field.null:
        return _bounded
    if isinstance(field, models.CharField | models.TextField):
        return partial(_fitting, longest=field.max_length or LONGEST)
    return None


def _fitting(column: Column, longest: int) -> Column:
    """Texts that may be stored; all are looked at in one go, since nearly always there is nothing to do."""
    texts = [text for text in column if text]
    joined = "".join(texts)
    if joined.isascii() and "\x00" not in joined and max(map(len, texts), default=0) <= longest:
        return column
    return [clean_text(text, longest) if text else text for text in column]


def _jsonb(column: Column) -> Column:
    """As COPY takes jsonb: the number of the form, and the text. Handed over as a text, which psycopg copies as it is;
    a Jsonb of each value costs three times as much."""
    return [None if value is None else "\x01" + _to_json(value).decode() for value in column]


def _json(column: Column) -> Column:
    return [None if value is None else _to_json(value).decode() for value in column]


def _sqlite_uuids(column: Column) -> Column:
    return [None if value is None else value.hex for value in column]


def _sqlite_times(column: Column) -> Column:
    """As Django writes them: naive, in UTC."""
    return [None if value is None else _naive(value) for value in column]


def _naive(value: datetime) -> str:
    return (value if value.tzinfo is UTC else value.astimezone(UTC)).isoformat(" ")[: -len("+00:00")]


def _bounded(column: Column) -> Column:
    low, high = INT64
    return [value if value is None or low <= value <= high else None for value in column]
