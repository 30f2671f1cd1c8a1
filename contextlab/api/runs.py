"""Work in the background: how far a run is, and stopping it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from contextlab.api.base import ApiView
from contextlab.api.errors import not_found
from contextlab.api.shapes import RunShape
from contextlab.queries.runs import run_view
from contextlab.services import runs
from contextlab.store.models import Run, Session, Workspace

SESSIONS_SHOWN = 200


class RunOne(ApiView):
    """GET /api/runs/{id}/"""

    @extend_schema(responses=RunShape)
    def get(self, request: Request, uid: UUID) -> Response:  # noqa: ARG002
        """The state of a run. One that ended well is forgotten after some days, its sessions are not."""
        return Response(run_values(self.workspace, uid))


class RunCancel(ApiView):
    """POST /api/runs/{id}/cancel/"""

    @extend_schema(request=None, responses=RunShape)
    def post(self, request: Request, uid: UUID) -> Response:  # noqa: ARG002
        """Ask a run to stop: at once if it waits, at its next batch if it works. What was read so far is kept."""
        run = Run.objects.filter(workspace=self.workspace, uid=uid).first()
        if run is None:
            raise not_found("run")
        runs.cancel(run)
        return Response(run_values(self.workspace, uid))


def run_values(workspace: Workspace, uid: UUID) -> dict[str, Any]:
    """A run as RunShape writes it; 404 when the workspace has none of this id."""
    found = run_view(workspace.pk, uid)
    if found is None:
        raise not_found("run")
    sessions: list[UUID] = []
    if found.kind == Run.Kind.IMPORT and found.target:
        rows = Session.objects.filter(workspace=workspace, file__uid=found.target).order_by("role", "id")
        sessions = list(rows.values_list("uid", flat=True)[:SESSIONS_SHOWN])
    names = (
        "uid",
        "kind",
        "state",
        "doing",
        "done",
        "total",
        "unit",
        "name",
        "result",
        "retryable",
        "cancel_requested",
    )
    values: dict[str, Any] = {name: getattr(found, name) for name in names}
    values |= {"sessions": sessions, "error": found.error or None, "finished_at": found.finished_at}
    return dict(RunShape(values).data)
