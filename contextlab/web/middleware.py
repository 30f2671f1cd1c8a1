"""What guards every answer: headers that bind the browser, and requests from other sites refused."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from contextlab.web import errors

GetResponse = Callable[[HttpRequest], HttpResponse]

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    )
)
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})


class SecurityHeadersMiddleware:
    """Nothing inline, nothing from elsewhere, in no frame; and no copy of a transcript in the browser's cache."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        response.headers.setdefault("Cache-Control", "no-store")
        return response


class OriginCheckMiddleware:
    """A page elsewhere can post to a server on loopback: refuse whatever writes and comes from another origin.

    Requests that carry no origin at all (curl, the command line) pass: only browsers can be tricked, and they say
    where a request comes from. The name of the host is checked for every request, reads included.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        own = request.get_host()  # raises DisallowedHost, answered 400, for a name that is not ours
        if request.method not in _SAFE_METHODS and _is_foreign(request, own):
            return errors.answer(request, 403, "This request comes from another site.")
        return self.get_response(request)


class UploadLimitMiddleware:
    """Answer 413, with the limit in words, to a body declared larger than MAX_UPLOAD_BYTES."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        declared = request.META.get("CONTENT_LENGTH") or "0"
        if declared.isdigit() and int(declared) > settings.MAX_UPLOAD_BYTES:
            return errors.answer(request, 413, too_large_message(settings.MAX_UPLOAD_BYTES))
        return self.get_response(request)


class MethodErrorMiddleware:
    """Django answers a method that an address does not take with nothing at all: give it words."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code != 405 or response.content:
            return response
        in_words = errors.answer(request, 405)
        in_words.headers["Allow"] = response.headers.get("Allow", "")
        return in_words


def too_large_message(limit: int) -> str:
    """What a person reads whose upload was refused; `limit` in bytes."""
    return f"Too large: uploads end at {limit // (1024 * 1024)} MB (CONTEXTLAB_MAX_UPLOAD_MB)."


def _is_foreign(request: HttpRequest, own: str) -> bool:
    """Whether the browser says that another origin sent this; another port of the same host is another origin."""
    source = request.headers.get("Origin") or request.headers.get("Referer")
    if request.headers.get("Sec-Fetch-Site") in ("cross-site", "same-site"):
        return True
    if not source:
        return False
    try:
        parts = urlsplit(source)
    except ValueError:
        return True
    return parts.scheme not in ("http", "https") or parts.netloc.lower() != own.lower()
