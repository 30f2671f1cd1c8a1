"""Ringing for work that a service queued."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import transaction

from contextlab import tasks
from contextlab.store.models import Run


def ring(runs: Iterable[Run]) -> None:
    """Ring once what was written is committed. A broker that is down fails nothing: the reaper rings again."""
    queued = list(runs)
    transaction.on_commit(lambda: tasks.ring(queued), robust=True)
