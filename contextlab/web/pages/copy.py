"""A step's context to take away: in a provider's words, as events, or as JSON with every item's fate."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path
from django.utils.http import content_disposition_header

from contextlab.core.protocol import FORMATS, SEALED, export
from contextlab.queries.export import TooLargeError, all_fates, export_items
from contextlab.queries.fates import merged
from contextlab.web import figures
from contextlab.web.errors import answer
from contextlab.web.opened import open_session
from contextlab.web.pages.step import scope_at

EVENTS = "contextlab_events"


def copy(request: HttpRequest, uid: UUID, number: int, format: str) -> HttpResponse:
    """The context as text; what had to be repaired is counted in a header and listed in the JSON."""
    if format not in FORMATS:
        raise Http404("There is no such format.")
    opened = open_session(request, uid)
    scope = scope_at(opened, number)
    try:
        items = export_items(scope, sealed=format in SEALED)
    except TooLargeError as error:
        return answer(
            request, 413, f"This context has {figures.size(error.args[0])} of text: too much for one copy."
        )
    made = export(items, format, session=str(opened.session.native_id))
    document: Any = made.document
    if format == "json":
        left_out = [fate for fate in merged(all_fates(scope)) if fate.left_out and fate.count]
        document = {
            "session": opened.session.native_id, "step": number, "view": opened.name, "items": document,
            "left_out": [
                {"first_item": fate.first, "last_item": fate.last, "verdict": fate.verdict, "reason": fate.reason}
                for fate in left_out
            ],
        }  # fmt: skip
    return _answer(request, document, format, number, made.repairs)


def _answer(
    request: HttpRequest, document: Any, format: str, number: int, repairs: list[str]
) -> HttpResponse:
    if format == EVENTS:
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in document)
    else:
        text = json.dumps(document, ensure_ascii=False, indent=1)
    response = HttpResponse(text.encode("utf-8", "replace"), content_type="application/json; charset=utf-8")
    response.headers["X-Repairs"] = str(len(repairs))
    if repairs:
        # Latin-1 only, and no line breaks, in a header.
        words = "; ".join(repairs)[:900]
        response.headers["X-Repairs-Said"] = words.encode("ascii", "replace").decode().replace("\n", " ")
    if "download" in request.GET:
        ending = "jsonl" if format == EVENTS else "json"
        name = f"step-{number}-{format}.{ending}"
        response.headers["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
    return response


urlpatterns = [path("sessions/<uuid:uid>/steps/<place:number>/copy/<slug:format>", copy, name="step_copy")]
