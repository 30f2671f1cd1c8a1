"""What a compaction that was made here lost, fact by fact: what it wrote is held against the items that left.

What it wrote is its summary, and whatever stands in its memory that the log does not have: previews of originals that
it put aside, texts that stand for a run of calls.

lost_by(workspace, run)   the facts, worked out now
missing()                 runs that count them for lists: asked for by the periodic work, behind the compaction
perform(work)             the run
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from contextlab.core.audit.auditing import ledger_of
from contextlab.core.audit.results import FactVerdict, Ledger
from contextlab.core.items import LEFT_OUT
from contextlab.services import runs
from contextlab.services.compaction.foreseeing import MOST_ITEMS, is_too_large
from contextlab.services.compaction.versions import memory_of
from contextlab.services.runs import Priority
from contextlab.services.texts import SessionTexts
from contextlab.services.timelines import load_timeline
from contextlab.services.work import Outcome, Work
from contextlab.store.models import CompactionJob, MemoryVersion, Run, RunState

AT_ONCE = 20
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


def missing() -> list[Run]:
    """Runs for compactions that nobody has looked at, newest first; what failed lately is left alone."""
    since = timezone.now() - timedelta(hours=1)
    failed = Run.objects.filter(kind=Run.Kind.AUDIT, state=RunState.FAILED, finished_at__gt=since)
    uids = set(failed.values_list("target", flat=True))
    jobs = CompactionJob.objects.filter(run__state=RunState.DONE, facts__isnull=True).select_related(
        "run__workspace"
    )
    waiting = jobs.only("run").order_by("-id")[: AT_ONCE + len(uids)]
    return [_request(job.run) for job in waiting if job.run.uid.hex not in uids][:AT_ONCE]


def perform(work: Work) -> Outcome:
    """Count the facts of the run's compaction, and keep their numbers."""
    uid = UUID(work.run.target)
    work.check_in(0, None, "reading facts")
    found = lost_by(work.run.workspace_id, uid)
    ledger = found.ledger if found is not None else None
    facts = {} if ledger is None else {str(verdict): ledger.count(verdict) for verdict in FactVerdict}
    with transaction.atomic():
        work.still_ours("writing")
        CompactionJob.objects.filter(run__uid=uid).update(facts=facts)
    return Outcome(result={"facts": sum(facts.values())})


def _request(compaction: Run) -> Run:
    run, _ = runs.request(
        compaction.workspace, Run.Kind.AUDIT, f"lost:{compaction.uid.hex}", target=compaction.uid.hex,
        params={"session": compaction.params.get("session", ""), "compaction": compaction.uid.hex},
        priority=Priority.LATER,
    )  # fmt: skip
    return run
