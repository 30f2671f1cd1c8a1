"""/health: whether work gets done, for whoever watches the server."""

from __future__ import annotations

from dataclasses import asdict

from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from django.views.decorators.http import require_safe

from contextlab.services import health


@require_safe
def healthy(request: HttpRequest) -> HttpResponse:  # noqa: ARG001
    """200 when all is well, else 503 with the reasons; ages in seconds, null where there is none."""
    try:
        found = health.check()
    except DatabaseError:
        reasons = ["The database does not answer."]
        return JsonResponse(
            {"ok": False, "reasons": reasons, "oldest_queued": None, "heartbeat": None}, status=503
        )
    response = JsonResponse(asdict(found), status=200 if found.ok else 503)
    # Django would write an error into the log each time somebody asks, first of all while everything starts.
    response._has_been_logged = True  # type: ignore[attr-defined]
    return response


urlpatterns = [path("health", healthy, name="health")]
