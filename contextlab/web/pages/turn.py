"""The turn page: what was asked, the steps it took, and the report of the last one."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path

from contextlab.queries.context import Scope, shares
from contextlab.queries.step import scope_of, step_head
from contextlab.queries.turn import TurnPage, turn_page
from contextlab.web.opened import Opened, number_in, open_page, view_links
from contextlab.web.rows import media_words


def turn(request: HttpRequest, uid: UUID, number: int) -> HttpResponse:
    """The page."""
    opened = open_page(request, uid)
    page = turn_page(opened.seen, number, number_in(request, "from"))
    if page is None:
        raise Http404("The session has no such turn.")
    scope = _last_scope(opened, page)
    values = {
        "opened": opened, "session": opened.session, "nav": "sessions", "page": page, "row": page.row,
        "report": page.row.report, "head": scope and step_head(*_place(opened), scope.step),
        "views": view_links(opened, "turn", number), "shares": shares(scope) if scope else None,
        "prompt": [(item, media_words(item)) for item in page.prompt],
        "scale": max((line.projected_tokens or 0 for line in page.lines), default=0),
    }  # fmt: skip
    return render(request, "pages/turn.html", values)


def _place(opened: Opened) -> tuple[int, int]:
    return opened.session.pk, opened.session.revision


def _last_scope(opened: Opened, page: TurnPage) -> Scope | None:
    report, last, view_id = page.row.report, page.row.last_step, opened.view_id
    if report is None or last is None or view_id is None:
        return None
    head = step_head(*_place(opened), last)
    return scope_of(*_place(opened), view_id, head, report) if head else None


urlpatterns = [path("sessions/<uuid:uid>/turns/<int:number>", turn, name="turn")]
