"""When did the model last see a text: over one session with its bands of steps, and over all sessions."""

from __future__ import annotations

from itertools import pairwise
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_GET

from contextlab.core.audit.last_seen import Seen
from contextlab.core.audit.search_words import QUERY_CHARS, SearchQuery, query
from contextlab.queries.last_seen import LastSeen, knowledge, search_session
from contextlab.queries.search import search_everywhere
from contextlab.store.models import View
from contextlab.web.bands import band_strip, in_words
from contextlab.web.opened import RECORDED, number_in, open_session
from contextlab.web.workspace import workspace_of


@require_GET
def seen(request: HttpRequest, uid: UUID) -> HttpResponse:
    """A text over one session; `?step=` asks whether the model could know it there."""
    opened = open_session(request, uid)
    view = (
        View.objects.filter(session=opened.session, name=opened.name).exclude(kind=View.Kind.BRANCH).first()
    )
    if view is None and opened.name != RECORDED:
        raise Http404("This view has not been made yet; open the session under it first.")
    asked, refused = _asked(request)
    values: dict[str, Any] = {
        "nav": "sessions", "session": opened.session, "opened": opened, "text": request.GET.get("q", ""),
        "most": QUERY_CHARS, "refused": refused, "step": number_in(request, "step"),
    }  # fmt: skip
    if asked is not None:
        found = search_session(opened.session, asked, view)
        step = values["step"]
        values |= {
            "found": found,
            "strip": band_strip(found.bands, found.steps),
            "rows": [(hit, band_strip(hit.bands, found.steps), in_words(hit.bands)) for hit in found.hits],
            "headline": headline(found),
            "knows": knowledge(found, step) if step and 1 <= step <= found.steps else None,
        }
    return render(request, "pages/last_seen.html", values)


@require_GET
def everywhere(request: HttpRequest) -> HttpResponse:
    """A text over all sessions, newest first."""
    asked, refused = _asked(request)
    values: dict[str, Any] = {
        "nav": "search", "text": request.GET.get("q", ""), "most": QUERY_CHARS, "refused": refused,
    }  # fmt: skip
    if asked is not None:
        found = search_everywhere(workspace_of(request).pk, asked)
        values |= {"found": found, "rows": [(one, in_words(one.hit.bands, 2)) for one in found.found]}
    return render(request, "pages/search.html", values)


def headline(found: LastSeen) -> tuple[str, str]:
    """The answer in one sentence, and what came after it."""
    verbatim = max((band.end - 1 for band in found.bands if band.seen is Seen.VERBATIM), default=None)
    end = found.bands[-1].seen if found.bands else Seen.NONE
    if not found.hits:
        return ("Nothing in this session says that." if found.complete else "Not found so far."), ""
    if verbatim is None:
        return "The model never had it word for word.", ""
    if verbatim >= found.steps:
        return f"The model has it word for word up to the last step, {found.steps:,}.", _gaps(found)
    after = {
        Seen.SUMMARY: "Since then it stands in a summary.",
        Seen.CHANGED: f"Since then a summary says {found.changed or 'something else'} in its place.",
        Seen.SEALED: "Since then it stands behind a summary that cannot be read.",
        Seen.STUB: "Since then only a stub is left of it.",
        Seen.NONE: "At the end the model does not have it.",
    }
    return f"Last seen word for word at step {verbatim:,}.", after.get(end, "")


def _gaps(found: LastSeen) -> str:
    """The stretches in between at which it was not there."""
    had = [band for band in found.bands if band.seen in (Seen.VERBATIM, Seen.SUMMARY)]
    gaps = [(one.end, other.first - 1) for one, other in pairwise(had) if other.first > one.end]
    told = [f"{first:,} to {last:,}" if last > first else f"{first:,}" for first, last in gaps[:3]]
    more = f" and {len(gaps) - 3} more stretches" if len(gaps) > 3 else ""
    return f"In between it was not there: steps {', '.join(told)}{more}." if told else ""


def _asked(request: HttpRequest) -> tuple[SearchQuery | None, str]:
    """What is looked for, or why it cannot be; nothing where nothing was typed."""
    text = request.GET.get("q", "").replace("\x00", "").encode("utf-8", "ignore").decode()
    if not text.strip():
        return None, ""
    try:
        return query(text), ""
    except ValueError as error:
        return None, f"{str(error)[:1].upper()}{str(error)[1:]}."


urlpatterns = [
    path("sessions/<uuid:uid>/seen", seen, name="last-seen"),
    path("seen", everywhere, name="search"),
]
