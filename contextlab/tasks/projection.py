"""Task: project."""

from __future__ import annotations

from celery import shared_task

from contextlab.services import projection, runs
from contextlab.services.work import execute
from contextlab.tasks.ringing import ring


@shared_task(name="contextlab.project")
def project_view(uid: str) -> None:
    """Make the run's view."""
    ring([*execute(uid, projection.perform), *runs.due()])
