"""Compact now: the form, a preview that asks no model and writes nothing, and the button that starts the run."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_POST

from contextlab import tasks
from contextlab.queries.live import live_name
from contextlab.queries.marks import log_compaction_at
from contextlab.services import compaction
from contextlab.services.compaction import BadRequest, Preview
from contextlab.services.compaction.foreseeing import foresee
from contextlab.store.models import Session
from contextlab.web import compact_form as forms
from contextlab.web.compactions import place_said, reason_words
from contextlab.web.errors import answer
from contextlab.web.opened import RECORDED, Opened, open_beside

SHOWN_ITEMS = 120


def compact(request: HttpRequest, uid: UUID) -> HttpResponse:
    """The form; a POST starts the run that was previewed."""
    opened = open_beside(request, uid)
    if request.method != "POST":
        return _form(request, opened)
    fields = forms.typed(request.POST)
    try:
        asked = forms.asked(opened.session, fields, request.POST.get("confirm") == "1")
        with transaction.atomic():
            run, new = compaction.request_compaction(opened.session, asked, request.POST.get("key", ""))
            if new:
                tasks.ring([run])
    except BadRequest as error:
        values = form_values(opened, fields) | {"error": forms.said(error)}
        return render(request, "pages/compact.html", values, status=400)
    return redirect("compaction", uid=run.uid)


def _form(request: HttpRequest, opened: Opened) -> HttpResponse:
    """The form as an address fills it in; 404 for a memory that there is not: another one must not take its place."""
    fields = forms.typed(request.GET)
    values = form_values(opened, fields)
    if fields["view"] and fields["view"] not in values["views"]:
        raise Http404("The session has no such memory.")
    return render(request, "pages/compact.html", values)


@require_POST
def preview(request: HttpRequest, uid: UUID) -> HttpResponse:
    """What would happen, beneath the form."""
    opened, fields = open_beside(request, uid), forms.typed(request.POST)
    values = form_values(opened, fields)
    in_place = bool(request.headers.get("HX-Request"))
    try:
        told = compaction.preview(opened.session, forms.asked(opened.session, fields))
    except BadRequest as error:
        if in_place:
            return answer(request, 400, forms.said(error))
        return render(request, "pages/compact.html", values | {"error": forms.said(error)}, status=400)
    values |= preview_values(opened.session, told, fields["view"])
    return render(request, "panels/compact_preview.html" if in_place else "pages/compact.html", values)


@require_POST
def foreseen(request: HttpRequest, uid: UUID) -> HttpResponse:
    """What the previewed compaction would lose, with a way to pin that and look again."""
    opened, fields = open_beside(request, uid), forms.typed(request.POST)
    try:
        found = foresee(opened.session, forms.asked(opened.session, fields))
    except BadRequest as error:
        return answer(request, 400, forms.said(error))
    values: dict[str, Any] = {"session": opened.session, "found": found, "fields": fields}
    if found is not None:
        values["with_pins"] = forms.with_pins(fields, found.pins)
    return render(request, "panels/foreseen.html", values)


def form_values(opened: Opened, fields: dict[str, str]) -> dict[str, Any]:
    """The form as it was filled in."""
    return {
        "opened": opened, "session": opened.session, "nav": "compactions", "fields": fields,
        "policies": forms.policies(opened.session.workspace_id),
        "views": forms.views(opened.session, fields["view"]), "lived": live_name(opened.session),
        "model": compaction.model_status(),
        "working": compaction.running(opened.session)[:20],
        "line": compaction.resume_line(opened.session) is not None, "behind": _behind(opened, fields),
    }  # fmt: skip


def _behind(opened: Opened, fields: dict[str, str]) -> int | None:
    """The log's compaction right before the step that was typed: what stood in memory then is only what it left."""
    step = fields["before_step"]
    typed = step.isascii() and step.isdigit() and len(step) < 10 and not fields["before_compaction"]
    if not typed or fields["view"] not in ("", RECORDED):
        return None
    return log_compaction_at(opened.session.pk, opened.session.revision, int(step))


def preview_values(session: Session, told: Preview, view: str) -> dict[str, Any]:
    """A preview, with the key that makes one run of two presses."""
    base = session.views.filter(name=view).first()
    kept = base is not None and base.keeps_memory
    half = SHOWN_ITEMS // 2
    items = told.items if len(told.items) <= SHOWN_ITEMS else [*told.items[:half], *told.items[-half:]]
    return {
        "told": told, "key": uuid4().hex, "why": reason_words(told.reason), "items": items,
        "where": f"of {view}" if kept else place_said(session, told.at_step),
        "unshown": told.items_total - len(items),
    }  # fmt: skip


urlpatterns = [
    path("sessions/<uuid:uid>/compact", compact, name="compact"),
    path("sessions/<uuid:uid>/compact/preview", preview, name="compact_preview"),
    path("sessions/<uuid:uid>/compact/foreseen", foreseen, name="compact_foreseen"),
]
