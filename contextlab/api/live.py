"""Live sessions: opened, sent what happens, asked for the memory of the next step."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.db import transaction
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from contextlab import tasks
from contextlab.api.base import ApiView, number_in, text_in
from contextlab.api.errors import ApiError, not_found
from contextlab.api.refusals import refusals
from contextlab.core.items import KINDS
from contextlab.core.report import Report
from contextlab.services import compaction
from contextlab.services.live import log
from contextlab.services.live.answering import Given, next_memory
from contextlab.services.live.auto import Evaluated
from contextlab.services.live.changing import change_policy, read_policy_wish
from contextlab.services.live.intake import Taken, take_events
from contextlab.services.live.opening import open_live, read_wish
from contextlab.store.models import Session, View, Workspace


def opened(workspace: Workspace, values: Any) -> Response:
    """POST /api/sessions/: a live session, or the one of that id."""
    with refusals():
        wish = read_wish(values, workspace.pk)
        view, new = open_live(workspace, wish)
    return Response(session_values(view) | {"created": new}, status=201 if new else 200)


def session_values(view: View) -> dict[str, Any]:
    """A live session as its agent knows it."""
    session, at = view.session, f"/api/sessions/{view.session.uid}/"
    return {
        "id": session.uid, "native_id": session.native_id, "view": view.name, "policy": view.policy,
        "allow_model": view.live.allow_model, "steps": session.steps, "items": session.items,
        "events": at + "events/", "memory": f"{at}memory/?view={view.name}", "page": f"/sessions/{session.uid}",
    }  # fmt: skip


def live_view(session: Session) -> View:
    """The view that a session's agent lives in; 404 for sessions that were imported."""
    view = session.views.filter(kind=View.Kind.LIVE).select_related("session__file", "live").first()
    if view is None:
        raise not_found("live session: this one was imported")
    return view


class Events(ApiView):
    """POST /api/sessions/{id}/events/"""

    @extend_schema(
        request={"application/x-ndjson": OpenApiTypes.BINARY}, responses={200: OpenApiTypes.OBJECT}
    )
    def post(self, request: Request, uid: UUID) -> Response:
        """Take in events, one JSON object a line (contextlab-events without its header).

        An event with an id may be sent again: it is taken once. A line that is no event costs itself and is named in
        `skipped`. `decision` is what came of looking whether a compaction is due before the next step.
        """
        view = live_view(self.open_session(uid))
        try:
            taken = take_events(view, _body(request))
        except log.TooMuch as error:
            raise ApiError(413, str(error), place="body") from error
        with transaction.atomic():
            tasks.ring(taken.queued)
        return Response(_taken_values(view, taken))


class LivePolicy(ApiView):
    """POST /api/sessions/{id}/policy/"""

    @extend_schema(request=OpenApiTypes.OBJECT, responses={200: OpenApiTypes.OBJECT})
    def post(self, request: Request, uid: UUID) -> Response:
        """Give a live session another policy: `policy` is a name or a document, `allow_model` lets it ask the model.

        It holds from `from_step` on (null: it is the policy that was); memory stays as it is. The change stands in
        `policy_changes` of the decision log, and `decision` is what the new policy says of the next step.
        """
        view = live_view(self.open_session(uid))
        with refusals():
            changed = change_policy(view, read_policy_wish(request.data, self.workspace.pk))
        with transaction.atomic():
            tasks.ring(changed.queued)
        values = session_values(live_view(self.open_session(uid)))
        told = {"from_step": changed.step, "decision": _decision_values(changed.decision)}
        return Response(values | told)


def _body(request: Request) -> bytes:
    # Django's own request, up to a byte more than is taken; what DRF offers would be parsed first.
    return bytes(request._request.read(log.MOST_BYTES + 1))


def _taken_values(view: View, taken: Taken) -> dict[str, Any]:
    lines = taken.lines
    return {
        "taken": lines.taken,
        "known": lines.known,
        "skipped": [{"line": line, "reason": reason} for line, reason in lines.skipped],
        "skipped_total": lines.skipped_total,
        "read": taken.read,
        "steps": view.session.steps,
        "items": view.session.items,
        "version": taken.version,
        "by_agent": taken.by_agent,
        "decision": _decision_values(taken.decision),
    }


def _decision_values(found: Evaluated | None) -> dict[str, Any] | None:
    if found is None:
        return None
    figures = found.decision
    return {
        "step": found.step,
        "outcome": found.outcome,
        "reason": found.reason or None,
        "rule": figures.rule if figures else None,
        "estimate": figures.estimate if figures else None,
        "threshold": figures.threshold if figures else None,
        "compaction": found.queued[0].uid if found.queued else None,
    }


def memory_answer(request: Request, view: View) -> Response:
    """GET /api/sessions/{id}/memory/ of the live view: what the agent's next step gets."""
    with refusals("query"):
        given = next_memory(
            view,
            text_in(request, "format", 40) or "openai_chat",
            peek=text_in(request, "peek", 1) == "1",
            wait=number_in(request, "wait", 0, 60) or 0,
        )
    return Response(_given_values(given))


def _report_values(report: Report) -> dict[str, Any]:
    """A report under the names of a step's."""
    values = asdict(report)
    del values["head_end"], values["tail_start"]
    return values | {"composition": dict(zip(KINDS, report.composition, strict=False))}


def _given_values(given: Given) -> dict[str, Any]:
    held, context = given.held, given.context
    return {
        "view": held.view.name,
        "version": held.version.version if held.version else None,
        "step": held.at_step,
        "items": held.upto,
        "format": given.format,
        "document": given.document,
        "repairs": given.repairs,
        "report": _report_values(context.report) if context is not None else None,
        "compacting": given.under_way.uid if given.under_way is not None else None,
        "offloads": compaction.offloads_in(held),
    }
