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
    fitted_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "model"], name="calibration_model")]
