"""Tasks: note what a session brought to light, keep user memories."""

from __future__ import annotations

from celery import shared_task

from contextlab.services.memories import observing, users
from contextlab.tasks.working import work_off


@shared_task(name="contextlab.observe")
def observe_session(uid: str) -> None:
    """Note what the run's session brought to light."""
    work_off(uid, observing.perform)


@shared_task(name="contextlab.remember")
def remember(uid: str) -> None:
    """Keep or merge user memories."""
    work_off(uid, users.perform)
