"""The session page: its figures, chart and context map, and its turns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path

from contextlab.queries import session as sessions
from contextlab.queries.audit import findings
from contextlab.queries.fires import Fires, fires_of
from contextlab.queries.layered import steps_between
from contextlab.queries.made_marks import MadeMark, made_counts, made_marks
from contextlab.queries.marks import Mark, has_marks, marks_between
from contextlab.queries.memories import observed_turns
from contextlab.queries.policies import compacts
from contextlab.queries.turn import turn_table
from contextlab.web.opened import RECORDED, Opened, number_in, open_page, open_session, view_links
from contextlab.web.pages.live import live_values
from contextlab.web.turn_rows import turn_rows

TABLE_STEPS = 50
FINDINGS = 5
Placed = TypeVar("Placed", Mark, MadeMark)


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
        "rows": turn_rows(opened, table, observed_turns(opened.session, [row.number for row in table.rows])),
    }
    if request.headers.get("HX-Target") == "turns":
        return render(request, "panels/turns.html", values)
    values |= live_values(opened.session)
    made = made_marks(opened.seen)
    values |= {
        "made": made_counts(opened.session.pk),
        "made_kinds": sorted({mark.kind for mark in made}),
        "page": sessions.session_page(opened.session, opened.seen),
        "views": view_links(opened, "session"),
        "has_marks": bool(made) or has_marks(opened.seen),
        "fires": _fires(opened),
        "findings": findings(opened.session, most=FINDINGS) if opened.name == RECORDED else [],
    }
    return render(request, "pages/session.html", values)


def _fires(opened: Opened) -> Fires | None:
    """What the policy of the view did; None in the recorded view, and for a policy that never compacts."""
    known = opened.live or compacts(opened.session.workspace_id, opened.name)
    if opened.view_id is None or opened.name == RECORDED or not known:
        return None
    return fires_of(opened.session, opened.view_id)


def step_table(request: HttpRequest, uid: UUID) -> HttpResponse:
    """The numbers behind the chart, a page of steps at a time."""
    opened = open_session(request, uid)
    total = opened.session.steps
    first = min(max(number_in(request, "from") or 1, 1), max(total, 1))
    last = min(first + TABLE_STEPS - 1, total)
    found = opened.session
    lines = steps_between(opened.seen, first, last) if opened.view_id else []
    # What was compacted behind the last step stands beside it.
    behind = last if last < total else None
    made = made_marks(opened.seen, first, behind)
    begun = {mark.step for mark in made if mark.begins}
    marks = [mark for mark in marks_between(opened.seen, first, behind) if mark.step not in begun]
    values = {
        "marks": _at_steps(marks, last), "made": _at_steps(made, last),
        "opened": opened, "session": found, "lines": lines, "first": first, "last": last, "total": total,
        "before": max(1, first - TABLE_STEPS) if first > 1 else None, "after": last + 1 if last < total else None,
    }  # fmt: skip
    return render(request, "panels/step_table.html", values)


def _at_steps(marks: Sequence[Placed], last: int) -> dict[int, list[Placed]]:
    """Marks by the step of the table that they stand at."""
    found: dict[int, list[Placed]] = {}
    for mark in marks:
        found.setdefault(min(mark.step, last), []).append(mark)
    return found


urlpatterns = [
    path("sessions/<uuid:uid>", session, name="session"),
    path("sessions/<uuid:uid>/steps", step_table, name="step_table"),
]
