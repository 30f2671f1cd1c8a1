"""Does it add up: each step's reported input against what the log shows; and what was learnt of each model."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_GET, require_POST

from contextlab.core.audit.evidence import LEAST_SESSIONS, LEAST_STEPS
from contextlab.core.audit.reconcile import Unexplained
from contextlab.core.measuring.calibrations import Origin
from contextlab.queries.calibrations import (
    MORE_SESSIONS,
    MORE_STEPS,
    NO_BETTER,
    OWN_TOKENIZER,
    calibration_page,
)
from contextlab.queries.reconcile import reconciliation
from contextlab.services.calibrations import use_fitted
from contextlab.web.opened import number_in, open_session
from contextlab.web.workspace import workspace_of

STEPS = 100
WORDS = {
    Unexplained.ENTERED: "something entered that the log does not show",
    Unexplained.CLEARED: "something was cleared without a word in the log",
    Unexplained.LESS: "the provider reported less than the log shows",
}
ORIGINS = {
    Origin.TABLE: "built in",
    Origin.MEASURED: "built in, band measured here",
    Origin.FITTED: "fitted here",
}
UNUSED = {
    MORE_STEPS: "too few steps",
    MORE_SESSIONS: "too few sessions",
    OWN_TOKENIZER: "counted with its own tokenizer",
    NO_BETTER: "the fit is no better",
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
        "used": [(one.model, one.used, ORIGINS[one.used.origin]) for one in found.calibrations],
        "unexplained": [(sheet, WORDS[sheet.unexplained]) for sheet in found.unexplained[:50] if sheet.unexplained],
        "before": max(1, first - STEPS) if first > 1 else None,
        "after": first + STEPS if first + STEPS <= session.steps else None,
    }  # fmt: skip
    return render(request, "pages/reconcile.html", values)


@require_GET
def calibration(request: HttpRequest) -> HttpResponse:
    """What the sessions here say of each model, beside what is in use."""
    page = calibration_page(workspace_of(request))
    needed = (LEAST_STEPS, LEAST_SESSIONS)
    lines = [(line, ORIGINS[line.used.origin], UNUSED.get(line.unused, "")) for line in page.lines]
    values = {"nav": "data", "page": page, "lines": lines, "needed": needed}
    return render(request, "pages/calibration.html", values)


@require_POST
def switch_calibration(request: HttpRequest) -> HttpResponse:
    """Use what was fitted here, or the table alone."""
    use_fitted(workspace_of(request), request.POST.get("fitted") == "1")
    return redirect("calibration")


urlpatterns = [
    path("sessions/<uuid:uid>/figures", reconcile, name="reconcile"),
    path("calibration", calibration, name="calibration"),
    path("calibration/use", switch_calibration, name="calibration-use"),
]
