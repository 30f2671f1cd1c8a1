"""Many rows at once: executemany on SQLite, COPY on PostgreSQL; both take what Django's own insert would store.

Everything written here passes one guard: no NUL and no lone surrogate, no text longer than its column, and no number
beyond its column (unknown, where the column has that, instead of wrong).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

import msgspec
from django.db import connection, models

from contextlab.importers.lines import clean

Encode = Callable[[Any], Any]
Row = Sequence[Any]

LONGEST = 2**31
_to_json = msgspec.json.Encoder().encode
INT64 = (-(2**63), 2**63 - 1)
_POSTGRES_TYPES = {
    "bigint": "int8", "integer": "int4", "smallint": "int2", "boolean": "bool", "double precision": "float8",
    "timestamp with time zone": "timestamptz",
}  # fmt: skip


def bulk_insert(model: type[models.Model], columns: Sequence[str], rows: Iterable[Row]) -> None:
    """Insert rows of the named columns (Django's attribute names, `session_id`); all but the key must be named."""
    quoted = ", ".join(_quoted(model, name) for name in columns)
    table = connection.ops.quote_name(model._meta.db_table)
    encoded = _encoded(rows, *_encoders(model, tuple(columns), connection.vendor))
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
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


def bulk_set(model: type[models.Model], column: str, values: Sequence[tuple[int, int]]) -> None:
    """Set one number column of many rows, given as (value, primary key)."""
    table, name = connection.ops.quote_name(model._meta.db_table), _quoted(model, column)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                f"UPDATE {table} SET {name} = new.value "  # noqa: S608
                "FROM unnest(%s::bigint[], %s::bigint[]) AS new(value, key) WHERE id = new.key",
                [[value for value, _ in values], [key for _, key in values]],
            )
        else:
            cursor.executemany(f"UPDATE {table} SET {name} = %s WHERE id = %s", values)  # noqa: S608


def update_changed(row: models.Model, fields: dict[str, Any]) -> bool:
    """Write those fields of a row (and its object) that differ from what the object says; True when any did."""
    changed = {name: value for name, value in fields.items() if getattr(row, name) != value}
    if changed:
        type(row)._default_manager.filter(pk=row.pk).update(**changed)
        for name, value in changed.items():
            setattr(row, name, value)
    return bool(changed)


def clean_text(text: str, longest: int | None = None) -> str:
    """The text as a column may hold it: cleaned, and cut to `longest` characters."""
    if not text.isascii() or "\x00" in text:
        text = clean(text)
    return text if longest is None or len(text) <= longest else text[:longest]


def _quoted(model: type[models.Model], name: str) -> str:
    return connection.ops.quote_name(str(_field(model, name).column))


def _field(model: type[models.Model], name: str) -> models.Field[Any, Any]:
    return next(field for field in model._meta.concrete_fields if field.attname == name)


def _postgres_type(model: type[models.Model], name: str) -> str:
    kind = (_field(model, name).db_type(connection) or "").split("(")[0]
    return _POSTGRES_TYPES.get(kind, kind)


Texts = tuple[tuple[int, int], ...]
"""Place and greatest length of each text column."""

Encoders = tuple[tuple[int, Encode], ...]


@cache
def _encoders(model: type[models.Model], columns: tuple[str, ...], vendor: str) -> tuple[Texts, Encoders]:
    """The columns that hold text, and those whose values are not handed over as they are."""
    missing = {field.attname for field in model._meta.concrete_fields if not field.primary_key} - set(columns)
    if missing:
        raise ValueError(f"{model.__name__}: no values for {', '.join(sorted(missing))}")
    fields = [_field(model, name) for name in columns]
    texts = tuple(
        (place, field.max_length or LONGEST)
        for place, field in enumerate(fields)
        if isinstance(field, models.CharField | models.TextField)
    )
    found = ((place, _encoder(field, vendor)) for place, field in enumerate(fields))
    return texts, tuple((place, encode) for place, encode in found if encode is not None)


def _encoder(field: models.Field[Any, Any], vendor: str) -> Encode | None:
    if isinstance(field, models.JSONField):
        return _jsonb() if vendor == "postgresql" else _json
    if isinstance(field, models.DateTimeField) and vendor == "sqlite":
        return _sqlite_time
    if isinstance(field, models.BigIntegerField) and field.null:
        return _bounded
    return None


def _encoded(rows: Iterable[Row], texts: Texts, encoders: Encoders) -> Iterator[list[Any]]:
    for row in rows:
        values = list(row)
        for place, longest in texts:
            text = values[place]
            if text and (not text.isascii() or len(text) > longest or "\x00" in text):
                values[place] = clean_text(text, longest)
        for place, encode in encoders:
            values[place] = encode(values[place])
        yield values


def _jsonb() -> Encode:
    from psycopg.types.json import Jsonb  # 35 ms that whoever uses SQLite need not spend

    return Jsonb


def _json(value: Any) -> str | None:
    return None if value is None else _to_json(value).decode()


def _sqlite_time(value: datetime | None) -> str | None:
    """As Django writes it: naive, in UTC."""
    return None if value is None else str(value.astimezone(UTC).replace(tzinfo=None))


def _bounded(value: int | None) -> int | None:
    return value if value is None or INT64[0] <= value <= INT64[1] else None
