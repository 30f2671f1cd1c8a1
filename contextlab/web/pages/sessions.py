"""The sessions page: counters, filters, the list, and on the first start what to do next."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import path

from contextlab.importers import importers
from contextlab.queries import sessions
from contextlab.queries.session_filters import SORTS, Filters
from contextlab.web import addresses
from contextlab.web.offer import first_offer
from contextlab.web.pages.runs import activity_values
from contextlab.web.workspace import workspace_of


def session_list(request: HttpRequest) -> HttpResponse:
    """The page, or for htmx its list with the counters above it."""
    workspace = workspace_of(request)
    filters = addresses.to_filters(request.GET)
    totals = sessions.totals(workspace.pk)
    if not totals.sessions:
        values: dict[str, Any] = {"panel": "panels/session_empty.html"}
    else:
        values = list_values(workspace.pk, filters, totals)
    values |= {
        "filters": filters,
        "totals": totals,
        "nav": "sessions",
        "offer": first_offer(totals),
        **adding(),
    }
    if not request.headers.get("HX-Request"):
        return render(request, "pages/sessions.html", values | activity_values(workspace, totals))
    response = render(request, "panels/sessions_swap.html", values | {"oob": True})
    return _with_address(request, response, filters)


def list_values(workspace: int, filters: Filters, totals: sessions.Totals) -> dict[str, Any]:
    """What the list and its filters show."""
    page = sessions.session_page(workspace, filters)
    before, after = addresses.neighbours(page)
    return {
        "panel": "panels/session_list.html",
        "page": page,
        "before": before,
        "after": after,
        "here": addresses.address(filters),
        "sources": addresses.source_chips(filters, totals),
        "flags": addresses.flag_chips(filters, totals),
        "place": addresses.place_chip(filters),
        "sorts": [(name, sort.label) for name, sort in SORTS.items()],
        "sort_links": addresses.sort_addresses(filters),
    }


def adding() -> dict[str, Any]:
    """What a page needs that logs can be added on."""
    formats = [importer.LABEL for importer in importers()]
    limit = settings.MAX_UPLOAD_BYTES
    # In the unit of the setting, as the refusal says it.
    return {
        "formats": formats,
        "upload_limit": limit,
        "upload_limit_words": f"{limit // 2**20:,} MB",
        "local": settings.LOCAL,
    }


def _with_address(request: HttpRequest, response: HttpResponse, filters: Filters) -> HttpResponse:
    """Put the state into the browser's address: a new entry for a filter, the same one while somebody types."""
    asked_by = request.headers.get("HX-Trigger")
    if asked_by == "sessions":
        return response  # the list renewed itself, nobody went anywhere
    response.headers["HX-Replace-Url" if asked_by == "search" else "HX-Push-Url"] = addresses.address(filters)
    return response


def fresh_list(request: HttpRequest) -> HttpResponse:
    """How many steps there are in all, for an open list."""
    totals = sessions.totals(workspace_of(request).pk)
    return JsonResponse({"steps": totals.steps})


def fresh(request: HttpRequest, uid: UUID) -> HttpResponse:
    """How far the session's log has been read, for an open page of it."""
    found = sessions.freshness(workspace_of(request).pk, uid)
    if found is None:
        raise Http404("There is no such session.")
    values = {name: getattr(found, name) for name in ("steps", "turns", "items", "revision")}
    return JsonResponse(values)


def old_address(request: HttpRequest) -> HttpResponse:
    """What remains of a session's address when its end is cut off."""
    return redirect(f"/?{request.META['QUERY_STRING']}" if request.META.get("QUERY_STRING") else "/")


urlpatterns = [
    path("", session_list, name="sessions"),
    path("sessions", old_address),
    path("fresh", fresh_list, name="fresh-list"),
    path("sessions/<uuid:uid>/fresh", fresh, name="fresh"),
]
