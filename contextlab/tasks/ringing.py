"""The doorbell: a message that carries nothing but a run's id."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from celery import current_app
from django.db import transaction

from contextlab.services import runs as rows
from contextlab.store.models import Run

logger = logging.getLogger(__name__)

TASKS = {
    Run.Kind.IMPORT: "contextlab.import",
    Run.Kind.SCAN: "contextlab.scan",
    Run.Kind.COUNT: "contextlab.count",
    Run.Kind.PROJECT: "contextlab.project",
    Run.Kind.COMPACT: "contextlab.compact",
    Run.Kind.CALIBRATE: "contextlab.calibrate",
    Run.Kind.INDEX: "contextlab.index",
    Run.Kind.AUDIT: "contextlab.audit",
    Run.Kind.OBSERVE: "contextlab.observe",
    Run.Kind.REMEMBER: "contextlab.remember",
}
HEARTBEAT = "contextlab.heartbeat"


def ring(runs: Iterable[Run]) -> None:
    """Ring for these runs once the transaction is committed (at once outside of one).

    Of many only the first few are rung, the rest as those end. A broker that is down costs nothing but time: the
    failure is logged, and the reaper rings later.
    """
    some = list({run.pk: run for run in runs}.values())[: rows.window()]
    if some:
        transaction.on_commit(lambda: _send(some), robust=True)


def ring_heartbeat() -> None:
    """Ring for a sign of life; a message that nobody took in a minute is worth nothing."""
    try:
        current_app.send_task(HEARTBEAT, retry=False, expires=60)
    except Exception as error:
        logger.warning("the heartbeat cannot be rung: %s", error)


def _send(runs: list[Run]) -> None:
    rung: list[Run] = []
    for run in runs:
        try:
            current_app.send_task(TASKS[Run.Kind(run.kind)], [run.uid.hex], retry=False)
        except Exception as error:
            logger.warning("the broker cannot be reached, %d runs wait: %s", len(runs) - len(rung), error)
            break
        rung.append(run)
    rows.mark_rung(rung)
