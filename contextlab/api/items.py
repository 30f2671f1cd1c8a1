"""Items of a session, one of them with its text, and the spans of a view."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from contextlab.api.base import ApiView, number_in, number_of
from contextlab.api.errors import not_found
from contextlab.api.paging import page
from contextlab.api.schema import CURSOR, LIMIT, VIEW, paged, query
from contextlab.api.step_shapes import ItemDetail, ItemShape, SpanShape
from contextlab.core.items import VERDICTS
from contextlab.queries import fates
from contextlab.queries.item import item_text
from contextlab.queries.items import COLUMNS, ItemRow, item_rows, read_items
from contextlab.queries.keyset import Key
from contextlab.store.items import session_items
from contextlab.store.models import SpanRecord

TEXT_LIMIT = 1_000_000
SPAN_COLUMNS = ("first_item", "last_item", "verdict", "reason", "first_step", "end_step")


class ItemList(ApiView):
    """GET /api/sessions/{id}/items/"""

    @extend_schema(responses=paged(ItemShape), parameters=[CURSOR, LIMIT])
    def get(self, request: Request, uid: UUID) -> Response:
        """All items of a session by position, whatever became of them; texts are at each item."""
        session = self.open_session(uid)
        rows = session_items(session)
        answer = page(request, rows, [Key("position", int)], COLUMNS, dict)
        found = item_rows(tuple(values[name] for name in COLUMNS) for values in answer["results"])
        answer["results"] = ItemShape([_plain(row) for row in found], many=True).data
        return Response(answer)


class ItemOne(ApiView):
    """GET /api/sessions/{id}/items/{position}/"""

    @extend_schema(
        responses=ItemDetail,
        parameters=[query("text_limit", f"bytes of the text at most; {TEXT_LIMIT:,} without it", int)],
    )
    def get(self, request: Request, uid: UUID, position: int) -> Response:
        """One item with its text."""
        session = self.open_session(uid)
        most = number_in(request, "text_limit", 1) or TEXT_LIMIT
        row = read_items(session.pk, session.revision, [number_of(position, "item")]).get(position)
        text = item_text(session, position, most) if row else None
        if row is None or text is None:
            raise not_found("item")
        values = _plain(row) | {"text": text, "truncated": row.text_length > most}
        return Response(ItemDetail(values).data)


def _plain(row: ItemRow) -> dict[str, Any]:
    values: dict[str, Any] = {name: getattr(row, name) for name in (*COLUMNS, "is_error")}
    for name in ("tool", "call_id", "injected", "label"):
        values[name] = values[name] or None
    return values | {"kind": row.kind.value, "media": list(row.media)}


class SpanList(ApiView):
    """GET /api/sessions/{id}/spans/"""

    @extend_schema(
        responses=paged(SpanShape),
        parameters=[VIEW, query("step", "only spans in force at this step", int), CURSOR, LIMIT],
    )
    def get(self, request: Request, uid: UUID) -> Response:
        """The verdicts of a view as rectangles over items and steps, by their first item."""
        opened = self.open_view(request, uid)
        step = number_in(request, "step", 1)
        rows = SpanRecord.objects.filter(view_id=opened.view_id)
        rows = rows if step is None else fates.in_force(opened.view_id, step)
        return Response(page(request, rows, [Key("first_item", int), Key("id", int)], SPAN_COLUMNS, _span))


def _span(values: dict[str, Any]) -> dict[str, Any]:
    values |= {"verdict": VERDICTS[values["verdict"]].value, "reason": values["reason"] or None}
    return dict(SpanShape(values).data)
