"""Asking for a compaction: one run, however often the button is pressed."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from django.db import IntegrityError, transaction

from contextlab.services import runs
from contextlab.services.compaction.memory import read_memory
from contextlab.services.compaction.models import model_status
from contextlab.services.compaction.planning import open_base, refuse_being_read
from contextlab.services.compaction.requests import BadRequest, CompactRequest, as_values, read_key
from contextlab.store.models import FINISHED, CompactionJob, Run, Session, View

CHECKED_PINS = 500


class KeyTaken(BadRequest):
    """The caller's key is that of another request: what it asks for now is not what the run does."""

    def __init__(self) -> None:
        """One sentence for all of them."""
        super().__init__(
            "idempotency_key", "This key was used for another request: give this one a key of its own."
        )


def request_compaction(session: Session, request: CompactRequest, key: str | None = None) -> tuple[Run, bool]:
    """The run, and whether it is new; raises BadRequest.

    `key` is the caller's: the same request with it again is the same run, also after its end, and another request
    with it raises KeyTaken. Without one, the same request is the same run as long as it has not ended.
    """
    key = read_key(key)
    told = f"{session.uid.hex}:{key}" if key else None
    if told is not None and (known := _known(told, request)) is not None:
        return known, False
    view = _checked(session, request)
    digest = hashlib.sha256((told or as_values(request, view.uid)).encode()).hexdigest()[:48]
    try:
        with transaction.atomic():
            run, new = runs.request(
                session.workspace, Run.Kind.COMPACT, f"compact:{session.uid.hex}:{digest}",
                target=session.uid.hex, params={"session": session.uid.hex}, unit="requests",
            )  # fmt: skip
            if new:
                _job(run, session, view, request, told)
    except IntegrityError:
        # Somebody else used the key at the same moment, and their run may have ended already.
        known = _known(told, request) if told is not None else None
        if known is None:
            raise
        return known, False
    if told is not None and not new:
        _known(told, request)  # they used it for something else
    return run, new


def _known(told: str, request: CompactRequest) -> Run | None:
    """The run of a key; raises KeyTaken where it was asked for something else."""
    job = CompactionJob.objects.select_related("run", "base_view").filter(key=told).first()
    if job is None:
        return None
    asked = (request.view, request.before_step, request.before_compaction, request.policy.hash)
    then = (job.base_view.name, job.before_step, job.before_compaction, job.policy_hash)
    if asked != then or request.instructions != job.instructions or set(request.pins) != set(job.pins):
        raise KeyTaken
    return job.run


def running(session: Session) -> list[Run]:
    """Compactions of the session that have not ended: a further one waits for its turn beside them."""
    rows = Run.objects.filter(kind=Run.Kind.COMPACT, target=session.uid.hex).exclude(state__in=FINISHED)
    return list(rows.order_by("id"))


def beside(job: CompactionJob, request: CompactRequest, key: str | None = None) -> tuple[Run, bool]:
    """Compact the same memory again in another way: a second branch from the same point; raises BadRequest."""
    step = job.at_step if job.at_step is not None and job.at_step <= job.session.steps else job.before_step
    where = {"before_compaction": job.before_compaction} if job.before_compaction else {"before_step": step}
    return request_compaction(job.session, replace(request, view=job.base_view.name, **where), key)


def _checked(session: Session, request: CompactRequest) -> View:
    """The base view of a request that can be carried out."""
    refuse_being_read(session)
    view = open_base(session, request.view)
    for place in ("before_step", "before_compaction"):
        if view.keeps_memory and getattr(request, place) is not None:
            raise BadRequest(place, "This view has one memory, the one in force: leave it empty.")
    if request.policy.needs_model:
        _check_model(request)
    held = read_memory(session, view, request.before_step, request.before_compaction)
    if not held.snapshot.items and not held.snapshot.summary:
        raise BadRequest("session", "There is nothing in this memory yet.")
    known = {item.id for item in held.snapshot.items}
    if missing := [pin for pin in request.pins if pin not in known]:
        raise BadRequest("pins", f"{missing[0]!r} is no item of this memory.")
    return view


def _check_model(request: CompactRequest) -> None:
    status = model_status()
    if not status.allowed:
        raise BadRequest("policy", f"{status.reason} The policy rule-based needs no model.")
    if not request.confirm:
        raise BadRequest("confirm", "This policy asks a model: look at tokens and cost, then confirm.")


def _job(run: Run, session: Session, view: View, request: CompactRequest, key: str | None) -> CompactionJob:
    policy = request.policy
    return CompactionJob.objects.create(
        run=run,
        session=session,
        base_view=view,
        before_step=request.before_step,
        before_compaction=request.before_compaction,
        policy=dict(policy.document),
        policy_hash=policy.hash,
        policy_name=policy.name,
        instructions=request.instructions,
        keep_recent=request.keep_recent,
        pins=list(request.pins),
        trigger=request.trigger,
        allow_model=request.confirm,
        model=model_status().model if policy.needs_model else "",
        key=key,
    )
