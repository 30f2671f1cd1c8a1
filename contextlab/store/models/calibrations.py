"""What was learnt of models from all sessions of a workspace."""

# ruff: noqa: RUF012, DJ008 - Django reads Meta as it is; most rows never show as text

from __future__ import annotations

from django.db import models

from contextlab.store.models.logs import Workspace


class ModelCalibration(models.Model):
    """From counts to a model's own tokens, fitted to what its provider reported (core.audit.calibrate)."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="calibrations")
    model = models.CharField(max_length=120)
    ratio = models.FloatField(null=True)
    """None where there are too few steps for a fit."""
    per_block = models.FloatField(null=True)
    steps = models.IntegerField()
    """Steps that could be used."""
    sessions = models.IntegerField()
    error_p50 = models.FloatField(null=True)
    """Tokens by which single steps were off."""
    error_p90 = models.FloatField(null=True)
    band = models.FloatField(null=True)
    """Share of what moved that holds 95 of 100 contexts, of sessions that the fit was held out from."""
    table_band = models.FloatField(null=True)
    """The same of the table that comes with the program, over the same steps."""
    used = models.JSONField(null=True)
    """What its figures are calibrated with instead of the table (core.measuring.calibrations); None: the table."""
    fitted_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "model"], name="calibration_model")]
