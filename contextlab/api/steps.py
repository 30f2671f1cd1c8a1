"""Steps with their reports, and what stood before one of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from contextlab.api.base import MOST, PAGE, ApiView, Opened, number_in, number_of
from contextlab.api.errors import not_found
from contextlab.api.paging import cursor_in, link, order_of, page
from contextlab.api.schema import CURSOR, LIMIT, VIEW, paged, query
from contextlab.api.seen import seen_items
from contextlab.api.step_shapes import SeenItem, StepShape, report_values
from contextlab.queries.keyset import Key, encode
from contextlab.queries.step import HEAD_COLUMNS, REPORT_COLUMNS, ReportFigures, StepHead
from contextlab.queries.views import layers
from contextlab.store.models import StepRecord, StepReport

PLACE = (Key("position", int), Key("in_context", int))


class StepList(ApiView):
    """GET /api/sessions/{id}/steps/"""

    @extend_schema(
        responses=paged(StepShape),
        parameters=[VIEW, query("turn", "only steps of this turn", int), CURSOR, LIMIT],
    )
    def get(self, request: Request, uid: UUID) -> Response:
        """The steps of a session in their order, each with its report in the view."""
        opened = self.open_view(request, uid)
        rows = StepRecord.objects.filter(**opened.rows)
        turn = number_in(request, "turn")
        rows = rows if turn is None else rows.filter(turn=turn)
        answer = page(request, rows, [Key("number", int)], HEAD_COLUMNS, dict)
        heads = [StepHead(*(values[name] for name in HEAD_COLUMNS)) for values in answer["results"]]
        answer["results"] = StepShape(list(_with_reports(opened, heads)), many=True).data
        return Response(answer)


class StepOne(ApiView):
    """GET /api/sessions/{id}/steps/{step}/"""

    @extend_schema(responses=StepShape, parameters=[VIEW])
    def get(self, request: Request, uid: UUID, number: int) -> Response:
        """One step with its report in the view."""
        opened = self.open_view(request, uid)
        rows = StepRecord.objects.filter(**opened.rows, number=number_of(number, "step"))
        for line in step_lines(opened, rows):
            return Response(StepShape(line).data)
        raise not_found("step")


class StepItems(ApiView):
    """GET /api/sessions/{id}/steps/{step}/items/"""

    @extend_schema(responses=paged(SeenItem), parameters=[VIEW, CURSOR, LIMIT])
    def get(self, request: Request, uid: UUID, number: int) -> Response:
        """Every item that stood before the step, with its verdict and reason; left out ones are in it, too."""
        opened = self.open_view(request, uid).at(number)
        step = (
            StepRecord.objects.filter(**opened.rows, number=number_of(number, "step")).values("upto").first()
        )
        if step is None or not StepReport.objects.filter(view_id=opened.view_id, step=number).exists():
            raise not_found("step" if step is None else "report of this step yet")
        size = number_in(request, "limit", 1, MOST) or PAGE
        cursor = cursor_in(request, order_of(PLACE), PLACE)
        first, order = (int(value) for value in (cursor.values if cursor else (0, 0)))
        end = min(first + size, step["upto"])
        found, order = seen_items(opened, number, first, end, order)
        following = link(request, encode(order_of(PLACE), (end, order), 0)) if end < step["upto"] else None
        answer = {"results": SeenItem(found, many=True).data, "next": following, "previous": None}
        return Response(answer)


def step_lines(opened: Opened, rows: QuerySet[StepRecord]) -> Iterable[dict[str, Any]]:
    """The steps of some rows as StepShape writes them, with their reports in the view."""
    return _with_reports(opened, [StepHead(*values) for values in rows.values_list(*HEAD_COLUMNS)])


def _with_reports(opened: Opened, heads: list[StepHead]) -> Iterable[dict[str, Any]]:
    found: dict[int, ReportFigures] = {}
    numbers = [head.number for head in heads]
    for view, first in layers(opened.view_id):
        own = [number for number in numbers if number >= first]
        numbers = [number for number in numbers if number < first]
        reports = StepReport.objects.filter(view_id=view, step__in=own) if own else StepReport.objects.none()
        found |= {values[0]: ReportFigures(*values) for values in reports.values_list(*REPORT_COLUMNS)}
    return [_line(opened, head, found.get(head.number)) for head in heads]


def _line(opened: Opened, head: StepHead, report: ReportFigures | None) -> dict[str, Any]:
    reported = head.reported
    # A prompt that was accepted although it is larger disproves the limit: it is unknown then.
    disproved = head.limit is not None and reported is not None and reported > head.limit
    values = {name: getattr(head, name) for name in HEAD_COLUMNS}
    values |= {
        "session": opened.session.uid,
        "view": opened.name,
        "turn": head.turn or None,
        "model": head.model or None,
        "limit": None if disproved else head.limit,
        "limit_source": "" if disproved else head.limit_source,
        "restart": head.restart or None,
        "report": None if report is None else report_values(report, reported),
    }
    return values
