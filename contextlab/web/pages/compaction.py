"""One compaction: of a log, or made here; while it runs, how far it is."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.views.decorators.http import require_POST

from contextlab.queries.compaction import CompactionPage, branches, compaction_page
from contextlab.queries.compaction_sides import MOST_ITEMS, items_of
from contextlab.queries.counters import mismatch_at
from contextlab.queries.lineage import lineage
from contextlab.queries.recorded_compaction import positions_of, recorded_compaction, turn_of
from contextlab.queries.session import find_session
from contextlab.services import runs
from contextlab.services.compaction import FORMATS, BadRequest, restore_found
from contextlab.store.models import Run, Session
from contextlab.web.compact_form import again_query
from contextlab.web.compaction_progress import progress_of
from contextlab.web.compaction_sides import of_log as sides_of_log
from contextlab.web.compaction_sides import of_run as sides_of_run
from contextlab.web.compactions import of_log, of_run
from contextlab.web.errors import answer
from contextlab.web.lineage import place_of
from contextlab.web.opened import RECORDED, Opened, number_in, open_session
from contextlab.web.workspace import workspace_of

SHOWN_RAW = 200_000
SHOWN_PINS = 40
SHOWN_POLICY = 12_000


def recorded(request: HttpRequest, uid: UUID, number: int) -> HttpResponse:
    """A compaction that the log records."""
    opened = open_session(request, uid)
    session, found = opened.session, recorded_compaction(opened.session, number)
    if found is None:
        raise Http404("The log has no such compaction.")
    values = {
        "opened": opened, "session": session, "nav": "compactions", "found": found, "shown": of_log(session, found),
        "sides": sides_of_log(session, found), "mismatch": mismatch_at(session, number),
        **_around(session, f"log-{number}", found.at_step - 1),
    }  # fmt: skip
    return render(request, "pages/compaction.html", values)


def made(request: HttpRequest, uid: UUID) -> HttpResponse:
    """A compaction that was asked for here, or only what came of it so far for htmx."""
    page, session = open_made(request, uid)
    values = {
        "opened": Opened(session, RECORDED, None), "session": session, "nav": "compactions", "made": page,
        "run": page.run, "shown": of_run(session, page),
    }  # fmt: skip
    if page.run.active:
        values["progress"] = progress_of(page)
    else:
        values |= ended_values(session, page)
    panel = request.headers.get("HX-Target") == "compaction"
    return render(request, "panels/compaction.html" if panel else "pages/compaction.html", values)


def ended_values(session: Session, page: CompactionPage) -> dict[str, Any]:
    """What stands on the page of a compaction that has ended, besides its result."""
    places = positions_of(session, page.pins[:SHOWN_PINS])
    return {
        "sides": sides_of_run(session, page) if page.result else None,
        "pins": [(places.get(name), name) for name in page.pins[:SHOWN_PINS]],
        "pins_more": max(0, len(page.pins) - SHOWN_PINS), "again": again_query(session, page),
        "policy_text": json.dumps(page.policy, indent=2, ensure_ascii=False)[:SHOWN_POLICY],
        **_around(session, str(page.run.uid), page.at_step),
    }  # fmt: skip


def items(request: HttpRequest, uid: UUID) -> HttpResponse:
    """The items of a run, as a fragment: what was summarised, or kept."""
    session = open_session(request, uid).session
    first, last = number_in(request, "first"), number_in(request, "last")
    if first is None or last is None:
        raise Http404("Which items? The address has no first and last.")
    found = items_of(session, first, last)
    shown = found[:MOST_ITEMS]
    values = {
        "session": session, "opened": Opened(session, RECORDED, None), "items": shown, "last": last,
        "next": found[MOST_ITEMS].position if len(found) > MOST_ITEMS else None,
    }  # fmt: skip
    return render(request, "panels/compaction_items.html", values)


@require_POST
def restore(request: HttpRequest, uid: UUID, number: int) -> HttpResponse:
    """The memory that a compaction of the log found as a branch, to be looked at and gone on from."""
    session = open_session(request, uid).session
    try:
        view = restore_found(session, number)
    except BadRequest as error:
        return answer(request, 400, str(error))
    return redirect(f"{reverse('memory_page', args=[uid])}?{urlencode({'branch': view.name})}")


@require_POST
def stop(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Ask it to stop; memory stays as it was."""
    open_made(request, uid)
    runs.cancel(get_object_or_404(Run, workspace=workspace_of(request), uid=uid))
    return made(request, uid) if request.headers.get("HX-Request") else redirect("compaction", uid=uid)


def raw(request: HttpRequest, uid: UUID) -> HttpResponse:
    """The model's answer as it came."""
    page, _ = open_made(request, uid)
    text = page.raw_reply
    values = {"text": text and text[:SHOWN_RAW], "cut": len(text or "") > SHOWN_RAW, "total": len(text or "")}
    return render(request, "panels/compaction_raw.html", values)


def _around(session: Session, here: str, step: int | None) -> dict[str, Any]:
    """Its place among the compactions of the session, the turn it fell into, and the formats of its memory."""
    place = place_of(session, lineage(session), branches(session), here)
    return {"place": place, "turn": turn_of(session, step), "formats": FORMATS}


def open_made(request: HttpRequest, uid: UUID) -> tuple[CompactionPage, Session]:
    """A compaction of the workspace with its session; 404 for those of others."""
    workspace = workspace_of(request)
    page = compaction_page(workspace.pk, uid)
    session = find_session(workspace.pk, page.session) if page else None
    if page is None or session is None:
        raise Http404("There is no such compaction.")
    return page, session


urlpatterns = [
    path("sessions/<uuid:uid>/compactions/<place:number>", recorded, name="compaction_recorded"),
    path("sessions/<uuid:uid>/compactions/<place:number>/restore", restore, name="compaction_restore"),
    path("sessions/<uuid:uid>/compacted", items, name="compaction_items"),
    path("compactions/<uuid:uid>", made, name="compaction"),
    path("compactions/<uuid:uid>/stop", stop, name="compaction_stop"),
    path("compactions/<uuid:uid>/raw", raw, name="compaction_raw"),
]
