"""How a live session stands, as a panel that asks again by itself; another policy, and the opt-in for its model."""

from __future__ import annotations

import hashlib
from typing import Any
from urllib.parse import quote
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_POST

from contextlab.core.policy import BUILTINS
from contextlab.queries.live import live_state
from contextlab.queries.policies import own_names
from contextlab.services.compaction import BadRequest
from contextlab.services.live.allowing import allow_model, foreseen_cost
from contextlab.services.live.changing import change_policy, read_policy_wish
from contextlab.services.live.deciding import settle_of
from contextlab.store.models import Session, View
from contextlab.tasks import ring
from contextlab.web.decision_words import told
from contextlab.web.errors import answer
from contextlab.web.opened import open_session


def live_values(session: Session) -> dict[str, Any]:
    """What the panel shows; nothing for a session that was imported."""
    settle_of(session)
    state = live_state(session)
    if state is None:
        return {}
    digest = hashlib.sha256(repr(state).encode()).hexdigest()[:12]
    at = f"/api/sessions/{session.uid}/"
    return {"live": state, "decided": told(state.decision), "events_api": f"{at}events/",
            "memory_api": f"{at}memory/?view={state.view}", "digest": digest}  # fmt: skip


def panel(request: HttpRequest, uid: UUID) -> HttpResponse:
    """The panel as it is now; nothing where it is as the page has it, so that nobody's focus is lost."""
    session = open_session(request, uid).session
    values = live_values(session)
    if not values:
        raise Http404("This session was imported: no agent lives in it.")
    if request.GET.get("seen") == values["digest"]:
        return HttpResponse(status=204)
    return render(request, "panels/live.html", values | {"session": session})


def model(request: HttpRequest, uid: UUID) -> HttpResponse:
    """What automatic compactions would cost, and the button that allows them to ask the model."""
    view = _view(request, uid)
    try:
        values = {"session": view.session, "view": view, "told": foreseen_cost(view)}
    except BadRequest as error:
        return answer(request, 400, str(error))
    return render(request, "pages/live_model.html", values)


@require_POST
def allow(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Allow it, or take that back."""
    try:
        allow_model(_view(request, uid), request.POST.get("allow") == "1")
    except BadRequest as error:
        return answer(request, 400, str(error))
    return redirect(f"/sessions/{uid}?view=live")


def policy(request: HttpRequest, uid: UUID) -> HttpResponse:
    """The policies that the session could have, and the button that gives it one of them."""
    view = _view(request, uid)
    if request.method == "POST":
        try:
            wish = read_policy_wish({"policy": request.POST.get("policy", "")}, view.session.workspace_id)
        except BadRequest as error:
            return answer(request, 400, str(error))
        ring(change_policy(view, wish).queued)
        return redirect(f"/sessions/{uid}?view={quote(view.name)}")
    names = [*BUILTINS, *own_names(view.session.workspace_id)]
    current = str((view.policy or {}).get("name", ""))
    values = {"session": view.session, "view": view, "names": names, "current": current}
    return render(request, "pages/live_policy.html", values)


def _view(request: HttpRequest, uid: UUID) -> View:
    session = open_session(request, uid).session
    view = session.views.filter(kind=View.Kind.LIVE).select_related("live", "session").first()
    if view is None:
        raise Http404("This session was imported: no agent lives in it.")
    return view


urlpatterns = [
    path("sessions/<uuid:uid>/live", panel, name="live"),
    path("sessions/<uuid:uid>/live/model", model, name="live_model"),
    path("sessions/<uuid:uid>/live/policy", policy, name="live_policy"),
    path("sessions/<uuid:uid>/live/allow", allow, name="live_allow"),
]
