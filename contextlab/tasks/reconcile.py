"""Task: calibrate."""

from __future__ import annotations

from celery import shared_task

from contextlab.services import reconcile
from contextlab.tasks.working import work_off


@shared_task(name="contextlab.calibrate")
def calibrate_models(uid: str) -> None:
    """Fit the calibration of every model of the workspace."""
    work_off(uid, reconcile.perform)
