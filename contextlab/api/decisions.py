"""The decision log of a view: where its policy's compaction was evaluated, and what that came to."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from contextlab.api.base import MOST, PAGE, ApiView, number_in, text_in
from contextlab.api.errors import bad_value
from contextlab.api.paging import page
from contextlab.api.schema import CURSOR, LIMIT, VIEW, query
from contextlab.core.replaying.decisions import OUTCOMES
from contextlab.queries.decisions import RANGE_COLUMNS, decision_log, decisions_of, policy_changes
from contextlab.queries.keyset import Key
from contextlab.queries.live import live_name
from contextlab.services.live.deciding import settle_of
from contextlab.store.models.policies import PolicyDecisions


class DecisionList(ApiView):
    """GET /api/sessions/{id}/decisions/"""

    @extend_schema(
        responses=OpenApiTypes.OBJECT,
        parameters=[
            VIEW,
            query("outcome", "only runs of steps that came to this", enum=list(OUTCOMES)),
            query("each", "1: one line for each step, from `from` on, `limit` of them"),
            query("from", "only steps from this one on", int),
            CURSOR,
            LIMIT,
        ],
    )
    def get(self, request: Request, uid: UUID) -> Response:
        """Where a compaction fired under the view's policy, and where it was evaluated and did not, with the figures.

        Neighbouring steps that came to the same are one run; `lowest` and `highest` are those of its estimates.
        `policy_changes` are those of a live session, newest first, each with its time and the first step under it.
        """
        opened = self.open_view(request, uid)
        settle_of(opened.session)
        outcome, first = text_in(request, "outcome", 20), number_in(request, "from", 1) or 1
        if outcome and outcome not in OUTCOMES:
            raise bad_value("query: outcome", f"outcome must be one of {', '.join(OUTCOMES)}.")
        totals: dict[str, Any] = {"steps": decision_log(opened.view_id, most=0).steps}
        if live_name(opened.session) == opened.name:
            totals["policy_changes"] = [asdict(change) for change in policy_changes(opened.view_id)]
        if text_in(request, "each", 4) == "1":
            most = number_in(request, "limit", 1, MOST) or PAGE
            lines = decisions_of(opened.view_id, first, first + most - 1)
            shown = [asdict(line) for line in lines if not outcome or line.outcome == outcome]
            return Response({**totals, "results": shown, "next": None, "previous": None})
        rows = PolicyDecisions.objects.filter(view_id=opened.view_id, last_step__gte=first)
        rows = rows.filter(outcome=outcome) if outcome else rows
        return Response({**totals, **page(request, rows, [Key("first_step", int)], RANGE_COLUMNS, _range)})


def _range(values: dict[str, Any]) -> dict[str, Any]:
    return values | {"reason": values["reason"] or None, "rule": values["rule"] or None}
