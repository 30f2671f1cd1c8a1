"""Work in the background, as pages show it: one run, or all that goes on now."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum

from contextlab.store.models import LogFile, Run, RunState
from contextlab.store.models.runs import FINISHED

ACTIVE = (RunState.QUEUED, RunState.RUNNING)
JUST_FINISHED = timedelta(minutes=3)
FAILURES_SHOWN = 10
_WORDS = {
    Run.Kind.IMPORT: "reading a log",
    Run.Kind.SCAN: "looking through this machine's logs",
    Run.Kind.COUNT: "counting tokens",
    Run.Kind.PROJECT: "projecting a view",
    Run.Kind.COMPACT: "compacting a memory",
    Run.Kind.AUDIT: "auditing compactions",
    Run.Kind.OBSERVE: "reading turns",
    Run.Kind.REMEMBER: "keeping user memories",
}
_COLUMNS = (
    "uid", "kind", "state", "target", "done", "total", "unit", "doing", "result", "error", "retryable",
    "cancel_requested", "params", "finished_at",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class RunView:
    """One run."""

    uid: uuid.UUID
    kind: str
    state: str
    target: str
    done: int
    total: int | None
    unit: str
    doing: str
    result: dict[str, Any]
    error: str
    retryable: bool
    cancel_requested: bool
    params: dict[str, Any]
    finished_at: datetime | None
    name: str = ""
    """Name of the file it reads, where it reads one."""

    @property
    def active(self) -> bool:
        """Whether it waits or works."""
        return self.state not in FINISHED

    @property
    def file(self) -> uuid.UUID | None:
        """The file that an import reads."""
        is_file = self.kind == Run.Kind.IMPORT and len(self.target) == 32
        return uuid.UUID(hex=self.target) if is_file else None

    @property
    def words(self) -> str:
        """What it is, for people."""
        return _WORDS.get(Run.Kind(self.kind), self.kind) if self.kind in Run.Kind.values else self.kind

    @property
    def share(self) -> float | None:
        """How much is done, 0 to 1; None when the end is not known."""
        return min(self.done / self.total, 1.0) if self.total else None


@dataclass(frozen=True, slots=True)
class Waiting:
    """Runs of one kind that wait or work."""

    words: str
    count: int


@dataclass(frozen=True, slots=True)
class ScanView:
    """A scan: its own run (files), and what its imports add to it."""

    run: RunView
    bytes_done: int
    bytes_total: int
    failed: int

    @property
    def asked_for_rest(self) -> bool:
        """Whether it reads everything, not only the last seven days."""
        return bool(self.run.params.get("rest"))


@dataclass(frozen=True, slots=True)
class Activity:
    """All that goes on in a workspace, and what ended in the last minutes."""

    scan: ScanView | None = None
    reading: Sequence[RunView] = ()
    """Imports that work right now."""
    queued: int = 0
    """Imports that wait, without those that the scan counts."""
    imported: int = 0
    """Imports that ended well since the page was opened."""
    imported_bytes: int = 0
    failed: Sequence[RunView] = field(default_factory=tuple)
    failed_total: int = 0
    background: Sequence[Waiting] = ()

    @property
    def active(self) -> bool:
        """Whether anything still changes, so that a page should ask again."""
        return bool((self.scan and self.scan.run.active) or self.reading or self.queued or self.background)

    @property
    def anything(self) -> bool:
        """Whether there is anything to show."""
        return self.active or bool(self.imported or self.failed or self.scan)

    @property
    def total(self) -> int:
        """Imports of this batch, ended or not."""
        return self.imported + self.failed_total + self.queued + len(self.reading)

    @property
    def ended(self) -> int:
        """Imports of this batch that ended, well or not."""
        return self.imported + self.failed_total


def run_view(workspace: int, uid: uuid.UUID) -> RunView | None:
    """One run, None when the workspace has no such run."""
    found = _views(Run.objects.filter(workspace_id=workspace, uid=uid))
    return found[0] if found else None


def latest_import(workspace: int, file: uuid.UUID) -> RunView | None:
    """The run that reads the file right now, None when none does."""
    runs = Run.objects.filter(workspace_id=workspace, target=file.hex, kind=Run.Kind.IMPORT, state__in=ACTIVE)
    found = _views(runs.order_by("-id")[:1])
    return found[0] if found else None


def activity(workspace: int, now: datetime, since: datetime) -> Activity:
    """What goes on, what was imported since a page was opened, and what failed in the last minutes."""
    runs = Run.objects.filter(workspace_id=workspace)
    imports = runs.filter(kind=Run.Kind.IMPORT)
    lately = min(since, now - JUST_FINISHED)
    recent = imports.filter(finished_at__gte=lately)
    well = Q(state__in=(RunState.DONE, RunState.NOOP), finished_at__gte=since)
    ended = recent.aggregate(
        well=Count("id", filter=well),
        failed=Count("id", filter=Q(state=RunState.FAILED)),
        bytes=Sum("done", filter=well & Q(unit="bytes")),
    )
    scans = runs.filter(kind=Run.Kind.SCAN).filter(Q(state__in=ACTIVE) | Q(finished_at__gte=lately))
    others = runs.filter(state__in=ACTIVE).exclude(kind__in=(Run.Kind.IMPORT, Run.Kind.SCAN))
    kinds = others.values_list("kind").annotate(n=Count("id")).order_by("kind")
    return Activity(
        scan=_scan(scans.order_by("-id")[:1]),
        reading=_views(imports.filter(state=RunState.RUNNING).order_by("id")[:4]),
        queued=imports.filter(state=RunState.QUEUED).exclude(parent__kind=Run.Kind.SCAN).count(),
        imported=ended["well"],
        imported_bytes=ended["bytes"] or 0,
        failed=_views(recent.filter(state=RunState.FAILED).order_by("-id")[:FAILURES_SHOWN]),
        failed_total=ended["failed"],
        background=tuple(Waiting(_WORDS.get(Run.Kind(kind), kind), count) for kind, count in kinds),
    )


def _scan(scans: QuerySet[Run]) -> ScanView | None:
    for run in _views(scans):
        ended = Q(state__in=FINISHED)
        sums = Run.objects.filter(parent__uid=run.uid).aggregate(
            all=Sum("total"),
            ended=Sum("total", filter=ended),
            failed=Count("id", filter=Q(state=RunState.FAILED)),
        )
        return ScanView(run, sums["ended"] or 0, sums["all"] or 0, sums["failed"])
    return None


def _views(runs: QuerySet[Run]) -> list[RunView]:
    views = [RunView(**values) for values in runs.values(*_COLUMNS)]
    files = [view.target for view in views if view.kind == Run.Kind.IMPORT and view.target]
    if not files:
        return views
    names = {uid.hex: name for uid, name in LogFile.objects.filter(uid__in=files).values_list("uid", "name")}
    return [replace(view, name=names.get(view.target, "")) for view in views]
