"""What is answered when something is wrong: a page, a line for htmx to show, or JSON for programs and scripts.

    below /api/                 {"error": {"code": ..., "message": ..., "place": "request"}}, as all errors there
    asked for by htmx           a line, swapped into the page's messages
    a browser                   a page
    takes no HTML               {"error": "..."}: what the pages' own scripts read

The words say what was wrong and what to do; never what an exception says, which may quote a log.
"""

from __future__ import annotations

import logging

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string

WORDS: dict[int, tuple[str, str]] = {
    400: (
        "This request cannot be read",
        "The address or the form holds something that no page here understands.",
    ),
    403: (
        "Refused",
        "The request did not come from a page of this server, or the page was open for too long. Load it again.",
    ),
    404: ("There is nothing here", "The address is wrong, or what it pointed to was deleted."),
    405: ("Not that way", "This address is posted to by a form; it cannot be opened."),
    413: ("Too large", "The file is larger than this server takes."),
    500: (
        "Something broke",
        "The fault is in ContextLab, and what was read before is kept. The log has the details.",
    ),
    503: ("Not now", "The database did not answer. Try again in a moment."),
}

CODES = {
    400: "bad_request",
    403: "refused",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
    500: "server_error",
    503: "unavailable",
}

logger = logging.getLogger(__name__)


def answer(request: HttpRequest, status: int, text: str = "") -> HttpResponse:
    """The answer for a status, with `text` instead of the general words where something better is known."""
    title, general = WORDS.get(status, WORDS[500])
    text = text or general
    if request.path.startswith("/api/"):
        error = {"code": CODES.get(status, CODES[500]), "message": text, "place": "request"}
        return JsonResponse({"error": error}, status=status)
    if request.headers.get("HX-Request") == "true":
        # Shown in the page's message line (responseHandling in base.html).
        return HttpResponse(
            render_to_string("panels/error.html", {"title": title, "text": text}), status=status
        )
    if not request.accepts("text/html"):
        return JsonResponse({"error": text}, status=status)
    context = {"status": status, "title": title, "text": text}
    return render(request, "pages/error.html", context, status=status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001
    """Django's handler400."""
    return answer(request, 400)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001
    """Django's handler403."""
    return answer(request, 403)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """CSRF_FAILURE_VIEW."""
    logger.warning("refused %s %s: %s", request.method, request.path, reason)
    return answer(request, 403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001
    """Django's handler404."""
    return answer(request, 404)


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's handler500. Should the page itself be what broke, plain words go out."""
    try:
        return answer(request, 500)
    except Exception:
        logger.exception("the error page cannot be rendered")
        return HttpResponse(" ".join(WORDS[500]), status=500, content_type="text/plain; charset=utf-8")
