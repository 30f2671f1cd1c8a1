"""Task: compact."""

from __future__ import annotations

from celery import shared_task

from contextlab.services.compaction import performing
from contextlab.tasks.working import work_off


@shared_task(name="contextlab.compact")
def compact_memory(uid: str) -> None:
    """Do the compaction of the run."""
    work_off(uid, performing.perform)
