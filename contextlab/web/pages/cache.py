"""The prompt cache of a session and its waste: why a prefix broke, what it cost, what was carried for nothing."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_GET

from contextlab.core.audit.cache import CacheState
from contextlab.queries.cache import session_cache
from contextlab.queries.waste import waste as wasted
from contextlab.web.opened import number_in, open_session

STEPS = 100
WORDS = {
    CacheState.FIRST: "first of the session",
    CacheState.HIT: "hit",
    CacheState.EXPIRED: "expired: the pause was longer than a cache lives",
    CacheState.CHANGED: "the prefix changed",
    CacheState.OUTSIDE: "missed, though the log shows no change",
    CacheState.SMALL: "too small to be cached",
    CacheState.UNKNOWN: "unknown",
}


@require_GET
def cache(request: HttpRequest, uid: UUID) -> HttpResponse:
    """The steps with what was read from the cache, a page of them at a time; `?turn=` only a turn's."""
    session = open_session(request, uid).session
    turn = number_in(request, "turn")
    first = min(max(number_in(request, "from") or 1, 1), max(session.steps, 1))
    found = session_cache(session, first, STEPS, turn)
    totals = found.totals
    whole = sum(part or 0 for part in (totals.read, totals.written, totals.fresh))
    values = {
        "nav": "sessions", "session": session, "found": found, "first": first, "turn": turn, "part": "cache",
        "rows": [(step, WORDS[step.state]) for step in found.steps],
        "states": [(WORDS[CacheState(name)], number) for name, number in found.totals.states.items() if number],
        "causes": [(str(name).replace("_", " "), number) for name, number in found.totals.causes.items()],
        "last": first + len(found.steps) - 1,
        "read_share": totals.read / whole if totals.read is not None and whole else None,
        "before": max(1, first - STEPS) if first > 1 and turn is None else None,
        "after": first + STEPS if turn is None and first + STEPS <= session.steps else None,
    }  # fmt: skip
    return render(request, "pages/cache.html", values)


@require_GET
def waste(request: HttpRequest, uid: UUID) -> HttpResponse:
    """What took most of all windows together, what came twice, what nothing came back to."""
    session = open_session(request, uid).session
    values = {"nav": "sessions", "session": session, "found": wasted(session), "part": "waste"}
    return render(request, "pages/waste.html", values)


urlpatterns = [
    path("sessions/<uuid:uid>/cache", cache, name="cache"),
    path("sessions/<uuid:uid>/waste", waste, name="waste"),
]
