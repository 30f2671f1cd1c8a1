"""What was learnt of models, beside what is in use: the figures of the calibration page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from contextlab.core.audit.calibrate import LEAST
from contextlab.core.measuring.models import calibration_for
from contextlab.store.models import ModelCalibration


@dataclass(frozen=True, slots=True)
class CalibrationLine:
    """One model. `ratio` and `per_block` are None where there are too few steps for a fit."""

    model: str
    steps: int
    steps_needed: int
    sessions: int
    ratio: float | None
    per_block: float | None
    error_p50: float | None
    """Tokens by which single steps are off, under the fit."""
    error_p90: float | None
    used_ratio: float
    """What projections calibrate with: the table that comes with the program."""
    used_per_block: float
    used_band: float
    outside_band: bool
    """Whether the fit and what is in use differ by more than the band that is shown."""
    fitted_at: datetime


def calibration_lines(workspace_id: int) -> Sequence[CalibrationLine]:
    """All models of a workspace, most steps first."""
    rows = ModelCalibration.objects.filter(workspace_id=workspace_id).order_by("-steps", "model")
    return [_line(row) for row in rows]


def _line(row: ModelCalibration) -> CalibrationLine:
    used = calibration_for(row.model)
    outside = False
    if row.ratio is not None and row.per_block is not None:
        # Compared where it matters: a block of 300 tokens, about the median of recorded sessions.
        ours, theirs = used.ratio * 300 + used.per_block, row.ratio * 300 + row.per_block
        outside = abs(ours - theirs) > used.band * ours
    return CalibrationLine(
        row.model, row.steps, LEAST, row.sessions, row.ratio, row.per_block, row.error_p50, row.error_p90, used.ratio,
        used.per_block, used.band, outside, row.fitted_at,
    )  # fmt: skip
