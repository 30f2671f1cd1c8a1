"""Reconciliation of a session's steps, and the calibration of models."""

from __future__ import annotations

from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import FloatField

from contextlab.api.base import MOST, PAGE, ApiView, number_in, number_of
from contextlab.api.errors import bad_value, not_found
from contextlab.api.schema import query
from contextlab.api.shapes import Number, Shape, Text, Time, Yes
from contextlab.core.audit.reconcile import Base, Unexplained
from contextlab.queries.calibrations import calibration_page
from contextlab.queries.reconcile import reconciliation, step_sheet
from contextlab.services.calibrations import use_fitted


class SheetShape(Shape):
    """One step: reported = calibrated + reasoning + base + images + outside + rest."""

    step = Number()
    segment = Number()
    anchor = Yes(help_text="first step of a segment: there the base is what is left, and nothing is checked")
    reported = Number(allow_null=True)
    counted = Number(allow_null=True, help_text="visible items, with the tokenizer")
    calibrated = Number(allow_null=True, help_text="visible items; with reasoning where that is null")
    reasoning = Number(allow_null=True, help_text="hidden reasoning, calibrated; null: not told apart")
    base = Number(allow_null=True)
    base_holds = Text(help_text="; ".join(Base))
    images = Number()
    outside = Number(help_text="what entered or left (below 0) unseen, as the findings up to here say")
    rest = Number(allow_null=True)
    band = Number(allow_null=True, help_text="half-width of the rest's band: 95 of 100 lie inside")
    beyond_band = Yes()
    from_anchor = Number(allow_null=True, help_text="the rest, and what was found since the anchor")
    since_last = Number(allow_null=True, help_text="what is off by this step alone")
    unexplained = Text(allow_null=True, help_text=", ".join(Unexplained))


class InUseShape(Shape):
    """What a model is calibrated with: tokens = ratio x count + per_block for each content block."""

    origin = Text(
        help_text="table (comes with the program), measured (the table's, its band from here), fitted"
    )
    ratio = FloatField()
    per_block = FloatField()
    band = FloatField(help_text="95 of 100 lie inside; 0.06 = plus or minus 6 %")
    steps = Number(help_text="that it was fitted to; 0 for the table")
    sessions = Number()
    since = Text(help_text="the day on which it came into use; empty for the table")


class CalibratedWith(Shape):
    """A model of a session, and what its figures are calibrated with."""

    model = Text()
    used = InUseShape()


class ReconciliationShape(Shape):
    """A session's figures; errors are shares of the reported input."""

    calibrations = CalibratedWith(many=True)
    outdated = Yes(help_text="something else is in force by now: the figures are made anew in the background")

    steps = Number()
    reported = Number()
    segments = Number()
    compared = Number()
    error_p50 = FloatField(allow_null=True, help_text="of the rest")
    error_p90 = FloatField(allow_null=True, help_text="of the rest")
    step_error_p90 = FloatField(allow_null=True, help_text="anchored anew at each step")
    beyond_band = Number()
    inside_band = FloatField(allow_null=True, help_text="share of compared steps inside their band")
    unexplained_total = Number()
    unexplained = SheetShape(many=True)
    results = SheetShape(many=True, source="sheets")


class CalibrationShape(Shape):
    """A model: what its sessions say, and what is in use."""

    model = Text()
    steps = Number()
    steps_needed = Number(help_text="for the fit to be used")
    sessions = Number()
    sessions_needed = Number()
    ratio = FloatField(allow_null=True)
    per_block = FloatField(allow_null=True)
    error_p50 = FloatField(allow_null=True, help_text="tokens")
    error_p90 = FloatField(allow_null=True, help_text="tokens")
    band = FloatField(allow_null=True, help_text="of the fit, over sessions that it was held out from")
    table_band = FloatField(allow_null=True, help_text="of the table, over the same steps")
    used = InUseShape()
    unused = Text(
        help_text="why the fit is not used: more_steps, more_sessions, own_tokenizer, no_better; or empty"
    )
    fitted_at = Time()


class CalibrationsShape(Shape):
    """All models of the workspace."""

    fitted = Yes(help_text="whether fits are used where they rest on enough")
    waiting = Number(
        help_text="views that follow an earlier calibration, and are made anew in the background"
    )
    results = CalibrationShape(many=True, source="lines")


class ReconciliationOne(ApiView):
    """GET /api/sessions/{id}/reconciliation/"""

    @extend_schema(
        responses=ReconciliationShape,
        parameters=[
            query("first", "first step; 1 without it", int),
            query("limit", "steps, at most 1,000", int),
        ],
    )
    def get(self, request: Request, uid: UUID) -> Response:
        """What the provider reported against what the log shows, step by step, and what all of it comes to."""
        first, most = number_in(request, "first", 1) or 1, number_in(request, "limit", 1, MOST) or PAGE
        return Response(ReconciliationShape(reconciliation(self.open_session(uid), first, most)).data)


class StepReconciliation(ApiView):
    """GET /api/sessions/{id}/steps/{step}/reconciliation/"""

    @extend_schema(responses=SheetShape)
    def get(self, request: Request, uid: UUID, number: int) -> Response:  # noqa: ARG002 - what DRF calls
        """The sheet of one step."""
        sheet = step_sheet(self.open_session(uid), number_of(number, "step"))
        if sheet is None:
            raise not_found("step")
        return Response(SheetShape(sheet).data)


class CalibrationList(ApiView):
    """/api/calibration/"""

    @extend_schema(responses=CalibrationsShape)
    def get(self, request: Request) -> Response:  # noqa: ARG002 - what DRF calls
        """What was learnt of models from all sessions, beside what is in use."""
        return Response(CalibrationsShape(calibration_page(self.workspace)).data)

    @extend_schema(request=OpenApiTypes.OBJECT, responses=CalibrationsShape)
    def put(self, request: Request) -> Response:
        """Key fitted: use fits where they rest on enough, or the table alone. Views are made anew in the background."""
        wanted = request.data.get("fitted") if isinstance(request.data, dict) else None
        if not isinstance(wanted, bool):
            raise bad_value("body: fitted", "fitted must be true or false.")
        use_fitted(self.workspace, wanted)
        return Response(CalibrationsShape(calibration_page(self.workspace)).data)
