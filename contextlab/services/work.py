"""Doing a run: claim it, keep its lease alive from a side thread, end it whatever happens."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import Any
from uuid import UUID

from django.db import connection

from contextlab.services import runs
from contextlab.services.runs import Cancelled, Claim, Lost, Refused, TryAgain
from contextlab.store.models import Run, RunState

logger = logging.getLogger(__name__)


class Counting(Enum):
    """How much an import counts itself; the rest is left to a run of its own."""

    NONE = "none"
    SMALL = "small"
    ALL = "all"


Progress = Callable[[int, int | None, str], None]
"""Told `done`, `total` and what is being done."""


@dataclass(slots=True)
class Outcome:
    """What doing a run came to, and the runs that it queued."""

    state: str = RunState.DONE
    result: dict[str, Any] = field(default_factory=dict)
    queued: list[Run] = field(default_factory=list)
    waits: bool = False
    """It goes on in its children and ends with the last of them."""


class Work:
    """A run in somebody's hands. `check_in` fences a transaction and reports progress."""

    def __init__(
        self, claim: Claim, on_progress: Progress | None = None, counting: Counting = Counting.SMALL
    ) -> None:
        self.claim = claim
        self.run = claim.run
        self.counting = counting
        self._on_progress = on_progress
        self.ended = False

    def check_in(self, done: int, total: int | None, doing: str) -> None:
        """Write progress; raises Lost when the run is not ours any more and Cancelled when it shall stop.

        Called inside a transaction it makes sure that nothing is committed for a run that is lost.
        """
        runs.progress(self.claim, done=done, total=total, doing=doing[:200])
        if self._on_progress is not None:
            self._on_progress(done, total, doing)

    def still_ours(self, doing: str) -> None:
        """As `check_in`, for work behind what `done` counts."""
        runs.progress(self.claim, doing=doing)

    def end(self, result: dict[str, Any]) -> None:
        """End the run as done, inside the transaction that commits what came of it; raises Lost.

        Ended behind it, the run of a worker that dies in between would be done a second time: nothing may be lost
        by that, but what is not the same when it is done again would be doubled.
        """
        if not runs.finish(self.claim, RunState.DONE, result):
            raise Lost
        self.ended = True


Action = Callable[[Work], Outcome]


def execute(
    uid: UUID | str, action: Action, on_progress: Progress | None = None, counting: Counting = Counting.SMALL
) -> list[Run]:
    """Do the run if it can be claimed; returns the runs that it queued.

    Never raises for what the action does: a failure becomes the run's state, with its reason in people's words.
    """
    claim = runs.claim(uid)
    if claim is None:
        return []
    with _heartbeat(claim):
        return _do(Work(claim, on_progress, counting), action)


def _do(work: Work, action: Action) -> list[Run]:
    try:
        outcome = action(work)
        if outcome.waits:
            runs.wait_for_children(work.claim)
        elif not work.ended:
            runs.finish(work.claim, outcome.state, outcome.result)
    except Lost:
        logger.warning("run %s was taken over by another worker", work.run.uid)
    except Cancelled:
        runs.finish(work.claim, RunState.CANCELLED, {})
    except Refused as error:
        runs.fail(work.claim, str(error), retryable=False)
    except TryAgain as error:
        runs.fail(work.claim, str(error), retryable=True, after=error.after)
    except Exception as error:
        logger.exception("run %s (%s) failed", work.run.uid, work.run.kind)
        runs.fail(work.claim, f"{type(error).__name__}: {error}", retryable=True)
    except BaseException:
        # Ctrl-C on the command line: the run must not wait for its lease to end.
        runs.finish(work.claim, RunState.CANCELLED, {})
        raise
    else:
        return outcome.queued
    return []


@contextmanager
def _heartbeat(claim: Claim) -> Iterator[None]:
    """Renew the lease from a side thread: it must not depend on progress, one line may take a minute."""
    stop = threading.Event()
    thread = threading.Thread(target=_beat, args=(claim, stop), name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _beat(claim: Claim, stop: threading.Event) -> None:
    try:
        while not stop.wait(runs.LEASE.total_seconds() / 3):
            try:
                if not runs.renew(claim):
                    return
            except Exception:
                logger.exception("the lease of run %s could not be renewed", claim.run.uid)
    finally:
        connection.close()
