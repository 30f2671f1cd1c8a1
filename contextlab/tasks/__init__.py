"""Celery tasks; every module with tasks is imported here by name.

A task takes a run's id, calls a service, and rings for what that returned. `ring(runs)` is the doorbell: whoever queued
runs (pages, API, commands, tasks) calls it.
"""

from contextlab.tasks import (
    audits,
    compaction,
    counting,
    heartbeat,
    imports,
    last_seen,
    memories,
    periodic,
    projection,
    reconcile,
    scan,
)
from contextlab.tasks.ringing import ring

__all__ = [
    "audits",
    "compaction",
    "counting",
    "heartbeat",
    "imports",
    "last_seen",
    "memories",
    "periodic",
    "projection",
    "reconcile",
    "ring",
    "scan",
]
