"""The audit of a session over the API: as the command line tells it; findings put aside and taken back."""

from __future__ import annotations

from dataclasses import asdict
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from contextlab import tasks
from contextlab.api.base import ApiView
from contextlab.api.errors import bad_value, not_found
from contextlab.api.runs import run_values
from contextlab.queries import audit as reads
from contextlab.services import audits


class AuditOne(ApiView):
    """GET /api/sessions/{id}/audit/"""

    @extend_schema(responses={200: OpenApiTypes.OBJECT, 202: OpenApiTypes.OBJECT})
    def get(self, request: Request, uid: UUID) -> Response:  # noqa: ARG002
        """What each compaction lost or changed, and what came of it. 202 with a run while it is made."""
        session = self.open_session(uid)
        found, run = audits.open_audit(session)
        if run is not None:
            tasks.ring([run])
        if found is None and run is not None:
            return Response({"run": run_values(self.workspace, run.uid)}, status=202)
        assert found is not None  # one of the two is there
        answer = reads.payload(found)
        answer = reads.with_ids(answer, reads.native_ids(session, reads.positions_in(answer)))
        return Response({**answer, "current": run is None, "made_at": found.made_at})


class FindingList(ApiView):
    """GET and POST /api/sessions/{id}/findings/"""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, uid: UUID) -> Response:  # noqa: ARG002
        """What to look at, those put aside too."""
        rows = reads.findings(self.open_session(uid), dismissed=True)
        return Response({"results": [asdict(row) for row in rows]})

    @extend_schema(request=OpenApiTypes.OBJECT, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, uid: UUID) -> Response:
        """Put a finding aside, or take it back: keys key, dismissed."""
        session = self.open_session(uid)
        given = request.data if isinstance(request.data, dict) else {}
        key, dismissed = given.get("key"), given.get("dismissed", True)
        if not isinstance(key, str) or not isinstance(dismissed, bool):
            raise bad_value("body", "The body needs the key of a finding; dismissed is true or false.")
        if not audits.dismiss(session, key[:80].replace("\x00", ""), dismissed):
            raise not_found("finding of this session", "body: key")
        return self.get(request, uid)
