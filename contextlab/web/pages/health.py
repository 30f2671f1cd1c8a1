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
    return JsonResponse(asdict(found), status=200 if found.ok else 503)


urlpatterns = [path("health", healthy, name="health")]
