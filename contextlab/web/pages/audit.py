"""The audit pages: what to look at, what each compaction lost or changed, fact by fact, and how facts decay."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import path, reverse
from django.views.decorators.http import require_GET, require_POST

from contextlab import tasks
from contextlab.core.redaction import redact
from contextlab.queries import audit as reads
from contextlab.queries.ledger_lines import folded_facts, open_groups
from contextlab.queries.runs import run_view
from contextlab.services import audits
from contextlab.web.opened import number_in, open_session
from contextlab.web.workspace import workspace_of

COMPACTIONS = 40
"""Compactions of a page."""
DECAY_ROWS = 24
DECAY_SHOWN = 24
"""Columns of the table of decay."""
METERS = 6
"""With more columns than these they have figures alone."""
REPORT = reads.LedgerQuery(facts=400, groups=400, places=10_000)
"""A ledger in a report."""


@require_GET
def audit(request: HttpRequest, uid: UUID) -> HttpResponse:
    """The page; an audit that is missing, or not of all, is asked for."""
    session = open_session(request, uid).session
    found, run = audits.open_audit(session)
    if run is not None:
        tasks.ring([run])
    shown = "all" in request.GET
    page = reads.audit_page(session, found) if found is not None else None
    values: dict[str, Any] = {
        "nav": "sessions",
        "session": session,
        "run": run_view(workspace_of(request).pk, run.uid) if run is not None else None,
        "page": page,
        "findings": reads.findings(session, dismissed=shown),
        "all": shown,
        "verdicts": reads.VERDICTS,
    }
    if page is not None:
        values |= _rows_of(page, number_in(request, "from") or 0, number_in(request, "decay") or 0, shown)
    return render(request, "pages/audit.html", values)


def _rows_of(page: reads.AuditPage, wanted: int, wanted_decay: int, shown: bool) -> dict[str, Any]:
    """The rows of both tables that a page shows from the wanted ones on, and the addresses of the others."""
    first = reads.page_start(wanted, COMPACTIONS, len(page.compactions))
    decay = reads.page_start(wanted_decay, DECAY_ROWS, len(page.decay))

    def to(first: int = first, decay: int = decay) -> str:
        return _link("", **{"from": first, "decay": decay, "all": "1" if shown else ""}) or "?"

    after, decay_after = first + COMPACTIONS, decay + DECAY_ROWS
    return {
        "compactions": page.compactions[first:after],
        "decay": page.decay[decay:decay_after],
        "generations": range(1, min(page.generations, DECAY_SHOWN) + 1),
        "generations_shown": f":{DECAY_SHOWN}",
        "meters": page.generations <= METERS,
        "before": to(first - COMPACTIONS) if first else "",
        "after": to(after) if after < len(page.compactions) else "",
        "decay_before": to(decay=decay - DECAY_ROWS) if decay else "",
        "decay_after": to(decay=decay_after) if decay_after < len(page.decay) else "",
        "first": first + 1,
        "last": min(after, len(page.compactions)),
        "decay_first": decay + 1,
        "decay_last": min(decay_after, len(page.decay)),
    }


@require_GET
def ledger(request: HttpRequest, uid: UUID, number: int, micro: bool = False) -> HttpResponse:
    """The facts of one compaction; `?verdict=` and `?kind=` narrow them."""
    session = open_session(request, uid).session
    found, _ = audits.open_audit(session)
    if found is None:
        return redirect("audit", uid=uid)
    verdict, kind = request.GET.get("verdict", ""), request.GET.get("kind", "")
    verdict, kind = verdict if verdict in reads.VERDICTS else "", kind if kind in reads.KINDS else ""
    query = reads.LedgerQuery(verdict, kind, number_in(request, "from") or 0, number_in(request, "came") or 0)
    page = reads.ledger_page(found, number, micro, query)
    if page is None:
        raise Http404("The session has no such compaction, or it has not been audited yet.")
    address = reverse("micro-ledger" if micro else "ledger", args=[uid, number])
    values = {"nav": "sessions", "session": session, "page": page, "line": page.line}
    values |= _open_and_folded(page, kind) | _ways(address, page, verdict, kind)
    return render(request, "pages/ledger.html", values)


def _open_and_folded(page: reads.LedgerPage, kind: str) -> dict[str, Any]:
    """What of a ledger stands open and what is folded; facts of one kind that somebody asked for stand open."""
    shown, kinds = folded_facts(page.facts) if not kind else (len(page.facts), [])
    came = open_groups(page.came)
    return {
        "open_facts": page.facts[:shown],
        "kinds_folded": kinds,
        "open_came": page.came[:came],
        "came_folded": page.came[came:],
        "came_folded_single": sum(group.count for group in page.came[came:]),
    }


def _ways(address: str, page: reads.LedgerPage, verdict: str, kind: str) -> dict[str, Any]:
    """The addresses that a ledger leads to: narrowed, and its other pages."""

    def to(first: int = page.first, came: int = page.came_first, **other: str) -> str:
        return _link(address, **{"verdict": verdict, "kind": kind, "from": first, "came": came, **other})

    after, came_after = page.first + reads.FACTS, page.came_first + reads.GROUPS
    return {
        "verdict": verdict,
        "kind": kind,
        "verdicts": [
            (name, count, to(0, verdict="" if name == verdict else name))
            for name, count in page.line.counts
            if count
        ],
        "kinds": [(name, count, to(0, kind="" if name == kind else name)) for name, count in page.kinds],
        "before": to(page.first - reads.FACTS) if page.first else "",
        "after": to(after) if after < page.matching else "",
        "came_before": to(came=page.came_first - reads.GROUPS) if page.came_first else "",
        "came_after": to(came=came_after) if came_after < page.came_all else "",
        "here": address,
        "last": page.first + len(page.facts),
        "came_last": page.came_first + len(page.came),
    }


@require_GET
def report(request: HttpRequest, uid: UUID, number: int | None = None, micro: bool = False) -> HttpResponse:
    """A session's audit, or one compaction's, as one HTML file that needs nothing else, to send to somebody.

    `?redact` takes secrets out by their shape and name.
    """
    session = open_session(request, uid).session
    found, _ = audits.open_audit(session)
    if found is None:
        return redirect("audit", uid=uid)
    page = reads.audit_page(session, found)
    wanted = [one for one in page.compactions if number is None or (one.number, one.micro) == (number, micro)]
    if number is not None and not wanted:
        raise Http404("The session has no such compaction.")
    of_these = {(one.number, one.micro) for one in wanted}
    values = {
        "session": session,
        "page": page,
        "findings": [
            one for one in page.findings if number is None or (one.compaction, one.micro) in of_these
        ],
        "ledgers": [reads.ledger_page(found, one.number, one.micro, REPORT) for one in wanted],
        "redacted": "redact" in request.GET,
    }
    text = str(render_to_string("reports/audit.html", values))
    if values["redacted"]:
        text = redact(text)
    response = HttpResponse(text, content_type="text/html; charset=utf-8")
    part = "" if number is None else f"-{'micro-' if micro else ''}compaction-{number}"
    response["Content-Disposition"] = f'attachment; filename="audit-{session.uid.hex[:8]}{part}.html"'
    return response


@require_POST
def dismiss(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Put a finding aside, or take it back."""
    session = open_session(request, uid).session
    dismissed = request.POST.get("dismissed", "1") == "1"
    if not audits.dismiss(session, request.POST.get("key", "")[:80].replace("\x00", ""), dismissed):
        raise Http404("There is no such finding; it may be gone since the session was read again.")
    back = request.POST.get("back", "")
    if back == "session":
        return redirect("session", uid=uid)
    return redirect(reverse("audit", args=[uid]) + ("" if dismissed else "?all"))


def _link(address: str, **values: object) -> str:
    query = urlencode({name: value for name, value in values.items() if value})
    return f"{address}?{query}" if query else address


urlpatterns = [
    path("sessions/<uuid:uid>/audit", audit, name="audit"),
    path("sessions/<uuid:uid>/audit/<place:number>", ledger, name="ledger"),
    path("sessions/<uuid:uid>/audit/micro/<place:number>", ledger, {"micro": True}, name="micro-ledger"),
    path("sessions/<uuid:uid>/audit/report.html", report, name="audit-report"),
    path("sessions/<uuid:uid>/audit/<place:number>/report.html", report, name="ledger-report"),
    path(
        "sessions/<uuid:uid>/audit/micro/<place:number>/report.html",
        report,
        {"micro": True},
        name="micro-ledger-report",
    ),
    path("sessions/<uuid:uid>/findings", dismiss, name="dismiss"),
]
