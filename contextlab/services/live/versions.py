"""Versions of a live memory: where a new one stands, handing one out, and one that is in force again."""

from __future__ import annotations

from django.db import transaction

from contextlab.queries.live import newest_version
from contextlab.services.compaction.committing import add_version
from contextlab.services.compaction.held import Held
from contextlab.services.compaction.requests import BadRequest
from contextlab.services.live.memory import read_live
from contextlab.store.models import (
    LiveSession,
    LiveVersion,
    MemoryVersion,
    PolicyChange,
    Session,
    View,
)


def place(version: MemoryVersion, upto: int, log_compaction: int | None = None, step: int = 0) -> LiveVersion:
    """Note where a version stands, within the transaction that made it; the view is to be made anew.

    It is that of the next step, or of the one after where the agent has taken the memory of the next one already.
    """
    view = version.view
    live = LiveSession.objects.select_for_update().get(view=view)
    view.session.refresh_from_db(fields=["steps"])
    coming = step or coming_step(live, view.session)
    last = newest_version(view)
    coming = max(coming, last.step if last is not None else 1)
    View.objects.filter(pk=view.pk).update(stale=True)
    return LiveVersion.objects.create(memory=version, step=coming, upto=upto, log_compaction=log_compaction)


def coming_step(live: LiveSession, session: Session) -> int:
    """The first step whose memory has not been handed out yet."""
    return session.steps + (2 if live.taken_step == session.steps + 1 else 1)


def lock(view: View) -> View:
    """The view as it is now, while nobody else changes its memory; within a transaction.

    The session's row first, as whoever commits a compaction does: two that wait for each other would never end.
    """
    Session.objects.select_for_update().get(pk=view.session_id)
    rows = View.objects.select_for_update(of=("self",)).select_related("session", "live")
    return rows.get(pk=view.pk)


def take_memory(view: View, number: int | None = None) -> Held:
    """The memory of the agent's next step, handed out: a version made from now on is that of a later step."""
    with transaction.atomic():
        live = LiveSession.objects.select_for_update().get(view=view)
        view.session.refresh_from_db()
        coming = view.session.steps + 1
        if live.taken_step != coming:
            LiveSession.objects.filter(pk=live.pk).update(taken_step=coming)
        held = read_live(view, number)
        # It was made after the memory had been taken once, and is asked for again before the step.
        LiveVersion.objects.filter(memory__view=view, step__gt=coming).update(step=coming)
        PolicyChange.objects.filter(view=view, step__gt=coming).update(step=coming)
        return held


def restore_live(view: View, number: int) -> tuple[MemoryVersion, bool]:
    """An earlier version in force again from the next step on, with all that the session got behind its cut.

    Raises BadRequest. Nothing is deleted, and nothing made (False) where it is in force already.
    """
    with transaction.atomic():
        view = lock(view)
        rows = MemoryVersion.objects.filter(view=view).select_related("live", "restored", "compaction")
        wanted, now = rows.filter(version=number).first(), rows.order_by("-version").first()
        if wanted is None or now is None:
            raise BadRequest("version", "There is no such version of this memory.")
        if wanted.same_as == now.same_as:
            return now, False
        held = read_live(view, number, wanted.live.upto)
        made = add_version(
            view, now, held, held.snapshot, MemoryVersion.Origin.RESTORE, restored=wanted.same_as
        )
        place(made, wanted.live.upto)
        return made, True
