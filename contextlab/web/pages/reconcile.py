"""Does it add up: each step's reported input against what the log shows; and what was learnt of each model."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_GET

from contextlab.core.audit.reconcile import Unexplained
from contextlab.queries.calibrations import calibration_lines
from contextlab.queries.reconcile import reconciliation
from contextlab.web.opened import number_in, open_session
from contextlab.web.workspace import workspace_of

STEPS = 100
WORDS = {
    Unexplained.ENTERED: "something entered that the log does not show",
    Unexplained.CLEARED: "something was cleared without a word in the log",
    Unexplained.LESS: "the provider reported less than the log shows",
}


@require_GET
def reconcile(request: HttpRequest, uid: UUID) -> HttpResponse:
    """A session's steps as sheets that add up, a page of them at a time."""
    session = open_session(request, uid).session
    first = min(max(number_in(request, "from") or 1, 1), max(session.steps, 1))
    found = reconciliation(session, first, STEPS)
    values = {
        "nav": "sessions", "session": session, "found": found, "first": first, "part": "figures",
        "last": first + len(found.sheets) - 1,
        "unexplained": [(sheet, WORDS[sheet.unexplained]) for sheet in found.unexplained[:50] if sheet.unexplained],
        "before": max(1, first - STEPS) if first > 1 else None,
        "after": first + STEPS if first + STEPS <= session.steps else None,
    }  # fmt: skip
    return render(request, "pages/reconcile.html", values)


@require_GET
def calibration(request: HttpRequest) -> HttpResponse:
    """What the sessions here say of each model, beside what is in use."""
    values = {"nav": "data", "lines": calibration_lines(workspace_of(request).pk)}
    return render(request, "pages/calibration.html", values)


urlpatterns = [
    path("sessions/<uuid:uid>/figures", reconcile, name="reconcile"),
    path("calibration", calibration, name="calibration"),
]
