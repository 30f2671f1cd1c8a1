"""One compaction: of a log, or made here; while it runs, how far it is."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.views.decorators.http import require_POST

from contextlab.queries.compaction import CompactionPage, branches, compaction_page, lineage
from contextlab.queries.counters import mismatch_at
from contextlab.queries.recorded_compaction import recorded_compaction
from contextlab.queries.session import find_session
from contextlab.services import runs
from contextlab.services.compaction import FORMATS
from contextlab.store.models import Run, Session
from contextlab.web.compactions import of_log, of_run
from contextlab.web.lineage import place_of
from contextlab.web.opened import RECORDED, Opened, open_session
from contextlab.web.workspace import workspace_of

SHOWN_RAW = 200_000


def recorded(request: HttpRequest, uid: UUID, number: int) -> HttpResponse:
    """A compaction that the log records."""
    opened = open_session(request, uid)
    found = recorded_compaction(opened.session, number)
    if found is None:
        raise Http404("The log has no such compaction.")
    values = {
        "opened": opened, "session": opened.session, "nav": "sessions", "found": found, "shown": of_log(found),
        "mismatch": mismatch_at(opened.session, number), **_around(opened.session, f"log-{number}"),
    }  # fmt: skip
    return render(request, "pages/compaction.html", values)


def made(request: HttpRequest, uid: UUID) -> HttpResponse:
    """A compaction that was asked for here, or only what came of it so far for htmx."""
    page, session = open_made(request, uid)
    values = {
        "opened": Opened(session, RECORDED, None), "session": session, "nav": "sessions", "made": page,
        "run": page.run, "shown": of_run(session, page), **({} if page.run.active else _around(session, str(uid))),
    }  # fmt: skip
    panel = request.headers.get("HX-Target") == "compaction"
    return render(request, "panels/compaction.html" if panel else "pages/compaction.html", values)


@require_POST
def stop(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Ask it to stop; memory stays as it was."""
    open_made(request, uid)
    runs.cancel(get_object_or_404(Run, workspace=workspace_of(request), uid=uid))
    return made(request, uid) if request.headers.get("HX-Request") else redirect("compaction", uid=uid)


def raw(request: HttpRequest, uid: UUID) -> HttpResponse:
    """The model's answer as it came."""
    page, _ = open_made(request, uid)
    text = page.raw_reply
    values = {"text": text and text[:SHOWN_RAW], "cut": len(text or "") > SHOWN_RAW, "total": len(text or "")}
    return render(request, "panels/compaction_raw.html", values)


def _around(session: Session, here: str) -> dict[str, Any]:
    """Its place among the compactions of the session, and the formats of its memory."""
    place = place_of(session, lineage(session), branches(session), here)
    return {"place": place, "formats": FORMATS}


def open_made(request: HttpRequest, uid: UUID) -> tuple[CompactionPage, Session]:
    """A compaction of the workspace with its session; 404 for those of others."""
    workspace = workspace_of(request)
    page = compaction_page(workspace.pk, uid)
    session = find_session(workspace.pk, page.session) if page else None
    if page is None or session is None:
        raise Http404("There is no such compaction.")
    return page, session


urlpatterns = [
    path("sessions/<uuid:uid>/compactions/<place:number>", recorded, name="compaction_recorded"),
    path("compactions/<uuid:uid>", made, name="compaction"),
    path("compactions/<uuid:uid>/stop", stop, name="compaction_stop"),
    path("compactions/<uuid:uid>/raw", raw, name="compaction_raw"),
]
