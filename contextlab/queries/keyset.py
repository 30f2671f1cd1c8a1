"""Pages by key: a cursor holds the last row's sort values, so that page 1,000 costs what page 1 does."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from django.db.models import F, Model, Q, QuerySet

M = TypeVar("M", bound=Model)

CURSOR_LIMIT = 2000
"""Characters; longer ones were never made here."""


@dataclass(frozen=True, slots=True)
class Key:
    """A column to sort by; `type` is what its values are. It must not be NULL (coalesce it before)."""

    name: str
    type: type
    descending: bool = False

    def lookup(self, forward: bool) -> str:
        """The comparison that finds what comes after (or before) a value."""
        return f"{self.name}__{'lt' if self.descending == forward else 'gt'}"


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place between two rows: the sort values of the row beside it, and the number of rows before the page."""

    values: tuple[Any, ...]
    start: int
    forward: bool = True


def encode(order: str, values: Sequence[Any], start: int, forward: bool = True) -> str:
    """A cursor as text for an address; `order` names the order that it belongs to."""
    plain = [value.isoformat() if isinstance(value, datetime) else value for value in values]
    packed = json.dumps([order, start, int(forward), *plain], separators=(",", ":"))
    return base64.urlsafe_b64encode(packed.encode()).decode().rstrip("=")


def decode(text: str, order: str, keys: Sequence[Key]) -> Cursor | None:
    """The cursor that `encode` made in this order; None for anything else (a link made by hand, another sort)."""
    if not text or len(text) > CURSOR_LIMIT:
        return None
    try:
        made_in, start, forward, *plain = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        if (
            made_in != order
            or len(plain) != len(keys)
            or not isinstance(start, int)
            or not 0 <= start < 2**53
        ):
            return None
        values = tuple(_typed(value, key.type) for value, key in zip(plain, keys, strict=True))
    except (ValueError, TypeError, binascii.Error, RecursionError):
        return None
    return Cursor(values, start, bool(forward))


def _typed(value: Any, wanted: type) -> Any:
    if wanted is datetime:
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            raise ValueError("no time zone")
        return moment
    if wanted is str:
        if not isinstance(value, str) or "\x00" in value:
            raise ValueError("not a text")
        value.encode()  # a lone surrogate cannot be sent to a database
        return value
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 2**53:
        raise ValueError("not a number")
    return value


def ordered(rows: QuerySet[M], keys: Sequence[Key], cursor: Cursor | None) -> QuerySet[M]:
    """The rows on the cursor's side, nearest to it first (for a backward cursor: in reverse order)."""
    forward = cursor is None or cursor.forward
    order = [F(key.name).desc() if key.descending == forward else F(key.name).asc() for key in keys]
    rows = rows.order_by(*order)
    return rows.filter(_beyond(keys, cursor)) if cursor else rows


def _beyond(keys: Sequence[Key], cursor: Cursor) -> Q:
    condition, equal = Q(), Q()
    for key, value in zip(keys, cursor.values, strict=True):
        condition |= equal & Q(**{key.lookup(cursor.forward): value})
        equal &= Q(**{key.name: value})
    return condition
