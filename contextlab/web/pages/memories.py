"""The memories page: observations found by type, file, concept, project and words, and what they cost and save."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlencode
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_GET

from contextlab.core.memory_keeping.injection import Wanted
from contextlab.queries import memories as reads
from contextlab.queries.memory_costs import workspace_costs
from contextlab.services import memories as service
from contextlab.services.memories.injecting import DEFAULT_TOKENS, MOST_TOKENS
from contextlab.web.memory_chart import cost_chart
from contextlab.web.workspace import workspace_of

NAMES = {"q": "words", "type": "type", "file": "file", "concept": "concept", "project": "project"}
LONGEST = 400


@require_GET
def memories(request: HttpRequest) -> HttpResponse:
    """The list; for htmx the part of it that filters change."""
    workspace = workspace_of(request)
    filters = filters_of(request.GET)
    page = reads.memory_page(workspace.pk, filters)
    costs = workspace_costs(workspace.pk, filters.project)
    choices = reads.choices(workspace.pk)
    values = {
        "nav": "memories",
        "page": page,
        "filters": filters,
        "choices": choices,
        "types": [
            (name, number, address(replace(filters, type="" if filters.type == name else name, cursor="")))
            for name, number in choices.types
        ],
        "before": address(replace(filters, cursor=page.before)) if page.before else "",
        "after": address(replace(filters, cursor=page.after)) if page.after else "",
        "costs": costs,
        "chart": cost_chart(costs.days),
    }
    return render(request, "pages/memories.html", values)


@require_GET
def observation(request: HttpRequest, uid: UUID) -> HttpResponse:
    """One observation with all that it says, and the way to its turn."""
    found = reads.observation(workspace_of(request).pk, uid)
    if found is None:
        raise Http404("There is no such observation.")
    return render(request, "pages/observation.html", {"nav": "memories", "line": found})


@require_GET
def new_session(request: HttpRequest) -> HttpResponse:
    """The block that a new session would begin with, to copy."""
    workspace = workspace_of(request)
    given = request.GET
    budget = given.get("budget", "")
    tokens = int(budget) if budget.isascii() and budget.isdigit() and len(budget) < 8 else DEFAULT_TOKENS
    tokens = max(1, min(tokens, MOST_TOKENS))
    files = tuple(clean(line) for line in given.get("files", "")[:4000].split() if line)
    wanted = Wanted(clean(given.get("words", ""))[:4000], files)
    chosen = [uid for text in given.getlist("chosen")[:100] if (uid := _uid(text))]
    values = {
        "nav": "memories",
        "made": service.inject(
            workspace, given.get("project") or None, budget=tokens, wanted=wanted, chosen=chosen
        ),
        "choices": reads.choices(workspace.pk),
        "project": clean(given.get("project", "")),
        "words": wanted.words,
        "files": "\n".join(files),
        "budget": tokens,
        "chosen": chosen,
    }
    return render(request, "pages/new_session.html", values)


def filters_of(given: QueryDict) -> reads.MemoryFilters:
    """The filters that an address names; what no text can hold is left out."""
    values = {field: clean(given.get(name, ""))[:LONGEST] for name, field in NAMES.items()}
    return reads.MemoryFilters(**values, cursor=given.get("cursor", "")[:2000])


def address(filters: reads.MemoryFilters) -> str:
    """The address of the list under these filters."""
    values = {name: value for name, field in NAMES.items() if (value := getattr(filters, field))}
    if filters.cursor:
        values["cursor"] = filters.cursor
    return f"/memories?{urlencode(values)}" if values else "/memories"


def clean(text: str) -> str:
    """A text as a database takes it."""
    return text.replace("\x00", "").encode("utf-8", "ignore").decode().strip()


def _uid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


urlpatterns = [
    path("memories", memories, name="memories"),
    path("memories/new-session", new_session, name="new-session"),
    path("memories/<uuid:uid>", observation, name="observation"),
]
