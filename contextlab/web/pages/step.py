"""The step page: what the model saw at one call, in order, and what it did not see."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path

from contextlab.core.protocol import FORMATS
from contextlab.queries import context as contexts
from contextlab.queries import step as steps
from contextlab.queries.decisions import decision_at
from contextlab.queries.fires import summary_before
from contextlab.queries.scope import Scope
from contextlab.queries.shares import all_shares
from contextlab.queries.step_page import StepPage, Wanted, step_page
from contextlab.web.decision_words import told
from contextlab.web.opened import RECORDED, Opened, number_in, open_page, open_session, view_links
from contextlab.web.row_html import row_html
from contextlab.web.rows import Shown, ShownGroup, Speller, step_address

SHOWS = ("", "cleared", "left-out", "changes")
PART_WORDS = {
    "out": "are left out since this step, or for another reason", "in": "are in the context otherwise than before",
    "entered": "entered",
}  # fmt: skip


def step(request: HttpRequest, uid: UUID, number: int) -> HttpResponse:
    """The page, or only its list of items for htmx."""
    whole = open_page(request, uid)
    opened, wanted = whole.at(number), wanted_of(request)
    session, page = opened.session, step_page(opened.seen, number, wanted, whole.seen)
    if page is None:
        raise Http404("The session has no such step.")
    speller = Speller(opened, page.head.number, wanted.show, wanted.item, page.compaction_numbers)
    values = {
        "opened": opened, "session": session, "nav": "sessions", "page": page, "head": page.head,
        "report": page.report, "turn": page.turn, "show": wanted.show, "tabs": tabs(opened, page, wanted),
        "rows": [row_html(row) for row in _shown(speller, page)], "item_note": _item_note(page, wanted),
        "step_query": step_query(opened, wanted), "scale": _scale(page),
        "stands": None if opened.name == RECORDED else summary_before(opened.view_id or 0, number),
        "views": view_links(opened, "step", number), "formats": FORMATS,
        "decided": None if opened.name == RECORDED else told(decision_at(opened.view_id or 0, number)),
    }  # fmt: skip
    only_list = request.headers.get("HX-Target") == "context" and page.report is not None
    return render(request, "panels/context.html" if only_list else "pages/step.html", values)


def run(request: HttpRequest, uid: UUID, number: int) -> HttpResponse:
    """The items of a run that was left out (or of any range), a page of rows at a time."""
    opened = open_session(request, uid).at(number)
    first, last = number_in(request, "first"), number_in(request, "last")
    scope = scope_at(opened, number)
    if first is None or last is None:
        raise Http404("Which items? The address has no first and last.")
    found = contexts.fold_rows(scope, first, last)
    speller = Speller(opened, number, selected=number_in(request, "item"))
    return render(
        request,
        "panels/context_rows.html",
        {"rows": [row_html(row) for row in speller.rows(found, inside=True)]},
    )


def left_out(request: HttpRequest, uid: UUID, number: int) -> HttpResponse:
    """What was left out by reason, counted over all spans: for steps where that takes more than a page may."""
    opened = open_session(request, uid).at(number)
    return render(request, "panels/shares.html", {"shares": all_shares(scope_at(opened, number))})


def wanted_of(request: HttpRequest) -> Wanted:
    """The list that the address asks for; what makes no sense is left out."""
    show = request.GET.get("show", "")
    return Wanted(show if show in SHOWS else "", number_in(request, "before"), number_in(request, "item"))


def step_query(opened: Opened, wanted: Wanted) -> str:
    """The query of links to other steps: the view and the list stay, the place in it does not."""
    address = step_address(opened, 1, show=wanted.show)
    return address[address.index("?") :] if "?" in address else ""


@dataclass(frozen=True, slots=True)
class Tab:
    """A filter of the list."""

    label: str
    count: int
    address: str
    on: bool
    key: str = ""
    hint: str = ""


def tabs(opened: Opened, page: StepPage, wanted: Wanted) -> list[Tab]:
    """The filters with their counts."""
    changes, number = page.changes, page.head.number
    if changes is None:
        return []
    changed = changes.entered + sum(run.count for run in changes.runs)
    texts = {
        "": ("in context", page.in_context, "", ""),
        "cleared": ("cleared", page.stubs, "", ""),
        "left-out": ("left out", page.left_out, "x", "left out"),
        "changes": (f"changes since {number - 1}" if number > 1 else "entered", changed, "d", "changes"),
    }
    made = []
    for show, (label, count, key, hint) in texts.items():
        on = show == wanted.show
        # The key of a filter that is on leads back to the whole context.
        address = step_address(opened, number, show="" if on and key else show)
        made.append(Tab(label, count, address, on, key, hint))
    return made


def scope_at(opened: Opened, number: int) -> Scope:
    """A step for queries; 404 where the view has none."""
    scope = steps.scope_at(opened.seen, number)
    if scope is None:
        raise Http404("This view has no such step.")
    return scope


def _shown(speller: Speller, page: StepPage) -> list[Shown]:
    rows = speller.rows(page.entries)
    for part in page.parts:
        rows.append(ShownGroup(f"{part.items:,} {PART_WORDS[part.kind]}"))
        rows += speller.rows(part.entries, inside=True)
    return rows


def _item_note(page: StepPage, wanted: Wanted) -> str:
    if wanted.item is None or wanted.item < page.head.upto:
        return ""
    return f"Item #{wanted.item} was not yet in memory at this step."


def _scale(page: StepPage) -> int:
    sizes = [line.projected_tokens or 0 for line in page.lines]
    return (
        max([page.head.limit or 0, *sizes])
        if not sizes or (page.head.limit or 0) < 4 * max(sizes)
        else max(sizes)
    )


urlpatterns = [
    path("sessions/<uuid:uid>/steps/<place:number>", step, name="step"),
    path("sessions/<uuid:uid>/steps/<place:number>/run", run, name="step_run"),
    path("sessions/<uuid:uid>/steps/<place:number>/left-out", left_out, name="step_left_out"),
]
