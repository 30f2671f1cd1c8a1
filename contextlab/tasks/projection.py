"""Task: project."""

from __future__ import annotations

from celery import shared_task

from contextlab.services import projection
from contextlab.tasks.working import work_off


@shared_task(name="contextlab.project")
def project_view(uid: str) -> None:
    """Make the run's view."""
    work_off(uid, projection.perform)
