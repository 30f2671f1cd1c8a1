"""Work in the background: the panel of all that goes on, one run, and stopping it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils import timezone
from django.views.decorators.http import require_POST

from contextlab.queries import runs as reads
from contextlab.queries import sessions
from contextlab.services import runs
from contextlab.store.models import Run, Workspace
from contextlab.web.errors import answer
from contextlab.web.offer import look
from contextlab.web.workspace import workspace_of

LONGEST = timedelta(days=1)
"""A page that was open for longer is not told what was imported since."""


def activity(request: HttpRequest) -> HttpResponse:
    """All that goes on; says lab:landed (by header) when sessions came or grew since the page last asked."""
    workspace = workspace_of(request)
    seen = request.GET.get("seen")
    totals = sessions.totals(workspace.pk)
    values = activity_values(workspace, totals, request.GET.get("since", ""))
    response = render(request, "panels/activity.html", values)
    if seen is not None and seen != values["version"]:
        response.headers["HX-Trigger"] = "lab:landed"
    return response


def activity_panel(request: HttpRequest, workspace: Workspace) -> HttpResponse:
    """The panel as the answer of what starts or stops work."""
    values = activity_values(workspace, sessions.totals(workspace.pk))
    return render(request, "panels/activity.html", values)


def activity_values(workspace: Workspace, totals: sessions.Totals, since: str = "") -> dict[str, Any]:
    """What the panel shows to a page that was opened at `since` (ISO; now for anything else)."""
    now = timezone.now()
    opened = _moment(since, now)
    found = reads.activity(workspace.pk, now, opened)
    ended_early = found.scan and not found.scan.run.active and not found.scan.asked_for_rest
    return {
        "activity": found,
        "since": opened.isoformat(),
        "version": totals.version,
        "older": look().older if ended_early else 0,
    }


def _moment(text: str, now: datetime) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return now
    return moment if moment.tzinfo and now - LONGEST <= moment <= now else now


def run(request: HttpRequest, uid: UUID) -> HttpResponse:
    """One run; says lab:run-done (by header) when it has ended. A run that is forgotten leaves an empty place."""
    found = reads.run_view(workspace_of(request).pk, uid)
    if found is None:
        return HttpResponse("")
    response = render(request, "panels/run.html", {"run": found})
    if not found.active:
        response.headers["HX-Trigger"] = "lab:run-done"
    return response


@require_POST
def stop(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Ask a run (and what it queued) to stop; what was read so far is kept."""
    workspace = workspace_of(request)
    found = Run.objects.filter(workspace=workspace, uid=uid).first()
    if found is None:
        return answer(request, 404, "That work has ended and is forgotten.")
    runs.cancel(found)
    if not request.headers.get("HX-Request"):
        return redirect("/")
    if request.GET.get("one"):
        return run(request, uid)
    return activity_panel(request, workspace)


urlpatterns = [
    path("activity", activity, name="activity"),
    path("runs/<uuid:uid>", run, name="run"),
    path("runs/<uuid:uid>/stop", stop, name="run-stop"),
]
