"""Task: scan."""

from __future__ import annotations

from celery import shared_task

from contextlab.services import scan
from contextlab.tasks.working import work_off


@shared_task(name="contextlab.scan")
def scan_logs(uid: str) -> None:
    """Look through the agents' own folders and queue what is found."""
    work_off(uid, scan.perform)
