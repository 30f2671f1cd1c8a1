"""Compactions that the agent itself made and told of: each is a version of the live memory.

Its items are those that the event keeps and that were in memory, its summary is the text of the event's summary. One
whose summary has no text (encrypted) is a version without one: what stands there is not known here.
"""

from __future__ import annotations

from dataclasses import replace

from django.db import transaction

from contextlab.core.compaction import Snapshot
from contextlab.services.compaction.committing import add_version
from contextlab.services.live.memory import read_live
from contextlab.services.live.versions import lock, place
from contextlab.store.items import items_between
from contextlab.store.models import CompactionRecord, LiveSession, MarkRecord, MemoryVersion, Session, View


def take_own(view: View) -> int:
    """Make versions of the compactions that the log has got; returns how many."""
    session = view.session
    done = LiveSession.objects.values_list("log_compactions", flat=True).get(view=view)
    records = CompactionRecord.objects.filter(session=session, revision=session.revision, micro=False)
    if not records.filter(number__gt=done).exists():
        return 0
    with transaction.atomic():
        view = lock(view)
        live = view.live
        fresh = list(records.filter(number__gt=live.log_compactions).order_by("number"))
        for record in fresh:
            _take(view, session, record)
        if fresh:
            LiveSession.objects.filter(pk=live.pk).update(log_compactions=fresh[-1].number)
    return len(fresh)


def _take(view: View, session: Session, record: CompactionRecord) -> None:
    before = read_live(view, upto=record.upto)
    assert before.version is not None
    mark = MarkRecord.objects.filter(
        session=session, revision=session.revision, compaction=record.number
    ).first()
    keeps = set(mark.positions) if mark is not None else set()
    items = tuple(item for item in before.snapshot.items if before.positions.get(item.id, -1) in keeps)
    after = Snapshot(items, _summary(session, record), None, before.snapshot.version)
    made = add_version(
        view,
        before.version,
        replace(before, summary_at=record.summary),
        after,
        MemoryVersion.Origin.COMPACTION,
    )
    place(made, record.upto, record.number, record.at_step)


def _summary(session: Session, record: CompactionRecord) -> str | None:
    if record.summary is None:
        return None
    found = [item.text for _, item in items_between(session, record.summary, record.summary + 1)]
    return found[0] if found else None
