"""What a compaction that was made here lost, fact by fact: what it wrote is held against the items that left.

What it wrote is its summary, and whatever stands in its memory that the log does not have: previews of originals that
it put aside, texts that stand for a run of calls.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from contextlab.core.audit.auditing import ledger_of
from contextlab.core.audit.results import Ledger
from contextlab.core.items import LEFT_OUT
from contextlab.services.compaction.foreseeing import MOST_ITEMS, is_too_large
from contextlab.services.compaction.versions import memory_of
from contextlab.services.texts import SessionTexts
from contextlab.services.timelines import load_timeline
from contextlab.store.models import CompactionJob, MemoryVersion

_GONE = frozenset(str(verdict) for verdict in LEFT_OUT)


@dataclass(frozen=True, slots=True)
class Lost:
    """The ledger of a compaction, or why there is none."""

    ledger: Ledger | None
    why: str = ""


def lost_by(workspace_id: int, run: UUID) -> Lost | None:
    """The facts of a finished compaction's items; None where it made no memory. Writes nothing, asks no model."""
    jobs = CompactionJob.objects.filter(run__uid=run, session__workspace_id=workspace_id)
    job = jobs.select_related("session").first()
    memories = MemoryVersion.objects.filter(compaction=job).select_related("view")
    memory = memories.defer("payload").first() if job else None
    if job is None or memory is None:
        return None
    session = job.session
    if job.revision != session.revision:
        return Lost(None, "The log was rewritten since: the items that left are not there as they were.")
    if is_too_large(session):
        return Lost(
            None, f"Facts are looked for in sessions of up to {MOST_ITEMS:,} items; this one is larger."
        )
    left: list[int] = []
    stayed: list[int] = []
    for first, last, verdict, _ in job.fates:
        (left if verdict in _GONE else stayed).extend(range(first, last + 1))
    held = memory_of(session, memory.view.name, memory.version)
    written = [item.text for item in held.snapshot.items if held.positions.get(item.id) is None]
    summary = "\n\n".join([memory.summary or "", *written])
    return Lost(ledger_of(load_timeline(session), SessionTexts(session), left, stayed, summary=summary))
