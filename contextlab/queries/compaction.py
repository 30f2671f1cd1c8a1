"""Compactions as pages show them: one with all that came of it, and the memories of a session's branches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import Window
from django.db.models.functions import RowNumber

from contextlab.queries.lineage import PARENTS, SHOWN, parent_of
from contextlab.queries.runs import RunView, run_view
from contextlab.store.models import CompactionJob, MemoryVersion, Session, View


@dataclass(frozen=True, slots=True)
class VersionLine:
    """A memory of a branch."""

    version: int
    parent: int | None
    created_by: str
    compaction: UUID | None
    """Run of the compaction that made it."""
    items: int
    tokens: int | None
    """As it was made; of a live session: at its cut, without what came since."""
    token_source: str
    """counted or estimated; empty for unknown."""
    has_summary: bool
    created_at: datetime
    restored: int | None = None
    """The version that it is again."""
    step: int | None = None
    """Of a live session: the first step that had it."""
    by_agent: bool = False
    """The agent made it in its own process, and told of it."""
    upto: int | None = None
    """Of a live session: its cut. It stands for the items below, and those from there on follow it."""

    @property
    def same_as(self) -> int:
        """The version whose memory it is: itself, or the one that it is again."""
        return self.restored or self.version


@dataclass(frozen=True, slots=True)
class CompactionPage:
    """One compaction that was asked for here."""

    run: RunView
    session: UUID
    base_view: str
    base_version: int | None
    before_step: int | None
    before_compaction: int | None
    """The memory that this compaction of the log found was read."""
    policy: dict[str, Any]
    policy_name: str
    policy_hash: str
    instructions: str
    keep_recent: int | None
    pins: Sequence[str]
    trigger: str
    allow_model: bool
    model: str
    asked_at: datetime
    revision: int | None
    at_step: int | None
    upto: int | None
    reason: str
    raw_reply: str | None
    usage: dict[str, Any] | None
    prices: dict[str, Any] | None
    cost: Decimal | None
    method: str
    result: dict[str, Any] | None
    report: dict[str, Any] | None
    fates: Sequence[Sequence[Any]]
    offloads: Sequence[dict[str, Any]]
    """The originals that it put aside: id, reason, number of items."""
    events: Sequence[dict[str, Any]]
    flags: Sequence[dict[str, Any]]
    tokens_before: int | None
    tokens_after: int | None
    token_source: str
    """counted or estimated; empty before the end."""
    payback: dict[str, Any] | None
    """After how many steps it pays back (`steps`), with the shares and the prices that say so; None = unknown."""
    seconds: float | None
    branch: str | None
    """Name of the branch that holds the memory; None where nothing was written."""
    version: int | None
    """The memory that it made there."""
    parent: str | None
    """Compaction whose memory was read: a run's id, or `log-N` for one that the log records."""
    steps_since: int | None
    """Steps that the log has had since."""
    decision: dict[str, Any] | None
    """Of an automatic one: the figures by which it was due (step, rule, estimate, threshold)."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch with its memories, newest first."""

    name: str
    uid: UUID
    base: str
    base_step: int | None
    promoted: bool
    versions: Sequence[VersionLine]
    live: bool = False
    """It is the memory of a live session: it grows with it, and the agent's next step gets it."""


def compaction_page(workspace_id: int, uid: UUID) -> CompactionPage | None:
    """One compaction by its run; None when the workspace has no such one."""
    jobs = CompactionJob.objects.select_related("session", "base_view", "run")
    job = jobs.filter(run__uid=uid, session__workspace_id=workspace_id).first()
    run = run_view(workspace_id, uid) if job else None
    if job is None or run is None:
        return None
    memory = job.memories.select_related("view", *PARENTS).order_by("id").first()
    since = None
    if job.at_step is not None and job.revision == job.session.revision:
        since = max(0, job.session.steps - job.at_step + 1)
    return CompactionPage(
        run, job.session.uid, job.base_view.name, **{name: getattr(job, name) for name in _JOB},
        branch=memory.view.name if memory else None, version=memory.version if memory else None,
        parent=parent_of(job, memory), steps_since=since, decision=job.run.params.get("decision"),
    )  # fmt: skip


_JOB = (
    "base_version", "before_step", "before_compaction", "policy", "policy_name", "policy_hash", "instructions",
    "keep_recent", "pins", "trigger", "allow_model", "model", "asked_at", "revision", "at_step", "upto",
    "reason", "raw_reply", "usage", "prices", "cost", "method", "result", "report", "fates", "offloads", "events",
    "flags", "tokens_before", "tokens_after", "token_source", "payback", "seconds",
)  # fmt: skip


def branches(session: Session) -> list[Branch]:
    """The branches of a session with their memories; the memory of a live session last."""
    views = session.views.filter(kind__in=(View.Kind.BRANCH, View.Kind.LIVE)).select_related("base")
    versions = _versions(session)
    return [
        Branch(
            view.name, view.uid, view.base.name if view.base else "", view.base_step, view.promoted_at is not None,
            versions.get(view.pk, []), view.kind == View.Kind.LIVE,
        )
        for view in sorted(views, key=lambda view: (view.kind == View.Kind.LIVE, view.pk))
    ]  # fmt: skip


def _versions(session: Session) -> dict[int, list[VersionLine]]:
    """The memories of each branch by its view, newest first; of each the newest SHOWN."""
    newest = Window(RowNumber(), partition_by="view_id", order_by="-version")
    rows = MemoryVersion.objects.filter(view__session=session).annotate(place=newest).filter(place__lte=SHOWN)
    columns = (
        "view_id", "version", "parent__version", "created_by", "compaction__run__uid", "items", "tokens",
        "token_source", "summary", "created_at", "restored__version", "live__step", "live__log_compaction",
        "live__upto",
    )  # fmt: skip
    found: Iterable[tuple[Any, ...]] = rows.order_by("view_id", "-version").values_list(*columns)
    lines: dict[int, list[VersionLine]] = {}
    for view, version, parent, by, run, items, tokens, source, summary, at, restored, step, own, cut in found:
        line = VersionLine(
            version, parent, by, run, items, tokens, source, bool(summary), at, restored, step, own is not None, cut,
        )  # fmt: skip
        lines.setdefault(view, []).append(line)
    return lines


def branch_of(session: Session, name: str = "") -> View | None:
    """The branch (or live memory) of this name; without one the promoted branch, else the live one, else the newest."""
    found = session.views.filter(kind__in=(View.Kind.BRANCH, View.Kind.LIVE))
    if name:
        return found.filter(name=name).first()
    live = found.filter(kind=View.Kind.LIVE)
    return found.exclude(promoted_at=None).first() or live.first() or found.order_by("-id").first()
