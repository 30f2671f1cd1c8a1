"""Task: count."""

from __future__ import annotations

from celery import shared_task

from contextlab.services import counting, runs
from contextlab.services.work import execute
from contextlab.tasks.ringing import ring


@shared_task(name="contextlab.count")
def count_tokens(uid: str) -> None:
    """Count the tokens of the run's file."""
    ring([*execute(uid, counting.perform), *runs.due()])
