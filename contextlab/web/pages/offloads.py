"""Originals that were put aside: those of a session, and one of them fetched back as the model's tool gives it."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.http import content_disposition_header

from contextlab.core.agent.reload_tool import PARAMETER, RELOAD_TOOL, ReloadTool
from contextlab.queries import offloads as reads
from contextlab.queries.session import find_session
from contextlab.store.offloads import DjangoOffloadStore
from contextlab.web.cutting import cut
from contextlab.web.opened import RECORDED, Opened, number_in, open_session
from contextlab.web.workspace import workspace_of

SHOWN_ITEMS = 20
SHOWN_BYTES = 80_000
"""Of all its items together."""


def offloads(request: HttpRequest, uid: UUID) -> HttpResponse:
    """All of a session, a page at a time."""
    opened = open_session(request, uid)
    found = reads.offloads(opened.session, number_in(request, "below"))
    values = {
        "opened": opened, "session": opened.session, "nav": "compactions", "found": found,
        "total": reads.offload_count(opened.session), "tool": RELOAD_TOOL, "parameter": PARAMETER,
    }  # fmt: skip
    return render(request, "pages/offloads.html", values)


def offload(request: HttpRequest, name: str) -> HttpResponse:
    """The originals under one id; with `?download` as one text."""
    workspace = workspace_of(request)
    store = DjangoOffloadStore(workspace)
    items = () if "\x00" in name else store.get(name)
    if not items:
        raise Http404("There are no originals under this id.")
    if "download" in request.GET:
        return _download(ReloadTool(store).call(name))
    of = reads.session_of_offload(workspace.pk, name)
    session = find_session(workspace.pk, of) if of else None
    most = SHOWN_BYTES // min(len(items), SHOWN_ITEMS)
    values = {
        "opened": Opened(session, RECORDED, None) if session else None, "session": session, "nav": "compactions",
        "name": name, "items": [(item, *cut(item.text, most)) for item in items[:SHOWN_ITEMS]],
        "total": len(items), "tool": RELOAD_TOOL, "parameter": PARAMETER,
        "line": reads.offload_line(workspace.pk, name),
    }  # fmt: skip
    return render(request, "pages/offload.html", values)


def _download(text: str) -> HttpResponse:
    """Never shown inside the browser, whatever it holds."""
    response = HttpResponse(text.encode("utf-8", "replace"), content_type="application/octet-stream")
    response.headers["Content-Disposition"] = content_disposition_header(True, "original.txt") or "attachment"
    return response


urlpatterns = [
    path("sessions/<uuid:uid>/offloads", offloads, name="offloads"),
    path("offloads/<str:name>", offload, name="offload"),
]
