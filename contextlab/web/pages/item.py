"""The item page: text, life, other half and record of one item; and its text as a fragment for lists."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.http import content_disposition_header

from contextlab.core.items import Kind
from contextlab.queries import item as items
from contextlab.queries.items import ContextRow
from contextlab.queries.recorded_compaction import number_of_summary, numbers_by_step
from contextlab.web.lifelines import draw
from contextlab.web.markdown import MARKDOWN_LIMIT, render_markdown
from contextlab.web.opened import Opened, number_in, open_session
from contextlab.web.rows import INJECTED_LABELS, media_words, stub_text, without_data_urls


def item(request: HttpRequest, uid: UUID, position: int) -> HttpResponse:
    """The page."""
    opened = open_session(request, uid)
    page = items.item_page(opened.session, position)
    row = items.row_at(opened.session, opened.view_id, number_in(request, "step"), position)
    if page is None or row is None:
        raise Http404("The session has no such item.")
    compactions = numbers_by_step(opened.session) if opened.session.compactions else {}
    values = {
        "opened": opened, "session": opened.session, "nav": "sessions", "page": page, "item": page.item,
        "lines": [draw(line, opened, compactions) for line in page.lifelines], "step": number_in(request, "step"),
        "injected": INJECTED_LABELS.get(page.item.injected, page.item.injected),
        "summary_of": number_of_summary(opened.session, position) if page.item.kind == Kind.SUMMARY else None,
    }  # fmt: skip
    return render(request, "pages/item.html", values | body_values(request, opened, row))


def body(request: HttpRequest, uid: UUID, position: int) -> HttpResponse:
    """The text of an item, as a fragment: raw, or as Markdown on request."""
    opened = open_session(request, uid)
    row = items.row_at(opened.session, opened.view_id, number_in(request, "step"), position)
    if row is None:
        raise Http404("The session has no such item.")
    return render(request, "panels/item_body.html", body_values(request, opened, row))


def body_values(request: HttpRequest, opened: Opened, row: ContextRow) -> dict[str, Any]:
    """What the panel of a text shows; large texts only on request, and never more than a page can bear."""
    size = row.item.text_length
    most = items.SHOWN_BYTES if "all" in request.GET else items.OPEN_BYTES
    hidden = size > items.OPEN_BYTES and "all" not in request.GET
    text = None if hidden else items.item_text(opened.session, row.item.position, most)
    as_markdown = request.GET.get("as") == "markdown" and text is not None and len(text) <= MARKDOWN_LIMIT
    shown = without_data_urls(text or "")
    original = items.original_of(opened.session, row.item, most)
    return {
        "opened": opened, "session": opened.session, "row": row, "item": row.item, "stub": stub_text(row),
        "text": shown, "gone": text is None and not hidden, "hidden": hidden, "cut": not hidden and size > most,
        "shortened": len(shown) != len(text or ""), "can_render": size <= MARKDOWN_LIMIT and bool(text),
        "prose": render_markdown(shown) if as_markdown else None, "media": media_words(row.item),
        "step": number_in(request, "step"), "shown_bytes": items.SHOWN_BYTES,
        "original": None if original is None else without_data_urls(original.decode("utf-8", "replace")),
        "original_cut": original is not None and len(original) == most,
    }  # fmt: skip


def text(request: HttpRequest, uid: UUID, position: int) -> HttpResponse:
    """The whole text as a download, verbatim."""
    opened = open_session(request, uid)
    found = items.item_text(opened.session, position)
    if found is None:
        raise Http404("The session has no such item, or its text is gone.")
    return _download(found.encode("utf-8", "replace"), f"item-{position}.txt")


def raw(request: HttpRequest, uid: UUID, position: int) -> HttpResponse:
    """The record that the item stands in, byte for byte as logged."""
    opened = open_session(request, uid)
    found = items.item_record(opened.session, position)
    if found is None:
        raise Http404("The log's own bytes are not kept for this item.")
    return _download(found, f"item-{position}.record")


def record(request: HttpRequest, uid: UUID, position: int) -> HttpResponse:
    """The same as a fragment, as far as a page can bear."""
    opened = open_session(request, uid)
    found = items.item_record(opened.session, position, items.OPEN_BYTES)
    values = {
        "opened": opened, "session": opened.session, "position": position, "missing": found is None,
        "record": without_data_urls((found or b"").decode("utf-8", "replace")),
        "cut": found is not None and len(found) == items.OPEN_BYTES,
    }  # fmt: skip
    return render(request, "panels/item_record.html", values)


def original(request: HttpRequest, uid: UUID, position: int) -> HttpResponse:
    """The original that the agent stored beside its log, as a download."""
    opened = open_session(request, uid)
    row = items.row_at(opened.session, None, None, position)
    found = items.original_of(opened.session, row.item, items.ORIGINAL_BYTES) if row else None
    if found is None:
        raise Http404("The original is gone.")
    return _download(found, f"item-{position}.original.txt")


def by_id(request: HttpRequest, uid: UUID) -> HttpResponse:
    """To an item by the log's own id: such an address outlives a re-import."""
    opened = open_session(request, uid)
    native_id = request.GET.get("id", "").replace("\x00", "")[:255]
    position = items.position_of(opened.session, native_id)
    if position is None:
        raise Http404("The session has no item of that id.")
    return redirect(f"/sessions/{uid}/items/{position}{opened.query}")


def _download(content: bytes, name: str) -> HttpResponse:
    """Never shown inside the browser, whatever it holds."""
    response = HttpResponse(content, content_type="application/octet-stream")
    response.headers["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
    return response


urlpatterns = [
    path("sessions/<uuid:uid>/items", by_id, name="item_by_id"),
    path("sessions/<uuid:uid>/items/<place:position>", item, name="item"),
    path("sessions/<uuid:uid>/items/<place:position>/body", body, name="item_body"),
    path("sessions/<uuid:uid>/items/<place:position>/text", text, name="item_text"),
    path("sessions/<uuid:uid>/items/<place:position>/raw", raw, name="item_raw"),
    path("sessions/<uuid:uid>/items/<place:position>/original", original, name="item_original"),
    path("sessions/<uuid:uid>/items/<place:position>/record", record, name="item_record"),
]
