"""Task: import."""

from __future__ import annotations

from celery import shared_task

from contextlab.services import imports
from contextlab.tasks.working import work_off


@shared_task(name="contextlab.import")
def import_file(uid: str) -> None:
    """Import the run's file."""
    work_off(uid, imports.perform)
