"""Task: audit."""

from __future__ import annotations

from celery import shared_task

from contextlab.services import audits
from contextlab.tasks.working import work_off


@shared_task(name="contextlab.audit")
def audit_session(uid: str) -> None:
    """Audit the run's session."""
    work_off(uid, audits.perform)
