"""The Celery app: its options stand in settings.py under CELERY_."""

from __future__ import annotations

import logging
import os
import sys
import warnings

from celery import Celery
from celery.signals import setup_logging, worker_init, worker_process_init, worker_shutdown
from kombu.transport import TRANSPORT_ALIASES

# Celery warns root because of pickled messages; ours are JSON, and in containers and CI root is common.
warnings.filterwarnings("ignore", message="You're running the worker with superuser privileges")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextlab.config.settings")

TRANSPORT_ALIASES["filesystem"] = "contextlab.config.file_queue:Transport"
app = Celery("contextlab")
# Requests run in threads of their own; only the default app is seen there by shared_task.
app.set_default()
app.config_from_object("django.conf:settings", namespace="CELERY")


@setup_logging.connect
def _keep_our_logging(**_: object) -> None:
    """Django has set logging up, with redaction; a receiver here keeps Celery from replacing it."""


@worker_init.connect
def _load_vocabulary(**_: object) -> None:
    """Load the tokenizer once, before the pool forks: its children share the memory."""
    from contextlab.adapters.tokens import counter

    counter()


@worker_process_init.connect
def _start_pool_process(**_: object) -> None:
    """A pool process must not outlive a worker that was killed, and it reads logs."""
    from contextlab.adapters.processes import exit_when_orphaned, tune_for_reading

    exit_when_orphaned()
    tune_for_reading()


@worker_shutdown.connect
def _leave_at_once(**_: object) -> None:
    """Consumer and pool have stopped. What the interpreter would do now takes a second or two, and can wait for ever
    for a lock of the pool that a killed process still held."""
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
