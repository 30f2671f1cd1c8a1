"""All compactions of a session and the memories of its branches: go back, promote, compare, take away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_POST

from contextlab.queries.compaction import Branch, VersionLine, branches, compaction_page
from contextlab.queries.lineage import LineageRow, lineage
from contextlab.queries.live import newest_version
from contextlab.queries.offloads import offload_count
from contextlab.queries.recorded_compaction import recorded_compaction
from contextlab.services import compaction
from contextlab.services.compaction import BadRequest, Held
from contextlab.store.models import Session, View
from contextlab.web.addresses import clean
from contextlab.web.compact_form import read_pins, said
from contextlab.web.compactions import of_log, of_run
from contextlab.web.cutting import cut
from contextlab.web.errors import answer
from contextlab.web.lineage import Kin, Side, compared, kin, source_of
from contextlab.web.opened import LARGEST, RECORDED, Opened, number_in, open_beside, open_session

SHOWN_ROWS = 100
SHOWN_BRANCHES = 20
SHOWN_VERSIONS = 5
SHOWN_ITEMS = 100
ON_TOP = ("keep-all", "type-aware", "token-budget", "rule-based")
"""Policies under which the rest of the log is offered on top of a branch's memory."""
SHOWN_SUMMARY = 40_000
ROOM_BESIDE = 28_000
"""Bytes of a result that stands beside another."""
PREVIEW = 240
LONGEST_WISH = 20_000
Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Part(Generic[Row]):
    """Some of many, newest first; where the newer and the older ones begin, None where there are none."""

    shown: Sequence[Row]
    total: int
    newer: int | None
    older: int | None


def compactions(request: HttpRequest, uid: UUID) -> HttpResponse:
    """The page: the newest of each."""
    opened = open_session(request, uid)
    session = opened.session
    found = lineage(session)
    rows, by_id = _part(found, number_in(request, "skip"), SHOWN_ROWS), {row.id: row for row in found}
    trees = _part(branches(session), number_in(request, "branches"), SHOWN_BRANCHES)
    values = {
        "opened": opened, "session": session, "nav": "compactions", "formats": compaction.FORMATS,
        "part": rows, "trees_part": trees,
        "rows": [(kin(session, row), source_of(session, row, by_id)) for row in rows.shown],
        "known": _comparable(session, rows.shown),
        "trees": [_tree(session, tree) for tree in trees.shown], "on_top": ON_TOP,
        "offloads": offload_count(session), "in_force": _in_force(session, trees.shown),
        "already": number_in(request, "in_force"), "of": clean(request.GET.get("of", "")), **way_back(session),
    }  # fmt: skip
    return render(request, "pages/compactions.html", values)


def _part(rows: Sequence[Row], skip: int | None, size: int) -> Part[Row]:
    """The newest of rows that stand in their order, behind those that are skipped."""
    skip = min(skip or 0, len(rows))
    older = skip + size if skip + size < len(rows) else None
    return Part(rows[::-1][skip : skip + size], len(rows), max(0, skip - size) if skip else None, older)


def _tree(session: Session, tree: Branch) -> tuple[Branch, Sequence[VersionLine], int]:
    """A branch with its newest versions and the steps that the log has had since it left."""
    since = session.steps - (tree.base_step or session.steps + 1) + 1
    return tree, tree.versions[:SHOWN_VERSIONS], max(0, since)


def _in_force(session: Session, trees: Sequence[Branch]) -> dict[str, Any] | None:
    """The live memory as it is now, with all that came behind its newest version; None where none is shown."""
    live = next((tree.name for tree in trees if tree.live), None)
    if live is None:
        return None
    held = compaction.memory_of(session, live)
    tokens, source = compaction.size_of(held)
    return {
        "items": len(held.snapshot.items), "summary": bool(held.snapshot.summary), "tokens": tokens,
        "source": source, "step": _step_of(held),
    }  # fmt: skip


def _step_of(held: Held) -> int:
    """The step that a memory stands before: of a live one, the first that its agent has not taken another for."""
    if held.version is None or held.view.kind != View.Kind.LIVE:
        return held.at_step
    return max(held.at_step, held.version.live.step)


def _if_restored(held: Held) -> bool:
    """Whether it is an older version of a live memory: what came since stands behind it here, too."""
    if held.version is None or held.view.kind != View.Kind.LIVE:
        return False
    newest = newest_version(held.view)
    return newest is not None and newest.memory_id != held.version.pk


def way_back(session: Session) -> dict[str, Any]:
    """What takes a person back into the agent, and an agent on from here."""
    return {"resume": compaction.resume_line(session), "memory_api": f"/api/sessions/{session.uid}/memory/"}


def compare(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Two compactions of the session, section by section: of its log, or made here."""
    opened = open_session(request, uid)
    left, right = request.GET.get("left", ""), request.GET.get("right", "")
    if left == right:
        return answer(request, 400, "Choose two different compactions to compare.")
    rows = {row.id: row for row in lineage(opened.session)}
    sides = [_side(opened, rows.get(one)) for one in (left, right)]
    values = {
        "opened": opened, "session": opened.session, "nav": "compactions", "sides": sides,
        "sections": compared(sides[0].shown, sides[1].shown),
        "known": _comparable(opened.session, [*rows.values()][::-1][:SHOWN_ROWS]),
    }  # fmt: skip
    return render(request, "pages/compare.html", values)


def _comparable(session: Session, rows: Sequence[LineageRow]) -> list[Kin]:
    """Those that have a result to be compared."""
    return [kin(session, row) for row in rows if row.state == "done"]


def _side(opened: Opened, row: LineageRow | None) -> Side:
    """A compaction of the session with its result."""
    session = opened.session
    if row is None:
        raise Http404("The session has no such compaction.")
    if row.origin != "here":
        found = recorded_compaction(session, int(row.id.removeprefix("log-")))
        shown = of_log(session, found) if found else None
    else:
        page = compaction_page(session.workspace_id, UUID(row.id))
        shown = of_run(session, page, ROOM_BESIDE) if page else None
    if shown is None:
        raise Http404("The session has no such compaction.")
    return Side(kin(session, row), shown)


@require_POST
def restore(request: HttpRequest, uid: UUID, name: str) -> HttpResponse:
    """An earlier memory in force again, as a new version; where it is already, the page says so."""
    view, version = _branch(request, uid, name), request.POST.get("version", "")
    if not (version.isascii() and version.isdigit() and len(version) < 9):
        return answer(request, 400, "Which version? The form has no number of one.")
    try:
        _, made = compaction.restore(view, int(version))
    except BadRequest as error:
        return answer(request, 400, str(error))
    page = reverse("compactions", args=[uid])
    return redirect(page if made else f"{page}?in_force={version}&of={name}")


@require_POST
def promote(request: HttpRequest, uid: UUID, name: str) -> HttpResponse:
    """Make a branch's memory the one to go on with."""
    compaction.promote(_branch(request, uid, name))
    return redirect("compactions", uid=uid)


def memory(request: HttpRequest, uid: UUID, format: str) -> HttpResponse:
    """A memory as a download, valid for the provider."""
    try:
        held = _beside_log(request, uid) or _held(request, uid)
        made = compaction.export_memory(held, format)
    except BadRequest as error:
        return answer(request, 404, str(error))
    kind, ending = ("text/markdown", "md") if format == "markdown" else ("application/json", "json")
    response = HttpResponse(made.text.encode("utf-8", "replace"), content_type=f"{kind}; charset=utf-8")
    name = f"memory-{held.view.name}-{format}.{ending}"
    response.headers["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
    response.headers["X-Repairs"] = str(len(made.repairs))
    if made.repairs:
        # Latin-1 only, and no line breaks, in a header.
        words = "; ".join(made.repairs)[:900]
        response.headers["X-Repairs-Said"] = words.encode("ascii", "replace").decode().replace("\n", " ")
    return response


def memory_page(request: HttpRequest, uid: UUID) -> HttpResponse:
    """A memory itself: its summary and its items, a page of them at a time."""
    try:
        held = _held(request, uid)
    except BadRequest as error:
        return answer(request, 404, str(error))
    first, items = min(number_in(request, "from") or 0, LARGEST), held.snapshot.items
    shown = [
        (held.positions.get(item.id), item, item.text[:PREVIEW])
        for item in items[first : first + SHOWN_ITEMS]
    ]
    summary, more = cut(held.snapshot.summary or "", SHOWN_SUMMARY)
    tokens, source = compaction.size_of(held)
    values = {
        "opened": open_session(request, uid), "session": held.session, "nav": "compactions", "held": held,
        "step": _step_of(held), "tokens": tokens, "source": source, "if_restored": _if_restored(held),
        "version": held.version.version if held.version else None, "formats": compaction.FORMATS,
        "summary": summary, "summary_cut": more, "items": shown,
        "originals": compaction.offloads_in(held)[:SHOWN_ITEMS], "total": len(items),
        "first": first + 1, "last": first + len(shown),
        "before": max(0, first - SHOWN_ITEMS) if first else None,
        "after": first + SHOWN_ITEMS if first + SHOWN_ITEMS < len(items) else None,
    }  # fmt: skip
    return render(request, "pages/memory.html", values)


def _beside_log(request: HttpRequest, uid: UUID) -> Held | None:
    """The memory on one side of a compaction of the log, where the address names one."""
    if (number := number_in(request, "compaction")) is None:
        return None
    side = compaction.memory_left if request.GET.get("side") == "after" else compaction.memory_found
    return side(open_session(request, uid).session, number)


def _held(request: HttpRequest, uid: UUID) -> Held:
    session = open_session(request, uid).session
    return compaction.memory_of(session, clean(request.GET.get("branch", "")), number_in(request, "version"))


def compact_line(request: HttpRequest, uid: UUID) -> HttpResponse:
    """What to type into the agent so that its own compaction keeps what is pinned, as a fragment."""
    session = open_beside(request, uid).session
    given = request.POST if request.method == "POST" else request.GET
    wish = given.get("instructions", "")
    if len(wish) > LONGEST_WISH:
        return answer(
            request, 400, f"Instructions: {len(wish):,} characters; at most {LONGEST_WISH:,} are taken."
        )
    try:
        pins = read_pins(session, given.get("pins", ""))
        held = compaction.memory_of(session, clean(given.get("view", "")) or RECORDED)
        line = compaction.compact_line(held, pins, wish)
    except BadRequest as error:
        return answer(request, 400, said(error))
    known = {item.id for item in held.snapshot.items}
    values = {"line": line, "elsewhere": sum(pin not in known for pin in pins)}
    return render(request, "panels/compact_line.html", values)


def _branch(request: HttpRequest, uid: UUID, name: str) -> View:
    session = open_session(request, uid).session
    view = session.views.filter(name=name).first()
    if view is None or not view.keeps_memory:
        raise Http404("The session has no such branch.")
    return view


urlpatterns = [
    path("sessions/<uuid:uid>/compactions", compactions, name="compactions"),
    path("sessions/<uuid:uid>/compactions/compare", compare, name="compactions_compare"),
    path("sessions/<uuid:uid>/branches/<slug:name>/restore", restore, name="branch_restore"),
    path("sessions/<uuid:uid>/branches/<slug:name>/promote", promote, name="branch_promote"),
    path("sessions/<uuid:uid>/memory", memory_page, name="memory_page"),
    path("sessions/<uuid:uid>/memory/<slug:format>", memory, name="memory"),
    path("sessions/<uuid:uid>/compact/line", compact_line, name="compact_line"),
]
