"""All compactions of the workspace: those that logs record and those made here."""

from __future__ import annotations

from dataclasses import asdict
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from contextlab.api.base import ApiView, number_in, text_in
from contextlab.api.errors import bad_value
from contextlab.api.paging import cursor_in, link
from contextlab.api.schema import CURSOR, paged, query
from contextlab.api.shapes import CompactionLineShape
from contextlab.queries.compaction_list import (
    KEYS,
    MOST_ROWS,
    ORDER,
    ORIGINS,
    PAGE_SIZE,
    STATES,
    CompactionFilters,
    compaction_list,
)


class AllCompactions(ApiView):
    """GET /api/compactions/"""

    @extend_schema(
        responses=paged(CompactionLineShape),
        parameters=[
            query(
                "origin",
                "log: found in logs; hand: asked for here; auto: made automatically",
                enum=list(ORIGINS),
            ),
            query("state", "state of the run; those of logs are done", enum=list(STATES)),
            query("policy", "exactly this policy's name; those of logs have none"),
            query("q", "words that stand in the session's title, project, branch, model, agent or native id"),
            query("session", "uuid of a session: only its compactions"),
            query("limit", f"rows of a page, 1 to {MOST_ROWS}; {PAGE_SIZE} without it", kind=int),
            CURSOR,
        ],
    )
    def get(self, request: Request) -> Response:
        """Newest first; those of logs without times come last. `run` or `number` says where its page is."""
        cursor_in(request, ORDER, KEYS)
        size = number_in(request, "limit", 1, MOST_ROWS) or PAGE_SIZE
        found = compaction_list(self.workspace.pk, _filters(request), size)
        answer = {
            "results": CompactionLineShape([asdict(row) for row in found.rows], many=True).data,
            "next": link(request, found.after) if found.after else None,
            "previous": link(request, found.before) if found.before else None,
            "matching": found.matching,
            "more_match": found.more_match,
        }
        return Response(answer)


def _filters(request: Request) -> CompactionFilters:
    values = {name: text_in(request, name) for name in ("origin", "state", "policy", "q", "session")}
    for name, known in (("origin", tuple(ORIGINS)), ("state", STATES)):
        if values[name] and values[name] not in known:
            raise bad_value(f"query: {name}", f"{name} is one of {', '.join(known)}.")
    return CompactionFilters(
        origin=values["origin"], state=values["state"], policy=values["policy"], q=values["q"].strip(),
        session=_uid(values["session"]) if values["session"] else None, cursor=text_in(request, "cursor", 2000),
    )  # fmt: skip


def _uid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise bad_value("query: session", "session is the id (a UUID) of a session.") from error
