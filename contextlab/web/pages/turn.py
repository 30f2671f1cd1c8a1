"""The turn page: what was asked, the steps it took, and the report of the last one."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path

from contextlab.queries.memories import turn_observations
from contextlab.queries.scope import Reading
from contextlab.queries.shares import shares
from contextlab.queries.step import read_around
from contextlab.queries.turn import turn_page
from contextlab.web.opened import number_in, open_page, view_links
from contextlab.web.rows import media_words


def turn(request: HttpRequest, uid: UUID, number: int) -> HttpResponse:
    """The page."""
    opened = open_page(request, uid)
    page = turn_page(opened.seen, number, number_in(request, "from"))
    if page is None:
        raise Http404("The session has no such turn.")
    last = page.row.last_step
    near = read_around(opened.seen, last - 1, last) if last is not None else None
    scope = near.scope(opened.seen, last) if near and last is not None else None
    values = {
        "opened": opened, "session": opened.session, "nav": "sessions", "page": page, "row": page.row,
        "report": page.row.report, "head": near.heads.get(last) if near and last is not None else None,
        "views": view_links(opened, "turn", number), "shares": shares(Reading(scope)) if scope else None,
        "observations": turn_observations(opened.session, number) if number else [],
        "prompt": [(item, media_words(item)) for item in page.prompt],
        "scale": max((line.projected_tokens or 0 for line in page.lines), default=0),
    }  # fmt: skip
    return render(request, "pages/turn.html", values)


urlpatterns = [path("sessions/<uuid:uid>/turns/<place:number>", turn, name="turn")]
