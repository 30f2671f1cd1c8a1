"""Task: scan."""

from __future__ import annotations

from celery import shared_task

from contextlab.services import runs, scan
from contextlab.services.work import execute
from contextlab.tasks.ringing import ring


@shared_task(name="contextlab.scan")
def scan_logs(uid: str) -> None:
    """Look through the agents' own folders and queue what is found."""
    ring([*execute(uid, scan.perform), *runs.due()])
