"""The compactions of a session in their lineage: each with the one whose memory it read.

| what was read                          | parent                                                                     |
|----------------------------------------|----------------------------------------------------------------------------|
| a version of a branch or live memory   | the compaction that made it, or the one whose version it is again          |
| a log before a step                    | the last compaction that the log records up to there                       |
| what a compaction of the log found     | the one before that one: it stands beside it                               |
| the memory of a policy's view          | none: its summaries are the view's own                                     |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from contextlab.queries.log_sizes import Stated, sizes_of
from contextlab.store.models import CompactionJob, CompactionRecord, MemoryVersion, Session, View

SHOWN = 500
PARENTS = (
    "parent__live", "parent__compaction__run", "parent__restored__live", "parent__restored__compaction__run",
)  # fmt: skip
"""What `parent_of` reads of a version."""


@dataclass(frozen=True, slots=True)
class LineageRow:
    """A compaction among those of its session."""

    id: str
    """A run's id, or `log-N`."""
    origin: str
    """here, recorded or detected."""
    state: str
    at_step: int | None
    trigger: str
    policy: str
    method: str
    tokens_before: int | None
    before_source: str
    """logged, reported, counted or estimated; empty for unknown."""
    tokens_after: int | None
    after_source: str
    items_summarised: int | None
    base_view: str
    """The view whose memory was read."""
    base_version: int | None
    """And its version, where it keeps a memory of its own; None also where nothing was written."""
    base_keeps: bool
    """It keeps one: a branch, or the memory of a live session."""
    before_compaction: int | None
    """The memory that this compaction of the log found was read; of one of the log: itself."""
    parent: str | None
    """The compaction whose memory was read; None: what was read is of none in this list."""
    children: Sequence[str]
    branch: str | None
    version: int | None
    promoted: bool
    at: datetime | None

    @property
    def memory(self) -> tuple[object, ...]:
        """Which memory was read: two that are equal in this compacted the same one."""
        return self.base_view, self.base_version, self.at_step, self.before_compaction


def lineage(session: Session) -> list[LineageRow]:
    """All compactions of a session, those of its log first, each with its parent and its children."""
    rows = [*_recorded(session), *_asked_for(session)]
    children: dict[str, list[str]] = {}
    for row in rows:
        if row["parent"]:
            children.setdefault(row["parent"], []).append(row["id"])
    return [LineageRow(**row, children=tuple(children.get(row["id"], ()))) for row in rows]


def _recorded(session: Session) -> list[dict[str, Any]]:
    found = CompactionRecord.objects.filter(session=session, revision=session.revision, micro=False)
    rows: list[dict[str, Any]] = []
    newest = list(found.order_by("-number")[:SHOWN])[::-1]
    stated = [
        Stated(session.pk, session.revision, one.at_step, one.pre_tokens, one.post_tokens) for one in newest
    ]
    lived = _lived(session)
    for one, (tokens_before, tokens_after) in zip(newest, sizes_of(stated), strict=True):
        before = rows[-1]["id"] if rows else None
        rows.append(
            {
                "id": f"log-{one.number}",
                "origin": one.origin,
                "state": "done",
                "at_step": one.at_step,
                "trigger": one.trigger,
                "policy": "",
                "method": "",
                "tokens_before": tokens_before.tokens,
                "before_source": tokens_before.source,
                "tokens_after": tokens_after.tokens,
                "after_source": tokens_after.source,
                "items_summarised": one.items_summarised,
                "base_view": View.Kind.RECORDED.value,
                "base_version": None,
                "base_keeps": False,
                "before_compaction": one.number,
                "parent": lived.get(one.number, before),
                "branch": None,
                "version": None,
                "promoted": False,
                "at": one.ts,
            }
        )
    return rows


def _asked_for(session: Session) -> list[dict[str, Any]]:
    jobs = CompactionJob.objects.filter(session=session).select_related("run", "base_view", "session")
    memories = MemoryVersion.objects.filter(compaction__session=session).select_related("view", *PARENTS)
    by_job = {memory.compaction_id: memory for memory in memories}
    return [_line(job, by_job.get(job.pk)) for job in list(jobs.defer(*_LARGE).order_by("-id")[:SHOWN])[::-1]]


_LARGE = ("policy", "raw_reply", "result", "fates", "events", "instructions")
"""Columns of a job that no list shows."""


def _line(job: CompactionJob, memory: MemoryVersion | None) -> dict[str, Any]:
    report = job.report or {}
    return {
        "id": str(job.run.uid),
        "origin": "here",
        "state": job.run.state,
        "at_step": job.at_step or job.before_step,
        "trigger": job.trigger,
        "policy": job.policy_name,
        "method": job.method,
        "tokens_before": job.tokens_before,
        "before_source": job.token_source if job.tokens_before is not None else "",
        "tokens_after": job.tokens_after,
        "after_source": job.token_source if job.tokens_after is not None else "",
        "items_summarised": report.get("summarised_items"),
        "base_view": job.base_view.name,
        "base_version": job.base_version,
        "base_keeps": job.base_view.keeps_memory,
        "before_compaction": job.before_compaction,
        "parent": parent_of(job, memory),
        "branch": memory.view.name if memory else None,
        "version": memory.version if memory else None,
        "promoted": bool(memory and memory.view.promoted_at),
        "at": job.run.finished_at or job.asked_at,
    }


def parent_of(job: CompactionJob, memory: MemoryVersion | None) -> str | None:
    """The compaction whose memory was read, or is to be: a run's id, or `log-N` for one that the log records."""
    if job.base_view.keeps_memory:
        return _made_by(memory.parent) if memory else None
    if job.base_view.kind != View.Kind.RECORDED:
        return None
    step = job.at_step or job.before_step or job.session.steps + 1
    revision = job.session.revision if job.revision is None else job.revision
    records = CompactionRecord.objects.filter(session_id=job.session_id, revision=revision, micro=False)
    if job.before_compaction is not None:
        records = records.filter(number__lt=job.before_compaction)
    number = records.filter(at_step__lte=step).order_by("-number").values_list("number", flat=True).first()
    return None if number is None else f"log-{number}"


def _made_by(version: MemoryVersion | None) -> str | None:
    """The compaction that a memory is of; `log-N` for one that a live agent made itself, and told of."""
    if version is None:
        return None
    version = version.same_as
    if version.compaction is not None:
        return str(version.compaction.run.uid)
    live = getattr(version, "live", None)
    return None if live is None or live.log_compaction is None else f"log-{live.log_compaction}"


def _lived(session: Session) -> dict[int, str | None]:
    """Of the compactions that a live agent made itself, by their numbers: the one whose memory it had."""
    rows = MemoryVersion.objects.filter(view__session=session, live__log_compaction__isnull=False)
    newest = rows.select_related("live", *PARENTS).defer("payload", "summary").order_by("-version")[:SHOWN]
    found = [(one.live.log_compaction, one.parent) for one in newest]
    return {number: _made_by(before) for number, before in found if number is not None}
