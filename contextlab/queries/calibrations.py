"""What was learnt of models, beside what is in use: the figures of the calibration page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from contextlab.core.audit.evidence import LEAST_SESSIONS, LEAST_STEPS
from contextlab.core.measuring.calibrations import InUse, Origin, in_use, may_be_fitted, of_table
from contextlab.core.measuring.models import plain_name
from contextlab.store.models import ModelCalibration, View, Workspace

MORE_STEPS, MORE_SESSIONS, OWN_TOKENIZER, NO_BETTER = (
    "more_steps",
    "more_sessions",
    "own_tokenizer",
    "no_better",
)


@dataclass(frozen=True, slots=True)
class CalibrationLine:
    """One model. `ratio` and `per_block` are None where there are too few steps for a fit."""

    model: str
    steps: int
    steps_needed: int
    sessions: int
    sessions_needed: int
    ratio: float | None
    per_block: float | None
    error_p50: float | None
    """Tokens by which single steps are off, under the fit."""
    error_p90: float | None
    band: float | None
    """Of the fit, over sessions that it was held out from."""
    table_band: float | None
    """Of the table that comes with the program, over the same steps."""
    used: InUse
    """What projections calibrate with."""
    unused: str
    """Why the fit is not used; empty where it is."""
    fitted_at: datetime


@dataclass(frozen=True, slots=True)
class CalibrationPage:
    """All models of a workspace, most steps first."""

    fitted: bool
    """Whether fits are used at all."""
    lines: Sequence[CalibrationLine]
    waiting: int
    """Views that follow an earlier calibration, and are made anew by and by."""


def calibration_page(workspace: Workspace) -> CalibrationPage:
    """What the sessions of a workspace say of models, and what is in use."""
    rows = ModelCalibration.objects.filter(workspace=workspace).order_by("-steps", "model")
    waiting = View.objects.filter(session__workspace=workspace, recalibrate=True).exclude(
        kind=View.Kind.BRANCH
    )
    lines = [_line(row, workspace.fitted_calibrations) for row in rows]
    return CalibrationPage(workspace.fitted_calibrations, lines, waiting.count())


def calibrations_of(view: View | None) -> list[tuple[str, InUse]]:
    """What a view is calibrated with, by model; [] where that was not kept."""
    return [(model, in_use(one)) for model, one in ((view.calibrations if view else None) or {}).items()]


def calibration_at(view_id: int | None, model: str | None) -> tuple[InUse | None, bool]:
    """What a view's figures of a model rest on, and whether something else is in use by now."""
    if view_id is None:
        return None, False
    rows = View.objects.filter(pk=view_id).values_list("calibrations", "recalibrate")
    kept, outdated = rows.first() or (None, False)
    one = (kept or {}).get(plain_name(model))
    return None if one is None else in_use(one), outdated


def _line(row: ModelCalibration, fitted: bool) -> CalibrationLine:
    used = in_use(row.used) if row.used and fitted else of_table(row.model)
    return CalibrationLine(
        row.model, row.steps, LEAST_STEPS, row.sessions, LEAST_SESSIONS, row.ratio, row.per_block, row.error_p50,
        row.error_p90, row.band, row.table_band, used, _unused(row, used, fitted), row.fitted_at,
    )  # fmt: skip


def _unused(row: ModelCalibration, used: InUse, fitted: bool) -> str:
    if used.origin == Origin.FITTED or not fitted:
        return ""
    if not may_be_fitted(row.model):
        return OWN_TOKENIZER
    if row.steps < LEAST_STEPS:
        return MORE_STEPS
    return MORE_SESSIONS if row.sessions < LEAST_SESSIONS else NO_BETTER
