"""Task: import."""

from __future__ import annotations

from celery import shared_task

from contextlab.services import imports, runs
from contextlab.services.work import execute
from contextlab.tasks.ringing import ring


@shared_task(name="contextlab.import")
def import_file(uid: str) -> None:
    """Import the run's file."""
    ring([*execute(uid, imports.perform), *runs.due()])
