"""Task: index."""

from __future__ import annotations

from celery import shared_task

from contextlab.services import last_seen
from contextlab.tasks.working import work_off


@shared_task(name="contextlab.index")
def index_sessions(uid: str) -> None:
    """Make the workspace's sessions searchable."""
    work_off(uid, last_seen.perform)
