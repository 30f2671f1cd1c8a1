"""Static files as whole answers: WhiteNoise streams them from a file, which an ASGI server would read in one go anyway,
with a warning each time. Ours are small."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from whitenoise.middleware import WhiteNoiseMiddleware


class StaticFilesMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]  # it has no types
    """WhiteNoise, with answers that hold their bytes."""

    @staticmethod
    def serve(static_file: Any, request: HttpRequest) -> HttpResponse:
        found = static_file.get_response(request.method, request.META)
        answer = HttpResponse(status=int(found.status))
        if found.file is not None:
            with found.file:
                answer.content = found.file.read()
        # HttpResponse puts a type of its own, which a 304 must not have.
        del answer["Content-Type"]
        for name, value in found.headers:
            answer[name] = value
        return answer
