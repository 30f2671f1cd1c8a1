"""The session page: its figures, chart and context map, and its turns."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path

from contextlab.queries import session as sessions
from contextlab.queries import step as steps
from contextlab.queries.audit import findings
from contextlab.queries.fires import Fires, fires_of
from contextlab.queries.marks import has_marks
from contextlab.queries.memories import observed_turns
from contextlab.queries.policies import compacts
from contextlab.queries.turn import turn_table
from contextlab.web.opened import RECORDED, Opened, number_in, open_page, open_session, view_links

TABLE_STEPS = 50
FINDINGS = 5


def session(request: HttpRequest, uid: UUID) -> HttpResponse:
    """The page, or only its table of turns for htmx."""
    opened = open_page(request, uid)
    table = turn_table(opened.seen, number_in(request, "turn") or 1)
    values = {
        "opened": opened,
        "session": opened.session,
        "nav": "sessions",
        "table": table,
        "scale": table.largest,
        "observed": observed_turns(opened.session, [row.number for row in table.rows]),
    }
    if request.headers.get("HX-Target") == "turns":
        return render(request, "panels/turns.html", values)
    values |= {
        "page": sessions.session_page(opened.session, opened.seen),
        "views": view_links(opened, "session"),
        "has_marks": has_marks(opened.seen),
        "fires": _fires(opened),
        "findings": findings(opened.session, most=FINDINGS) if opened.name == RECORDED else [],
    }
    return render(request, "pages/session.html", values)


def _fires(opened: Opened) -> Fires | None:
    """What the policy of the view did; None in the recorded view, and for a policy that never compacts."""
    if (
        opened.view_id is None
        or opened.name == RECORDED
        or not compacts(opened.session.workspace_id, opened.name)
    ):
        return None
    return fires_of(opened.session, opened.view_id)


def step_table(request: HttpRequest, uid: UUID) -> HttpResponse:
    """The numbers behind the chart, a page of steps at a time."""
    opened = open_session(request, uid)
    total = opened.session.steps
    first = min(max(number_in(request, "from") or 1, 1), max(total, 1))
    last = min(first + TABLE_STEPS - 1, total)
    found = opened.session
    lines = steps.steps_between(opened.seen, first, last) if opened.view_id else []
    values = {
        "opened": opened, "session": found, "lines": lines, "first": first, "last": last, "total": total,
        "before": max(1, first - TABLE_STEPS) if first > 1 else None, "after": last + 1 if last < total else None,
    }  # fmt: skip
    return render(request, "panels/step_table.html", values)


urlpatterns = [
    path("sessions/<uuid:uid>", session, name="session"),
    path("sessions/<uuid:uid>/steps", step_table, name="step_table"),
]
