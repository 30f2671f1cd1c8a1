"""One thread in every worker's main process, for what has to be done now and then (services/periodic.py)."""

from __future__ import annotations

import logging
import os
import socket
import threading
from typing import Any

from celery.signals import worker_ready, worker_shutting_down
from django.db import DEFAULT_DB_ALIAS, connections

from contextlab.services.periodic import Periodic
from contextlab.tasks.ringing import ring, ring_heartbeat

logger = logging.getLogger(__name__)

PAUSE = 1.0
"""Seconds between two ticks."""

_stop = threading.Event()


@worker_ready.connect
def start(**_: Any) -> None:
    """Begin with the worker."""
    _stop.clear()
    threading.Thread(target=_run, name="periodic", daemon=True).start()


@worker_shutting_down.connect
def stop(**_: Any) -> None:
    """End with the worker."""
    _stop.set()


def _run() -> None:
    _use_plain_connection()
    periodic = Periodic(f"{socket.gethostname()}:{os.getpid()}")
    while not _stop.wait(PAUSE):
        try:
            due = periodic.tick()
            ring(due.runs)
            if due.beat:
                ring_heartbeat()
        except Exception:
            logger.exception("a periodic tick failed")
        finally:
            # The worker forks its children from this process: nothing may be open then.
            connections.close_all()


def _use_plain_connection() -> None:
    """A pool in this process would be inherited by the children that it forks, sockets and all."""
    plain = connections[DEFAULT_DB_ALIAS].copy()
    plain.settings_dict.get("OPTIONS", {}).pop("pool", None)
    connections[DEFAULT_DB_ALIAS] = plain
