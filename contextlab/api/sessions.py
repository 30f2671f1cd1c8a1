"""Sessions: the list, one of them, its turns; and opening one that an agent lives in."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from contextlab.api.base import ApiView, number_of, text_in
from contextlab.api.errors import bad_value, not_found
from contextlab.api.live import opened
from contextlab.api.paging import cursor_in, link, page
from contextlab.api.schema import CURSOR, LIMIT, VIEW, paged, query
from contextlab.api.shapes import SessionDetail, SessionShape
from contextlab.api.step_shapes import StepShape, TurnShape
from contextlab.api.steps import step_lines
from contextlab.queries.keyset import Key
from contextlab.queries.marks import COMPACTION_COLUMNS
from contextlab.queries.session_filters import DEFAULT_SORT, FLAGS, SORTS, Filters
from contextlab.queries.sessions import session_page
from contextlab.store.models import CompactionRecord, StepRecord, TurnRecord

COMPACTIONS_SHOWN = 500
CHILDREN_SHOWN = 500
TURN_STEPS_SHOWN = 1000


class SessionList(ApiView):
    """GET /api/sessions/"""

    @extend_schema(
        responses=paged(SessionShape),
        parameters=[
            query("q", "words that stand in the title, the project, the model or a prompt"),
            query("format", "claude-code, codex, openai-chat, ..."),
            query("model", "exactly this model"),
            query("project", "exactly this project"),
            query("branch", "exactly this branch"),
            query("is", "only sessions with this mark", enum=sorted(FLAGS), many=True),
            query("sort", f"order; {DEFAULT_SORT} without it", enum=list(SORTS)),
            CURSOR,
        ],
    )
    def get(self, request: Request) -> Response:
        """The workspace's sessions, newest first; subagents stand below their parents and are not listed."""
        filters = _filters(request)
        cursor_in(request, filters.order, filters.keys)
        found = session_page(self.workspace.pk, filters)
        answer = {
            "results": SessionShape(found.rows, many=True).data,
            "next": link(request, found.after) if found.after else None,
            "previous": link(request, found.before) if found.before else None,
            "matching": found.matching,
        }
        return Response(answer)

    @extend_schema(
        request=OpenApiTypes.OBJECT, responses={200: OpenApiTypes.OBJECT, 201: OpenApiTypes.OBJECT}
    )
    def post(self, request: Request) -> Response:
        """Open a live session: an agent sends what happens, and asks for the memory of its next step.

        Keys of the body: id (the agent's own; the same again is the same session), name, project, model, policy (a
        name or a document; without one all is kept), allow_model (automatic compactions may ask the model; false).
        """
        return opened(self.workspace, request.data)


def _filters(request: Request) -> Filters:
    sort, marks = text_in(request, "sort"), request.query_params.getlist("is")
    if sort and sort not in SORTS:
        raise bad_value("query: sort", f"sort is one of {', '.join(SORTS)}.")
    if unknown := [mark for mark in marks if mark not in FLAGS]:
        raise bad_value(
            "query: is", f"There is no mark {unknown[0]!r}; marks are {', '.join(sorted(FLAGS))}."
        )
    return Filters(
        q=text_in(request, "q").strip(),
        format=text_in(request, "format"),
        model=text_in(request, "model"),
        flags=frozenset(marks),
        sort=sort or DEFAULT_SORT,
        cursor=text_in(request, "cursor", 2000),
        project=text_in(request, "project") if "project" in request.query_params else None,
        branch=text_in(request, "branch") if "branch" in request.query_params else None,
    )


class SessionOne(ApiView):
    """GET /api/sessions/{id}/"""

    @extend_schema(responses=SessionDetail)
    def get(self, request: Request, uid: UUID) -> Response:  # noqa: ARG002
        """One session with its counters, views, compactions and the sessions that it started."""
        session: Any = self.open_session(uid)
        session.view_rows = list(session.views.defer("chart").order_by("kind", "name"))
        session.child_rows = list(session.children.order_by("started_at", "id")[:CHILDREN_SHOWN])
        rows = CompactionRecord.objects.filter(session=session, revision=session.revision)
        session.compaction_list = list(
            rows.order_by("at_step", "number").values(*COMPACTION_COLUMNS)[:COMPACTIONS_SHOWN]
        )
        return Response(SessionDetail(session).data)


TURN_COLUMNS = (
    "number",
    "native_id",
    "title",
    "trigger",
    "status",
    "first_position",
    "first_step",
    "last_step",
    "ts",
)


class TurnList(ApiView):
    """GET /api/sessions/{id}/turns/"""

    @extend_schema(responses=paged(TurnShape), parameters=[CURSOR, LIMIT])
    def get(self, request: Request, uid: UUID) -> Response:
        """The turns of a session in their order."""
        session = self.open_session(uid)
        rows = TurnRecord.objects.filter(session=session, revision=session.revision)
        return Response(page(request, rows, [Key("number", int)], TURN_COLUMNS, _turn))


def _turn(values: dict[str, Any]) -> dict[str, Any]:
    return dict(TurnShape(values).data)


class TurnOne(ApiView):
    """GET /api/sessions/{id}/turns/{turn}/"""

    @extend_schema(responses=TurnShape, parameters=[VIEW])
    def get(self, request: Request, uid: UUID, number: int) -> Response:
        """One turn with its steps. Its own report is that of its last step; lowest and highest stand beside it."""
        opened = self.open_view(request, uid)
        rows = TurnRecord.objects.filter(**opened.rows, number=number_of(number, "turn"))
        steps = StepRecord.objects.filter(**opened.rows, turn=number).order_by("number")[:TURN_STEPS_SHOWN]
        lines = [dict(StepShape(line).data) for line in step_lines(opened, steps)]
        turn = rows.values(*TURN_COLUMNS).first() or (_before_turns(lines) if number == 0 else None)
        if turn is None:
            raise not_found("turn")
        sizes = [size for line in lines if (size := _size(line)) is not None]
        extremes = {"lowest_tokens": min(sizes, default=None), "highest_tokens": max(sizes, default=None)}
        report = lines[-1]["report"] if lines else None
        return Response(_turn(turn) | extremes | {"report": report, "steps": lines})


def _before_turns(lines: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The steps of a log that stand before its first prompt, as a turn 0."""
    known = {
        "number": 0,
        "native_id": "",
        "title": "",
        "trigger": "",
        "status": "",
        "first_position": 0,
        "ts": None,
    }
    return known | {"first_step": lines[0]["step"], "last_step": lines[-1]["step"]} if lines else None


def _size(line: dict[str, Any]) -> int | None:
    report = line["report"] or {}
    reported: int | None = report.get("reported_input_tokens")
    return report.get("projected_tokens") if reported is None else reported
