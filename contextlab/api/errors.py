"""Errors of the API: one JSON shape for all of them, with the place that is wrong.

    {"error": {"code": "bad_value", "message": "...", "place": "query: cursor"}}

Messages are written here or by services; what an exception says may quote a log and never goes out.
"""

from __future__ import annotations

import logging
from typing import Any

from django.core.exceptions import BadRequest, PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.http import Http404, HttpRequest, JsonResponse
from django.http.multipartparser import MultiPartParserError
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import APIView

logger = logging.getLogger(__name__)

_WORDS: dict[int, tuple[str, str]] = {
    400: ("bad_request", "The request cannot be read."),
    403: ("refused", "The request is not allowed."),
    404: ("not_found", "There is nothing at this address."),
    405: ("method_not_allowed", "This address does not take that method."),
    406: ("not_acceptable", "Answers are JSON only."),
    409: ("conflict", "Somebody else changed this meanwhile; nothing was written."),
    413: ("too_large", "The body is larger than this server takes."),
    415: ("unsupported_media_type", "This kind of body is not taken here."),
    500: ("server_error", "The fault is in ContextLab; its log has the details."),
}


class ApiError(exceptions.APIException):
    """An error with a code, words for people, and where in the request it lies."""

    def __init__(
        self, status_code: int, message: str = "", *, code: str = "", place: str | None = None
    ) -> None:
        known, words = _WORDS[status_code]
        super().__init__(message or words, code or known)
        self.status_code = status_code
        self.place = place


def bad_value(place: str, message: str) -> ApiError:
    """400: a value of the request is wrong; `place` is such as `query: cursor`."""
    return ApiError(400, message, code="bad_value", place=place)


def not_found(what: str, place: str = "path") -> ApiError:
    """404: what is named does not exist in this workspace."""
    return ApiError(404, f"There is no such {what}.", place=place)


def body(code: str, message: str, place: str | None = None) -> dict[str, Any]:
    """The shape of every error."""
    error = {"code": code, "message": message}
    return {"error": error | ({"place": place} if place else {})}


def handle(error: Exception, context: dict[str, Any]) -> Response:
    """DRF's exception handler: whatever was raised becomes an answer; what nobody foresaw is logged."""
    if isinstance(error, ApiError):
        code = error.get_codes()
        answer = Response(body(str(code), str(error.detail), error.place), status=error.status_code)
    else:
        answer = _general(_status_of(error), error, context)
    view = context.get("view")
    if isinstance(error, exceptions.MethodNotAllowed) and isinstance(view, APIView):
        answer["Allow"] = ", ".join(view.allowed_methods)
    return answer


def _status_of(error: Exception) -> int:
    known: tuple[tuple[type[Exception], int], ...] = (
        (Http404, 404),
        (PermissionDenied, 403),
        (RequestDataTooBig, 413),
        (BadRequest, 400),
        (SuspiciousOperation, 400),
        (MultiPartParserError, 400),
        (UnicodeError, 400),
        (RecursionError, 400),
    )
    if isinstance(error, exceptions.APIException):
        return error.status_code
    return next((code for kind, code in known if isinstance(error, kind)), 500)


def _general(code: int, error: Exception, context: dict[str, Any]) -> Response:
    if code not in _WORDS:
        code = 400 if code < 500 else 500
    if code == 500:
        logger.error("the API failed at %s", context.get("view"), exc_info=error)
    name, words = _WORDS[code]
    return Response(body(name, words), status=code)


def unknown_address(request: HttpRequest) -> JsonResponse:  # noqa: ARG001 - what Django calls
    """What an address below /api/ gets that names nothing."""
    name, words = _WORDS[404]
    return JsonResponse(body(name, words, place="path"), status=404)
