"""Whether work gets done: the age of what waits and the last sign of a worker, not whether a process exists."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from contextlab.services.runs import Priority
from contextlab.store.models import Lease, Run, RunState

OLDEST = timedelta(seconds=60)
SILENCE = timedelta(seconds=90)
WORKER = "worker"


@dataclass(frozen=True, slots=True)
class Health:
    """What a health check answers. Ages in seconds, None = there is none."""

    ok: bool
    reasons: tuple[str, ...]
    oldest_queued: float | None
    heartbeat: float | None


def beat(now: datetime | None = None) -> None:
    """A sign of life, written by a task: it proves that messages reach a worker and that it reaches the database."""
    Lease.objects.update_or_create(name=WORKER, defaults={"beat_at": now or timezone.now()})


def check(now: datetime | None = None) -> Health:
    """Whether somebody's work waits too long, or no worker gave a sign of life.

    What a scan found may wait for hours, one file after the other; it counts only while nothing is being done.
    """
    now = now or timezone.now()
    oldest, last = (
        _oldest_queued(now),
        Lease.objects.filter(name=WORKER).values_list("beat_at", flat=True).first(),
    )
    reasons = []
    if oldest is not None and now - oldest >= OLDEST:
        reasons.append(f"A run has been waiting for {_seconds(now - oldest)} s; is a worker running?")
    working = Run.objects.filter(state=RunState.RUNNING, lease_until__gte=now).exists()
    if (last is None or now - last >= SILENCE) and not working:
        since = "yet" if last is None else f"for {_seconds(now - last)} s"
        reasons.append(f"No worker has given a sign of life {since}.")
    return Health(
        not reasons,
        tuple(reasons),
        None if oldest is None else (now - oldest).total_seconds(),
        None if last is None else (now - last).total_seconds(),
    )


def _oldest_queued(now: datetime) -> datetime | None:
    """Since when the run that waits longest could have been begun."""
    waiting = Run.objects.filter(state=RunState.QUEUED)
    if Run.objects.filter(state=RunState.RUNNING, lease_until__gte=now).exists():
        waiting = waiting.filter(priority__lt=Priority.FOUND, parent=None)
    moments = [
        max(made, due or made)
        for made, due in waiting.order_by("id").values_list("created_at", "not_before")[:100]
    ]
    return min((moment for moment in moments if moment <= now), default=None)


def _seconds(span: timedelta) -> int:
    return int(span.total_seconds())
