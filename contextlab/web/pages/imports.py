"""Taking logs in: uploads, and the scan of this machine's own log folders."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods, require_POST

from contextlab.services import scan, uploads
from contextlab.store.models import Run
from contextlab.tasks import ring
from contextlab.web.errors import answer
from contextlab.web.offer import look
from contextlab.web.pages.runs import activity_panel
from contextlab.web.workspace import workspace_of


@require_POST
def upload(request: HttpRequest) -> HttpResponse:
    """Keep the files sent and queue reading them; `path` gives the places below a folder, in the order of the files."""
    sent = request.FILES.getlist("files")
    if not sent:
        return _refuse(request, 400, "No file was sent.")
    paths = [*request.POST.getlist("path"), *[""] * len(sent)]
    workspace = workspace_of(request)
    queued: list[Run] = []
    try:
        for file, place in zip(sent, paths, strict=False):
            queued.append(uploads.accept_upload(workspace, place or file.name or "", file.chunks()))
    except uploads.UploadTooLarge as error:
        return _refuse(request, 413, str(error))
    finally:
        ring(queued)
    if request.accepts("text/html"):
        return redirect("/")
    return JsonResponse({"runs": [str(run.uid) for run in queued]}, status=202)


@require_http_methods(["GET", "POST"])
def scanning(request: HttpRequest) -> HttpResponse:
    """What lies in the log folders of the user who started the server (GET), and reading it (POST).

    POST reads the last seven days, or with `rest` all of it. The request names no path, so that a page elsewhere
    could not have files read even if it got this far.
    """
    if not settings.LOCAL:
        return answer(request, 404, "This server has no logs of its own to look for.")
    partial = request.headers.get("HX-Request") == "true"
    if request.method != "POST":
        template = "panels/scan_dialog.html" if partial else "pages/scan.html"
        return render(request, template, {"offer": look(), "nav": "sessions"})
    workspace = workspace_of(request)
    ring([scan.start_scan(workspace, rest=bool(request.POST.get("rest")))])
    return activity_panel(request, workspace) if partial else redirect("/")


def _refuse(request: HttpRequest, status: int, text: str) -> HttpResponse:
    if request.accepts("text/html"):
        return answer(request, status, text)
    return JsonResponse({"error": text}, status=status)


urlpatterns = [path("imports", upload, name="upload"), path("scan", scanning, name="scan")]
