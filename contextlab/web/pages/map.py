"""The data behind the context map of a session."""

from __future__ import annotations

from uuid import UUID

from django.core.cache import cache
from django.http import HttpRequest, JsonResponse
from django.urls import path

from contextlab.queries.map import context_map
from contextlab.web.opened import number_in, open_session

KEPT_SECONDS = 300


def map_data(request: HttpRequest, uid: UUID) -> JsonResponse:
    """The map of a range of steps under the view that the address names."""
    opened = open_session(request, uid)
    view, total = opened.view, opened.view.steps if opened.view else 0
    if view is None or not total:
        return JsonResponse({"steps": [0, 0], "bands": [], "rects": []})
    first = min(max(number_in(request, "from") or 1, 1), total)
    last = min(max(number_in(request, "to") or total, first), total)
    whole = (first, last) == (1, total)
    # Numbers only, no text of the session. The key changes with whatever is projected anew.
    key = f"map:{view.id}:{view.revision}:{total}:{view.counted}:{view.updated_at.timestamp()}:{first}:{last}"
    found = cache.get(key)
    if found is None:
        found = context_map(opened.seen, first, last, whole)
        cache.set(key, found, KEPT_SECONDS)
    return JsonResponse(found)


urlpatterns = [path("sessions/<uuid:uid>/map.json", map_data, name="map")]
