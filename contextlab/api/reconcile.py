"""Reconciliation of a session's steps, and the calibration of models."""

from __future__ import annotations

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import FloatField

from contextlab.api.base import MOST, PAGE, ApiView, number_in, number_of
from contextlab.api.errors import not_found
from contextlab.api.schema import query
from contextlab.api.shapes import Number, Shape, Text, Time, Yes
from contextlab.core.audit.reconcile import Base, Unexplained
from contextlab.queries.calibrations import calibration_lines
from contextlab.queries.reconcile import reconciliation, step_sheet


class SheetShape(Shape):
    """One step: reported = calibrated + base + images + rest."""

    step = Number()
    segment = Number()
    anchor = Yes(help_text="first step of a segment: there the base is what is left, and nothing is checked")
    reported = Number(allow_null=True)
    counted = Number(allow_null=True)
    calibrated = Number(allow_null=True, help_text="visible items and hidden reasoning")
    base = Number(allow_null=True)
    base_holds = Text(help_text="; ".join(Base))
    images = Number()
    rest = Number(allow_null=True)
    band = Number(allow_null=True, help_text="half-width of the rest's band")
    beyond_band = Yes()
    since_last = Number(allow_null=True, help_text="the rest that this step alone added")
    unexplained = Text(allow_null=True, help_text=", ".join(Unexplained))


class ReconciliationShape(Shape):
    """A session's figures; errors are shares of the reported input."""

    steps = Number()
    reported = Number()
    segments = Number()
    compared = Number()
    error_p50 = FloatField(allow_null=True)
    error_p90 = FloatField(allow_null=True)
    step_error_p90 = FloatField(allow_null=True, help_text="anchored anew at each step")
    beyond_band = Number()
    unexplained_total = Number()
    unexplained = SheetShape(many=True)
    results = SheetShape(many=True, source="sheets")


class CalibrationShape(Shape):
    """A model: what its sessions say, and what is in use."""

    model = Text()
    steps = Number()
    steps_needed = Number()
    sessions = Number()
    ratio = FloatField(allow_null=True)
    per_block = FloatField(allow_null=True)
    error_p50 = FloatField(allow_null=True, help_text="tokens")
    error_p90 = FloatField(allow_null=True, help_text="tokens")
    used_ratio = FloatField()
    used_per_block = FloatField()
    used_band = FloatField()
    outside_band = Yes()
    fitted_at = Time()


class CalibrationsShape(Shape):
    """All models of the workspace."""

    results = CalibrationShape(many=True)


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
    """GET /api/calibration/"""

    @extend_schema(responses=CalibrationsShape)
    def get(self, request: Request) -> Response:  # noqa: ARG002 - what DRF calls
        """What was learnt of models from all sessions, beside what is in use."""
        return Response(CalibrationsShape({"results": calibration_lines(self.workspace.pk)}).data)
