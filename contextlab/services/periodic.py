"""What has to be done now and then, by one worker at a time: whoever holds the leased row `periodic`.

Every worker calls `tick` once a second from a thread; the one that holds the lease does the work and gets the runs to
ring. There is no clock process to forget.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from contextlab.services import audits, last_seen, reconcile, runs, uploads, watching
from contextlab.services.live import intake
from contextlab.services.watching import Watcher
from contextlab.store.models import Lease, Run

logger = logging.getLogger(__name__)

NAME = "periodic"
LEASE = timedelta(seconds=10)
EVERY = {
    "reap": 1,
    "watch": 2,
    "beat": 20,
    "live": 10,
    "index": 5,
    "audit": 10,
    "vanished": 60,
    "calibrate": 600,
    "recalibrate": 60,
    "tidy": 600,
}
"""Seconds between two times of each kind of work."""


@dataclass(slots=True)
class Due:
    """What a tick came to: runs to ring, and whether the heartbeat task is to be rung."""

    runs: list[Run] = field(default_factory=list)
    beat: bool = False


class Periodic:
    """One worker's view of the periodic work."""

    def __init__(self, holder: str) -> None:
        self.holder = holder
        self._watcher = Watcher()
        self._next: dict[str, datetime] = {}

    def tick(self, now: datetime | None = None) -> Due:
        """Do what is due, if this worker holds the lease. One failing kind of work does not keep the others back."""
        now = now or timezone.now()
        due = Due()
        if not self._holds_lease(now):
            return due
        work: dict[str, Callable[[], Any]] = {
            "watch": lambda: due.runs.extend(self._watcher.look(now)),
            "reap": lambda: due.runs.extend(runs.reap(now)),
            "live": lambda: due.runs.extend(intake.unread()),
            "beat": lambda: setattr(due, "beat", True),
            "index": lambda: due.runs.extend(last_seen.missing()),
            "audit": lambda: due.runs.extend(audits.missing()),
            "calibrate": lambda: due.runs.extend(reconcile.due(now)),
            "recalibrate": lambda: due.runs.extend(reconcile.outdated()),
            "vanished": watching.note_vanished,
            "tidy": _tidy,
        }
        for name, action in work.items():
            if now >= self._next.get(name, now):
                self._next[name] = now + timedelta(seconds=EVERY[name])
                try:
                    action()
                except Exception:
                    logger.exception("periodic work %r failed", name)
        return due

    def _holds_lease(self, now: datetime) -> bool:
        """Take, keep or be refused the lease; the row is written at half of its time only."""
        row = Lease.objects.filter(name=NAME).first()
        if row is None:
            try:
                with transaction.atomic():
                    Lease.objects.create(name=NAME, holder=self.holder, until=now + LEASE)
            except IntegrityError:
                return False
            return True
        if row.holder == self.holder and row.until and row.until - now > LEASE / 2:
            return True
        free = Q(holder=self.holder) | Q(until__lt=now) | Q(until=None)
        return bool(Lease.objects.filter(free, name=NAME).update(holder=self.holder, until=now + LEASE))


def _tidy() -> None:
    runs.forget_old()
    uploads.discard_left_behind()
    watching.forget_unread()
