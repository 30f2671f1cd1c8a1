"""What one compaction lost, as a card of its page: asked for when the page is open, since it is worked out for it."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path

from contextlab.queries.what_lost import audited
from contextlab.services.compaction.losing import lost_by
from contextlab.web.opened import open_session
from contextlab.web.pages.compaction import open_made
from contextlab.web.what_lost import of_audit, of_ledger


def of_log(request: HttpRequest, uid: UUID, number: int) -> HttpResponse:
    """Of a compaction of the log: from the audit of the session, where there is one."""
    session = open_session(request, uid).session
    one = audited(session, number)
    values = {
        "session": session, "number": number, "lost": of_audit(one) if one else None,
        "opaque": bool(one and one["opaque"]), "why": "" if one else "The session has not been audited yet.",
    }  # fmt: skip
    return render(request, "panels/what_lost.html", values)


def made_here(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Of one that was made here."""
    page, session = open_made(request, uid)
    found = lost_by(session.workspace_id, page.run.uid)
    if found is None:
        raise Http404("This compaction made no memory.")
    values = {"session": session, "lost": of_ledger(found.ledger) if found.ledger else None, "why": found.why}
    return render(request, "panels/what_lost.html", values)


urlpatterns = [
    path("sessions/<uuid:uid>/compactions/<place:number>/lost", of_log, name="lost_of_log"),
    path("compactions/<uuid:uid>/lost", made_here, name="lost_here"),
]
