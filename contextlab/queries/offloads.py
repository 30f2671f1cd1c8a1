"""Originals that were put aside, as pages list them: by session, the newest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from contextlab.store.models import CompactionJob, OffloadRecord, Session

SHOWN = 100


@dataclass(frozen=True, slots=True)
class OffloadLine:
    """Originals under an id."""

    id: str
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True)
class OffloadPage:
    """Some of a session's."""

    lines: Sequence[OffloadLine]
    after: int | None
    """Where the next page begins; None on the last one."""


def offload_count(session: Session) -> int:
    """How many ids the session has originals under."""
    return OffloadRecord.objects.filter(session=session).count()


def offloads(session: Session, below: int | None = None) -> OffloadPage:
    """The newest below a place."""
    rows = OffloadRecord.objects.filter(session=session).order_by("-id")
    if below is not None:
        rows = rows.filter(id__lt=below)
    found = list(rows.values_list("id", "offload", "reason", "created_at")[: SHOWN + 1])
    shown = found[:SHOWN]
    after = shown[-1][0] if len(found) > SHOWN else None
    return OffloadPage([OffloadLine(name, reason, at) for _, name, reason, at in shown], after)


def offload_line(workspace_id: int, name: str) -> OffloadLine | None:
    """Why and when the originals under an id were put aside."""
    rows = OffloadRecord.objects.filter(workspace_id=workspace_id, offload=name)
    found = rows.values_list("offload", "reason", "created_at").first()
    return OffloadLine(*found) if found else None


def put_aside_by(session: UUID, name: str) -> UUID | None:
    """Run of the compaction that put the originals under an id aside; None where none of the newest did."""
    jobs = CompactionJob.objects.filter(session__uid=session).exclude(offloads=[]).order_by("-id")
    for run, offloads in jobs.values_list("run__uid", "offloads")[:SHOWN]:
        if any(one["id"] == name for one in offloads):
            return run
    return None


def session_of_offload(workspace_id: int, name: str) -> UUID | None:
    """The session that the originals under an id belong to; None where there is none, or nothing under the id."""
    rows = OffloadRecord.objects.filter(workspace_id=workspace_id, offload=name)
    return rows.values_list("session__uid", flat=True).first()
