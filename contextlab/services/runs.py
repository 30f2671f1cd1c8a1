"""Runs as rows: asked for once, claimed by conditional update, ended only by whoever holds the token.

    queued -> running(token, lease, attempts) -> done | noop | conflict | failed | cancelled

Nothing here depends on the queue: a message is a doorbell that may ring twice or never. `due` names the runs that
should be rung now, a few more than there are workers, so that thousands of queued files cost no thousands of messages.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import IntEnum
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.utils import timezone

from contextlab.core.errors import Interrupt
from contextlab.core.redaction import redact
from contextlab.store.models import FINISHED, Run, RunState, Workspace

LEASE = timedelta(seconds=20)
"""How long a worker that gives no sign keeps its run; a living one renews it three times in that span."""

ATTEMPTS = 3
BACK_OFF = (timedelta(seconds=2), timedelta(seconds=20))
"""Pause before the second and the third attempt of a run that failed in a way that may pass."""

RUNG_AGAIN = timedelta(seconds=30)
"""After that long a ring that nobody answered counts as lost."""

KEPT = timedelta(days=2)
"""Runs that ended well are forgotten after that."""

WORKER_LOST = "The worker died three times while it was at this. It can be started again."


class Priority(IntEnum):
    """Lower goes first."""

    NOW = 0
    """Somebody waits for it."""
    GREW = 1
    FOUND = 2
    LATER = 3


class Lost(Interrupt):
    """The run belongs to somebody else now (or is gone): stop, and leave everything as it is."""


class Cancelled(Interrupt):
    """A person asked to stop."""


class Refused(Interrupt):
    """It cannot be done, and trying again would not help; the message says why, for people."""


class TryAgain(Interrupt):
    """It failed in a way that may pass; the message says why, for people."""

    def __init__(self, message: str, after: float | None = None) -> None:
        """`after`: seconds to wait at least, where somebody asked for it."""
        super().__init__(message)
        self.after = after


@dataclass(slots=True)
class Claim:
    """A run that is ours as long as its row holds `token`."""

    run: Run
    token: UUID


def request(
    workspace: Workspace,
    kind: str,
    key: str,
    *,
    target: str = "",
    params: dict[str, Any] | None = None,
    parent: Run | None = None,
    priority: Priority = Priority.NOW,
    total: int | None = None,
    unit: str = "",
    pause: float = 0,
) -> tuple[Run, bool]:
    """The queued or running run of this key, and whether it is new: asking twice gives one run.

    A new one waits for `pause` seconds.
    """
    later = timezone.now() + timedelta(seconds=pause) if pause else None
    while True:
        if (run := Run.objects.filter(idempotency_key=key).first()) is not None:
            return run, False
        try:
            with transaction.atomic():
                run = Run.objects.create(
                    workspace=workspace, kind=kind, idempotency_key=key, target=target, params=params or {},
                    parent=parent, priority=priority, total=total, unit=unit, not_before=later,
                )  # fmt: skip
        except IntegrityError:
            continue  # somebody else asked at the same moment: take theirs
        return run, True


def hurry(run: Run) -> None:
    """A run that waits of its own accord, not because an attempt failed, waits no longer."""
    if run.not_before is not None:
        Run.objects.filter(pk=run.pk, state=RunState.QUEUED, attempts=0).update(not_before=None, rung_at=None)
        run.refresh_from_db()


def claimable(now: datetime) -> Q:
    """Runs that may be claimed: queued and due, or running without a sign of life."""
    due_now = Q(not_before=None) | Q(not_before__lte=now)
    return Q(state=RunState.QUEUED) & due_now | Q(state=RunState.RUNNING, lease_until__lt=now)


def claim(uid: UUID | str) -> Claim | None:
    """Take a run, or None when it is taken, finished, gone, not due, or was attempted too often (it then fails)."""
    now = timezone.now()
    run = Run.objects.filter(claimable(now), uid=uid).first()
    if run is None:
        return None
    same = Run.objects.filter(claimable(now), pk=run.pk, attempts=run.attempts)
    if run.attempts >= ATTEMPTS:
        _end(run, same, RunState.FAILED, error=WORKER_LOST, retryable=True)
        return None
    token = uuid4()
    run.state, run.token, run.lease_until = RunState.RUNNING, token, now + LEASE
    run.started_at = run.started_at or now
    taken = same.update(
        state=run.state, token=token, lease_until=run.lease_until, started_at=run.started_at,
        attempts=F("attempts") + 1,
    )  # fmt: skip
    run.attempts += 1
    return Claim(run, token) if taken else None


def held(claim: Claim) -> Any:
    """The row of a claim while it is still ours, as a queryset for conditional updates."""
    return Run.objects.filter(pk=claim.run.pk, token=claim.token, state=RunState.RUNNING)


def renew(claim: Claim) -> bool:
    """Another span of lease; False when the run is not ours any more."""
    return bool(held(claim).update(lease_until=timezone.now() + LEASE))


def progress(claim: Claim, **values: Any) -> None:
    """Write `done`, `total`, `doing`; raises Lost or Cancelled. Inside a transaction it fences what is committed."""
    if not held(claim).filter(cancel_requested=False).update(**values):
        raise Cancelled if held(claim).exists() else Lost


def finish(claim: Claim, state: str, result: dict[str, Any]) -> bool:
    """End a run; False (and nothing written) when it is not ours any more."""
    return _end(claim.run, held(claim), state, result=result)


def fail(claim: Claim, message: str, retryable: bool, after: float | None = None) -> bool:
    """End a run as failed, or queue it again after a pause when trying again may help and attempts are left.

    `after`: seconds that the pause has at least (an hour at most).
    """
    message = redact(message)[:2000]
    if retryable and claim.run.attempts < ATTEMPTS:
        least = timedelta(seconds=min(after or 0, 3600))
        pause = timezone.now() + max(BACK_OFF[claim.run.attempts - 1], least)
        return bool(
            held(claim).update(
                state=RunState.QUEUED,
                token=None,
                lease_until=None,
                rung_at=None,
                not_before=pause,
                error=message,
            )
        )
    return _end(claim.run, held(claim), RunState.FAILED, error=message, retryable=retryable)


def wait_for_children(claim: Claim) -> None:
    """Hand the run over to its children: it holds no lease and ends with the last of them."""
    with transaction.atomic():
        if not held(claim).update(token=None, lease_until=None):
            raise Lost
        _end_of_parent(claim.run.pk)


def cancel(run: Run) -> None:
    """Stop a run and its children: what is queued ends at once, what runs ends at its next batch."""
    with transaction.atomic():
        family = Run.objects.filter(Q(pk=run.pk) | Q(parent=run)).exclude(state__in=FINISHED)
        family.update(cancel_requested=True)
        for member in family.filter(state=RunState.QUEUED).order_by("-id"):
            _end(member, Run.objects.filter(pk=member.pk, state=RunState.QUEUED), RunState.CANCELLED)


def due(now: datetime | None = None) -> list[Run]:
    """Runs to ring now, the most urgent first; they are marked as rung.

    Whoever asks gets others: a run that was rung is due again only after RUNG_AGAIN. That holds for those whose worker
    died as well, else every message about one would call forth more of them.
    """
    now = now or timezone.now()
    unanswered = Q(rung_at=None) | Q(rung_at__lt=F("lease_until")) | Q(rung_at__lt=now - RUNG_AGAIN)
    dead = Run.objects.filter(unanswered, state=RunState.RUNNING, lease_until__lt=now)
    lost = list(dead.order_by("priority", "id")[: window()])
    fresh = Q(state=RunState.RUNNING, lease_until__gte=now) | Q(
        state=RunState.QUEUED, rung_at__gte=now - RUNG_AGAIN
    )
    room = max(0, window() - Run.objects.filter(fresh).count())
    unrung = Q(rung_at=None) | Q(rung_at__lt=now - RUNG_AGAIN)
    waiting = Run.objects.filter(claimable(now) & unrung, state=RunState.QUEUED)
    found = lost + list(waiting.order_by("priority", "id")[:room])
    mark_rung(found, now)
    return found


def first_waiting() -> Run | None:
    """The most urgent run that could be begun now, rung or not; also one whose worker died."""
    return Run.objects.filter(claimable(timezone.now())).order_by("priority", "id").first()


def window() -> int:
    """How many runs may be rung and unanswered: enough to keep each worker busy."""
    return 2 * int(settings.CELERY_WORKER_CONCURRENCY) + 2


def mark_rung(runs: Iterable[Run], now: datetime | None = None) -> None:
    """Note that the bell was rung for these."""
    Run.objects.filter(pk__in=[run.pk for run in runs]).update(rung_at=now or timezone.now())


def reap(now: datetime | None = None) -> list[Run]:
    """Runs to ring, after ending the parents whose last child ended unnoticed."""
    for pk in Run.objects.filter(state=RunState.RUNNING, lease_until=None).values_list("pk", flat=True):
        with transaction.atomic():
            _end_of_parent(pk)
    return due(now)


def forget_old(now: datetime | None = None) -> None:
    """Remove runs that ended well some days ago; failed ones stay until somebody has seen to them."""
    ended = Run.objects.filter(finished_at__lt=(now or timezone.now()) - KEPT, parent=None)
    ended = ended.filter(compaction=None)  # its run is what a compaction is known by
    ended.filter(state__in=(RunState.DONE, RunState.NOOP, RunState.CANCELLED)).delete()


def _end(run: Run, rows: Any, state: str, **values: Any) -> bool:
    """Write the end of a run if `rows` still holds it, and count it at its parent, in one transaction."""
    with transaction.atomic():
        ended = rows.update(
            state=state, finished_at=timezone.now(), idempotency_key=None, token=None, lease_until=None,
            doing="", **values,
        )  # fmt: skip
        if ended and run.parent_id is not None:
            # The update locks the parent's row: of two last children one sees that it is the last.
            Run.objects.filter(pk=run.parent_id).update(done=F("done") + 1)
            _end_of_parent(run.parent_id)
    return bool(ended)


def _end_of_parent(pk: int) -> None:
    """End a run that waits for its children when none is left."""
    waiting = Run.objects.select_for_update().filter(pk=pk, state=RunState.RUNNING, lease_until=None)
    parent = waiting.first()
    if parent is None or parent.children.exclude(state__in=FINISHED).exists():
        return
    states = list(parent.children.values_list("state", flat=True))
    counts = {str(state): states.count(state) for state in set(states)}
    state = RunState.CANCELLED if parent.cancel_requested else RunState.DONE
    _end(parent, waiting, state, done=len(states), result={**parent.result, "ended": counts})
