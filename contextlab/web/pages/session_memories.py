"""A session's memories: its observations turn by turn, what it came to, and asking for them."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_GET, require_POST

from contextlab import tasks
from contextlab.core.memory_keeping.user_memories import DEFAULT_USER
from contextlab.queries import memories as reads
from contextlab.queries.runs import run_view
from contextlab.services import memories as service
from contextlab.services.memories import users
from contextlab.store.models import FINISHED, Run, Session
from contextlab.web.opened import open_session
from contextlab.web.pages.memories import clean
from contextlab.web.pages.user_memories import address
from contextlab.web.workspace import workspace_of


@require_GET
def session_memories(request: HttpRequest, uid: UUID) -> HttpResponse:
    """The page; while a run goes on it shows how far it is."""
    return page(request, open_session(request, uid).session)


@require_POST
def observe(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Ask for observations: by rules at a click, by a model once tokens and cost were seen."""
    session = open_session(request, uid).session
    try:
        with transaction.atomic():
            run, new = service.request_observing(
                session,
                clean(request.POST.get("method", "rules")),
                confirm=request.POST.get("confirm") == "1",
            )
            if new:
                tasks.ring([run])
    except service.BadRequest as error:
        return page(request, session, str(error))
    return redirect("session-memories", uid=session.uid)


@require_POST
def remember(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Let the model keep what the user said in this session as user memories."""
    session = open_session(request, uid).session
    user = clean(request.POST.get("user", "")) or DEFAULT_USER
    try:
        with transaction.atomic():
            run, new = users.request_remembering_session(session, user, request.POST.get("confirm") == "1")
            if new:
                tasks.ring([run])
    except service.BadRequest as error:
        return page(request, session, str(error))
    return redirect(address(user))


def page(request: HttpRequest, session: Session, refused: str = "") -> HttpResponse:
    """The page; `refused` says why something was not begun."""
    workspace = workspace_of(request)
    newest = Run.objects.filter(target=session.uid.hex, kind=Run.Kind.OBSERVE).order_by("-id").first()
    wants_model = "model" in request.GET
    values = {
        "nav": "sessions",
        "session": session,
        "found": reads.session_memories(session),
        "run": run_view(workspace.pk, newest.uid) if newest is not None else None,
        "active": newest is not None and newest.state not in FINISHED,
        "estimate": service.estimate(session) if wants_model else None,
        "refused": refused,
    }
    return render(request, "pages/session_memories.html", values, status=400 if refused else 200)


urlpatterns = [
    path("sessions/<uuid:uid>/memories", session_memories, name="session-memories"),
    path("sessions/<uuid:uid>/observe", observe, name="observe"),
    path("sessions/<uuid:uid>/remember", remember, name="remember"),
]
