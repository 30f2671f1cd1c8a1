"""Two contexts of a session side by side: any two steps, any two views; equal runs folded, texts letter by letter."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_GET

from contextlab.queries.diff import diff as compared
from contextlab.store.models import View
from contextlab.web.opened import RECORDED, number_in, open_session


@require_GET
def diff(request: HttpRequest, uid: UUID) -> HttpResponse:
    """The page; without steps the last one against the one before."""
    session = open_session(request, uid).session
    other = number_in(request, "to") or session.steps
    one = number_in(request, "step") or max(1, other - 1)
    views = list(View.objects.filter(session=session).exclude(kind=View.Kind.BRANCH).order_by("id"))
    known = {view.name: view for view in views}
    names = (
        request.GET.get("view") or RECORDED,
        request.GET.get("to_view") or request.GET.get("view") or RECORDED,
    )
    if session.steps and any(name not in known for name in names):
        raise Http404("The session has no such view; open it under that policy first.")
    found = compared(session, (known[names[0]], one), (known[names[1]], other)) if session.steps else None
    if session.steps and found is None:
        raise Http404("The session has no such step under this view.")
    values = {
        "nav": "sessions", "session": session, "found": found, "names": names, "one": one, "other": other,
        "views": views,
    }  # fmt: skip
    return render(request, "pages/diff.html", values)


urlpatterns = [path("sessions/<uuid:uid>/diff", diff, name="diff")]
