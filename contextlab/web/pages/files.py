"""The import report of a file, its raw bytes as a download, and reading it again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from uuid import UUID

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_POST

from contextlab.queries import files, runs
from contextlab.services import imports
from contextlab.store.models import RAW_SEGMENT, LogFile
from contextlab.store.texts import read_raw
from contextlab.tasks import ring
from contextlab.web.workspace import workspace_of

PIECE = 8 * RAW_SEGMENT


def report(request: HttpRequest, uid: UUID) -> HttpResponse:
    """The import report ("doctor")."""
    workspace = workspace_of(request)
    file = files.file_page(workspace.pk, uid)
    if file is None:
        raise Http404("There is no such file.")
    values = {"file": file, "run": runs.latest_import(workspace.pk, uid), "nav": "sessions"}
    return render(request, "pages/file.html", values)


def raw(request: HttpRequest, uid: UUID) -> HttpResponseBase:
    """The log as it was read, byte for byte; always a download, never shown: it may hold a page of its own."""
    file = get_object_or_404(LogFile, workspace=workspace_of(request), uid=uid)
    size = files.stored_bytes(file)
    pieces = _later(file, size) if isinstance(request, ASGIRequest) else _now(file, size)
    response = StreamingHttpResponse(pieces, content_type="application/octet-stream")
    name = file.name.removesuffix(".zst").removesuffix(".gz")  # what is kept is decompressed
    response.headers["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
    response.headers["Content-Length"] = str(size)
    # Already decided: compressing a stream would take its length away.
    response.headers["Content-Encoding"] = "identity"
    return response


@require_POST
def reread(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Read the file from its path again, also when its sessions were deleted here."""
    file = get_object_or_404(LogFile, workspace=workspace_of(request), uid=uid)
    if file.path:
        ring([imports.request(file)[0]])
    return redirect("file", uid=uid)


def _now(file: LogFile, size: int) -> Iterator[bytes]:
    for offset in range(0, size, PIECE):
        yield read_raw(file, offset, PIECE)


async def _later(file: LogFile, size: int) -> AsyncIterator[bytes]:
    """Under ASGI: a plain iterator would be read to its end, into memory, before the first byte goes out."""
    for offset in range(0, size, PIECE):
        yield await sync_to_async(read_raw)(file, offset, PIECE)


urlpatterns = [
    path("files/<uuid:uid>", report, name="file"),
    path("files/<uuid:uid>/raw", raw, name="file-raw"),
    path("files/<uuid:uid>/reread", reread, name="file-reread"),
]
