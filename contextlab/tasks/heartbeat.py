"""Task: a sign of life."""

from __future__ import annotations

from celery import shared_task

from contextlab.services import health


@shared_task(name="contextlab.heartbeat")
def beat() -> None:
    """Note that a worker took a message just now."""
    health.beat()
