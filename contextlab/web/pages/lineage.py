"""All compactions of a session and the memories of its branches: go back, promote, compare, take away."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_POST

from contextlab.queries.compaction import branches, lineage
from contextlab.services import compaction
from contextlab.services.compaction import BadRequest
from contextlab.store.models import View
from contextlab.web.compactions import of_run
from contextlab.web.errors import answer
from contextlab.web.lineage import compared, kin
from contextlab.web.opened import RECORDED, Opened, number_in, open_session
from contextlab.web.pages.compaction import open_made

SHOWN_ROWS = 100
SHOWN_BRANCHES = 20
SHOWN_VERSIONS = 5


def compactions(request: HttpRequest, uid: UUID) -> HttpResponse:
    """The page: the newest of each."""
    opened = open_session(request, uid)
    rows, trees = lineage(opened.session), branches(opened.session)
    values = {
        "opened": opened, "session": opened.session, "nav": "sessions", "formats": compaction.FORMATS,
        "rows": [kin(opened.session, row) for row in rows[::-1][:SHOWN_ROWS]], "total": len(rows),
        "trees": [(tree, tree.versions[:SHOWN_VERSIONS]) for tree in trees[::-1][:SHOWN_BRANCHES]],
        "trees_total": len(trees), "resume": compaction.resume_line(opened.session),
    }  # fmt: skip
    return render(request, "pages/compactions.html", values)


def compare(request: HttpRequest, uid: UUID, other: UUID) -> HttpResponse:
    """Two results of one session, section by section."""
    (left, session), (right, _) = open_made(request, uid), open_made(request, other)
    if left.session != right.session:
        raise Http404("The two are of different sessions.")
    both = (of_run(session, left), of_run(session, right))
    values = {
        "opened": Opened(session, RECORDED, None), "session": session, "nav": "sessions",
        "left": left, "right": right, "both": both, "sections": compared(*both),
    }  # fmt: skip
    return render(request, "pages/compare.html", values)


@require_POST
def restore(request: HttpRequest, uid: UUID, name: str) -> HttpResponse:
    """An earlier memory in force again, as a new version."""
    view, version = _branch(request, uid, name), request.POST.get("version", "")
    if not (version.isascii() and version.isdigit() and len(version) < 9):
        return answer(request, 400, "Which version? The form has no number of one.")
    try:
        compaction.restore(view, int(version))
    except BadRequest as error:
        return answer(request, 400, str(error))
    return redirect("compactions", uid=uid)


@require_POST
def promote(request: HttpRequest, uid: UUID, name: str) -> HttpResponse:
    """Make a branch's memory the one to go on with."""
    compaction.promote(_branch(request, uid, name))
    return redirect("compactions", uid=uid)


def memory(request: HttpRequest, uid: UUID, format: str) -> HttpResponse:
    """A memory as a download, valid for the provider."""
    session = open_session(request, uid).session
    try:
        held = compaction.memory_of(session, request.GET.get("branch", ""), number_in(request, "version"))
        made = compaction.export_memory(held, format)
    except BadRequest as error:
        return answer(request, 404, str(error))
    kind, ending = ("text/markdown", "md") if format == "markdown" else ("application/json", "json")
    response = HttpResponse(made.text.encode("utf-8", "replace"), content_type=f"{kind}; charset=utf-8")
    name = f"memory-{held.view.name}-{format}.{ending}"
    response.headers["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
    response.headers["X-Repairs"] = str(len(made.repairs))
    return response


def _branch(request: HttpRequest, uid: UUID, name: str) -> View:
    session = open_session(request, uid).session
    view = session.views.filter(name=name, kind=View.Kind.BRANCH).first()
    if view is None:
        raise Http404("The session has no such branch.")
    return view


urlpatterns = [
    path("sessions/<uuid:uid>/compactions", compactions, name="compactions"),
    path("compactions/<uuid:uid>/beside/<uuid:other>", compare, name="compaction_compare"),
    path("sessions/<uuid:uid>/branches/<slug:name>/restore", restore, name="branch_restore"),
    path("sessions/<uuid:uid>/branches/<slug:name>/promote", promote, name="branch_promote"),
    path("sessions/<uuid:uid>/memory/<slug:format>", memory, name="memory"),
]
