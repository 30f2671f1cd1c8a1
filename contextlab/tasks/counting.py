"""Task: count."""

from __future__ import annotations

from celery import shared_task

from contextlab.services import counting
from contextlab.tasks.working import work_off


@shared_task(name="contextlab.count")
def count_tokens(uid: str) -> None:
    """Count the tokens of the run's file."""
    work_off(uid, counting.perform)
