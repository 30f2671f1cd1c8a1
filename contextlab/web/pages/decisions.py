"""The decision log: before which steps a policy's compaction was evaluated, by which figures, and what it came to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path

from contextlab.core.replaying.decisions import OUTCOMES
from contextlab.queries.decisions import DecisionRange, decision_log, decisions_of, policy_changes
from contextlab.services.live.deciding import settle_of
from contextlab.web.decision_words import MEANINGS, WORDS, reason_words
from contextlab.web.opened import Opened, number_in, open_page, open_session

SHOWN = 100
SHOWN_STEPS = 100


@dataclass(frozen=True, slots=True)
class Chip:
    """A filter by what decisions came to."""

    label: str
    meaning: str
    address: str
    steps: int | None
    on: bool


def decisions(request: HttpRequest, uid: UUID) -> HttpResponse:
    """The page of a view: runs of steps that came to the same, with totals."""
    opened = open_page(request, uid)
    if opened.live:
        settle_of(opened.session)
    outcome = request.GET.get("outcome", "")
    outcome, first = outcome if outcome in OUTCOMES else "", number_in(request, "from") or 1
    found = decision_log(opened.view_id or 0, [outcome] if outcome else (), first, SHOWN + 1)
    shown, rest = found.ranges[:SHOWN], found.ranges[SHOWN:]
    values = {
        "opened": opened, "session": opened.session, "nav": "sessions", "log": found,
        "rows": [(line, WORDS[line.outcome], *reason_words(line.reason)) for line in shown],
        "chips": _chips(opened, found.steps, outcome), "outcome": outcome, "first": first,
        "next": _address(opened, outcome, rest[0].first_step) if rest else "",
        "changes": policy_changes(opened.view_id) if opened.live and opened.view_id else [],
        "too_big": _too_big(found.ranges),
    }  # fmt: skip
    return render(request, "pages/decisions.html", values)


def each(request: HttpRequest, uid: UUID) -> HttpResponse:
    """The decisions of a run step by step, as a fragment."""
    opened = open_session(request, uid)
    first, last = number_in(request, "first"), number_in(request, "last")
    if first is None or last is None:
        raise Http404("Which steps? The address has no first and last.")
    lines = decisions_of(opened.view_id or 0, first, min(last, first + SHOWN_STEPS - 1))
    after = first + SHOWN_STEPS if first + SHOWN_STEPS <= last else None
    values = {"opened": opened, "session": opened.session, "lines": lines, "next": after, "last": last}
    return render(request, "panels/decision_steps.html", values)


def _chips(opened: Opened, steps: dict[str, int], outcome: str) -> list[Chip]:
    every = Chip("all", "every decision", _address(opened), sum(steps.values()), not outcome)
    return [
        every,
        *(
            Chip(WORDS[name], MEANINGS[name], _address(opened, name), count, name == outcome)
            for name, count in steps.items()
        ),
    ]


def _address(opened: Opened, outcome: str = "", first: int = 1) -> str:
    query = {"view": opened.name, "outcome": outcome, "from": first if first > 1 else ""}
    return "?" + urlencode({name: value for name, value in query.items() if value})


def _too_big(ranges: Sequence[DecisionRange]) -> str:
    """What a pause said was too big; empty where none did."""
    return next(
        (part for one in ranges if one.outcome == "paused" and (part := reason_words(one.reason)[1])), ""
    )


urlpatterns = [
    path("sessions/<uuid:uid>/decisions", decisions, name="decisions"),
    path("sessions/<uuid:uid>/decisions/steps", each, name="decision_steps"),
]
