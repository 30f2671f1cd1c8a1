"""Cursor pages: `results`, and the addresses of the neighbouring pages. Page 1,000 costs what page 1 does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from rest_framework.request import Request

from contextlab.api.base import MOST, PAGE, number_in, text_in
from contextlab.api.errors import bad_value
from contextlab.queries.keyset import CURSOR_LIMIT, Cursor, Key, decode, encode, ordered

M = TypeVar("M", bound=Model)
Shape = Callable[[dict[str, Any]], dict[str, Any]]


def page(
    request: Request, rows: QuerySet[M], keys: Sequence[Key], columns: Sequence[str], shape: Shape
) -> dict[str, Any]:
    """A page of the rows in the order of `keys`, each row's values given its shape."""
    size = number_in(request, "limit", 1, MOST) or PAGE
    order = order_of(keys)
    cursor = cursor_in(request, order, keys)
    wanted = {*columns, *(key.name for key in keys)}
    found = list(ordered(rows, keys, cursor).values(*wanted)[: size + 1])
    more, found = len(found) > size, found[:size]
    forward = cursor is None or cursor.forward
    if not forward:
        found.reverse()
    has_next, has_previous = (more, cursor is not None) if forward else (True, more)
    return {
        "results": [shape(values) for values in found],
        "next": _link(request, found[-1], keys, True) if found and has_next else None,
        "previous": _link(request, found[0], keys, False) if found and has_previous else None,
    }


def order_of(keys: Sequence[Key]) -> str:
    """A name for an order, which its cursors carry."""
    return ",".join(key.name for key in keys)


def cursor_in(request: Request, order: str, keys: Sequence[Key]) -> Cursor | None:
    """The cursor of the query; 400 for one that was not made here, or for another order."""
    text = text_in(request, "cursor", CURSOR_LIMIT)
    if not text:
        return None
    cursor = decode(text, order, keys)
    if cursor is None:
        raise bad_value("query: cursor", "This cursor was not made by this address; start without one.")
    return cursor


def link(request: Request, cursor: str) -> str:
    """The address of the request with another cursor."""
    query = request.query_params.copy()
    query["cursor"] = cursor
    return request.build_absolute_uri(f"{request.path}?{query.urlencode()}")


def _link(request: Request, row: dict[str, Any], keys: Sequence[Key], forward: bool) -> str:
    return link(request, encode(order_of(keys), [row[key.name] for key in keys], 0, forward))
