"""Sending a log: its bytes as the body, or files of a form. A request never names a path of this machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from contextlab import tasks
from contextlab.api.base import ApiView, text_in
from contextlab.api.errors import ApiError, bad_value
from contextlab.api.runs import run_values
from contextlab.api.schema import QUEUED, query
from contextlab.services import uploads
from contextlab.store.models import LogFile, Run

CHUNK = 256 * 1024
NAMELESS = "log"
PACKED = ("", "identity", "gzip", "zstd")
"""Content-Encodings: packed logs are unpacked when they are read, whatever the header says."""


class Import(ApiView):
    """POST /api/imports/"""

    parser_classes = (MultiPartParser,)

    @extend_schema(
        request={"application/octet-stream": OpenApiTypes.BINARY},
        responses={202: QUEUED},
        parameters=[
            query("name", "name of the log, with its folders if they tell subagents from main sessions")
        ],
    )
    def post(self, request: Request) -> Response:
        """Keep the log and queue reading it; the answer has the run to ask for. The same bytes twice are one file."""
        if request.headers.get("Content-Encoding", "").lower() not in PACKED:
            raise ApiError(
                415, "Bodies are taken plain, or packed with gzip or zstd.", place="header: Content-Encoding"
            )
        queued: list[Run] = []
        try:
            for name, chunks in _sent(request):
                queued.append(uploads.accept_upload(self.workspace, name, chunks, LogFile.Origin.API))
        except uploads.UploadTooLarge as error:
            raise ApiError(413, str(error), place="body") from error
        finally:
            tasks.ring(queued)
        return Response({"runs": [run_values(self.workspace, run.uid) for run in queued]}, status=202)


def _sent(request: Request) -> Iterator[tuple[str, Iterable[bytes]]]:
    """Names and bytes of what was sent; 400 when there is nothing."""
    if not request.content_type.startswith("multipart/"):
        first = _read(request)
        if not first:
            raise bad_value("body", "The body is empty: send the log itself.")
        yield text_in(request, "name") or NAMELESS, _all(first, request)
        return
    files = [file for name in request.FILES for file in request.FILES.getlist(name)]
    if not files:
        raise bad_value("body", "No file was sent: send the log as the body, or as a file of the form.")
    places = [*request.POST.getlist("path"), *[""] * len(files)]
    for file, place in zip(files, places, strict=False):
        yield place or file.name or NAMELESS, file.chunks()


def _read(request: Request) -> bytes:
    # Django's own request: what DRF offers as the body would be held in memory whole.
    return bytes(request._request.read(CHUNK))


def _all(first: bytes, request: Request) -> Iterator[bytes]:
    piece = first
    while piece:
        yield piece
        piece = _read(request)
