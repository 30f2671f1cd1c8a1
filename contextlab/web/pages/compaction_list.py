"""All compactions of the workspace: found in logs, made by hand, made automatically."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path

from contextlab.queries.compaction_list import compaction_entry, compaction_list, compaction_totals
from contextlab.queries.session import session_title
from contextlab.web import compaction_addresses as addresses
from contextlab.web.workspace import workspace_of


def compactions(request: HttpRequest) -> HttpResponse:
    """The page, or for htmx its list with the filters above it."""
    workspace = workspace_of(request)
    filters, totals = addresses.to_filters(request.GET), compaction_totals(workspace.pk)
    page = compaction_list(workspace.pk, filters)
    values = {
        "nav": "compactions", "filters": filters, "totals": totals, "page": page,
        "origins": addresses.origin_chips(filters, totals), "states": addresses.state_chips(filters, totals),
        "policies": addresses.policy_choices(filters, totals), "neighbours": addresses.neighbours(page),
        "of_session": session_title(workspace.pk, filters.session) if filters.session else None,
        "without_session": addresses.without_session(filters),
    }  # fmt: skip
    if not request.headers.get("HX-Request"):
        return render(request, "pages/compaction_list.html", values)
    response = render(request, "panels/compaction_list.html", values)
    typed = request.headers.get("HX-Trigger") == "narrow"
    response.headers["HX-Replace-Url" if typed else "HX-Push-Url"] = addresses.address(filters)
    return response


def row(request: HttpRequest, uid: UUID) -> HttpResponse:
    """One that was made here as its row: while its run works, the row asks again."""
    found = compaction_entry(workspace_of(request).pk, uid)
    if found is None:
        return HttpResponse("")
    return render(request, "panels/compaction_row.html", {"row": found})


urlpatterns = [
    path("compactions", compactions, name="compaction_list"),
    path("compactions/<uuid:uid>/row", row, name="compaction_row"),
]
