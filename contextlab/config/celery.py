"""The Celery app: its options stand in settings.py under CELERY_."""

from __future__ import annotations

import os

from celery import Celery
from celery.signals import setup_logging, worker_init, worker_process_init

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextlab.config.settings")

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
def _die_with_parent(**_: object) -> None:
    """A pool process must not outlive a worker that was killed."""
    from contextlab.adapters.processes import die_with_parent

    die_with_parent()
