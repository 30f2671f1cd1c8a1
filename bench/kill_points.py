"""Places in a compaction where `bench.kills` kills: loaded by its workers (celery -I), never by the product.

    asking      the request is with the model
    answered    the model's answer is stored, nobody has read it
    committing  everything is written, the transaction is still open
    committed   it is closed, and the run's task has not ended
    running     any of these, and what lies between them

Whoever comes to one leaves a file `<place>-<pid>-<run>` in the folder KILL_POINTS and, now and then, waits a moment.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from contextlab.services.compaction import performing
from contextlab.services.compaction.models import KeepingModel
from contextlab.services.work import Outcome, Work

FOLDER = Path(os.environ["KILL_POINTS"])
WAITS = float(os.environ.get("KILL_WAITS", "0.3"))
"""Share of the times at which somebody waits, and for how many seconds at most."""


@contextmanager
def _here(place: str, run: str, wait: bool = True) -> Iterator[None]:
    sign = FOLDER / f"{place}-{os.getpid()}-{run}"
    sign.touch()
    try:
        if wait and random.random() < WAITS:
            time.sleep(random.uniform(0, WAITS))
        yield
    finally:
        sign.unlink(missing_ok=True)


_complete, _commit, _perform = KeepingModel.complete, performing.commit, performing.perform


def complete(self: KeepingModel, *given: Any, **options: Any) -> Any:
    run = self._work.run.uid.hex
    with _here("asking", run, wait=False):
        reply = _complete(self, *given, **options)
    with _here("answered", run):
        return reply


def commit(work: Work, *given: Any, **options: Any) -> Any:
    result = _commit(work, *given, **options)
    with _here("committing", work.run.uid.hex):
        return result


def perform(work: Work) -> Outcome:
    run = work.run.uid.hex
    with _here("running", run, wait=False):
        outcome = _perform(work)
        with _here("committed", run):
            return outcome


KeepingModel.complete = complete  # type: ignore[method-assign]
performing.commit = commit
performing.perform = perform
