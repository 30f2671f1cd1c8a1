"""The data page: where everything lies, how large it is, what is watched, and deleting it."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods, require_POST

from contextlab import __version__
from contextlab.adapters.vocabulary import FILES
from contextlab.core import BUILTINS
from contextlab.importers import importers
from contextlab.queries import files
from contextlab.services import sessions, watching
from contextlab.store.models import Session, WatchedFolder
from contextlab.web.workspace import workspace_of

PHRASE = "delete everything"


def data(request: HttpRequest, refused: str = "") -> HttpResponse:
    """The page; `refused` says why a deletion was not done."""
    values = {
        "nav": "data",
        "folder": sessions.data_folder(),
        "holdings": files.holdings(workspace_of(request).pk),
        "facts": facts(),
        "phrase": PHRASE,
        "refused": refused,
    }
    return render(request, "pages/data.html", values, status=400 if refused else 200)


def facts() -> list[tuple[str, str]]:
    """What this installation is made of, for people who report a fault."""
    return [
        ("ContextLab", __version__),
        ("mode", settings.MODE),
        ("database", connection.vendor),
        ("tokenizers", ", ".join(file.encoding for file in FILES)),
        ("formats", ", ".join(importer.FORMAT for importer in importers())),
        ("policies", ", ".join(BUILTINS)),
        ("uploads end at", f"{settings.MAX_UPLOAD_BYTES // 2**20:,} MB a file"),
        (
            "secrets redacted on arrival",
            "yes" if settings.REDACT_AT_INGEST else "no: logs are kept as they are",
        ),
    ]


@require_POST
def delete(request: HttpRequest) -> HttpResponse:
    """Delete everything of the workspace, once the phrase is typed."""
    if request.POST.get("confirm", "").strip().lower() != PHRASE:
        return data(request, refused=f"Nothing was deleted: the words typed were not “{PHRASE}”.")
    sessions.delete_everything(workspace_of(request))
    return redirect("/")


@require_POST
def watch(request: HttpRequest, key: int) -> HttpResponse:
    """Switch the watching of a folder on or off."""
    folder = get_object_or_404(WatchedFolder, workspace=workspace_of(request), pk=key)
    watching.switch(folder, on=request.POST.get("watch") == "on")
    return redirect("data")


@require_http_methods(["GET", "POST"])
def delete_session(request: HttpRequest, uid: UUID) -> HttpResponse:
    """The question whether a session shall be deleted (as a page, or in a dialog), and doing it."""
    session = get_object_or_404(
        Session.objects.select_related("file"), workspace=workspace_of(request), uid=uid
    )
    if request.method == "POST":
        sessions.delete_session(session)
        return redirect("/")
    partial = request.headers.get("HX-Request") == "true"
    template = "panels/delete_session.html" if partial else "pages/delete_session.html"
    others = (
        session.file.sessions.exclude(pk=session.pk).exclude(parent=session).count() if session.file else 0
    )
    return render(
        request, template, {"session": session, "file": session.file, "others": others, "nav": "sessions"}
    )


urlpatterns = [
    path("data", data, name="data"),
    path("data/watched/<int:key>", watch, name="data-watch"),
    path("data/delete", delete, name="data-delete"),
    path("sessions/<uuid:uid>/delete", delete_session, name="session-delete"),
]
