"""Refuse bodies that are too large while they arrive.

Django's ASGI handler writes the whole body to disk before any middleware is asked, so the check
has to stand in front of it. Bodies without a declared length are counted.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from io import BytesIO
from typing import Any

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse

from contextlab.web import errors
from contextlab.web.middleware import SecurityHeadersMiddleware, too_large_message

Scope = dict[str, Any]
Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class _TooLargeError(Exception):
    """The body has passed the limit."""


class BodyLimit:
    """An ASGI application that answers 413, with the limit in words, once a body is larger than `limit` bytes."""

    def __init__(self, app: App, limit: int) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if _declared_length(scope) > self._limit:
            await self._refuse(scope, send)
            return
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._limit:
                raise _TooLargeError
            return message

        # Django reads all of the body before it answers, so nothing has been sent when this is raised.
        try:
            await self._app(scope, counted, send)
        except _TooLargeError:
            await self._refuse(scope, send)

    async def _refuse(self, scope: Scope, send: Send) -> None:
        def answer(request: HttpRequest) -> HttpResponse:
            return errors.answer(request, 413, too_large_message(self._limit))

        # Django was not asked, so the headers that bind the browser have to be put on here.
        response = SecurityHeadersMiddleware(answer)(ASGIRequest(scope, BytesIO()))
        headers = [(name.lower().encode(), value.encode()) for name, value in response.items()]
        headers.append((b"connection", b"close"))
        await send({"type": "http.response.start", "status": 413, "headers": headers})
        await send({"type": "http.response.body", "body": response.content})


def _declared_length(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return 0
