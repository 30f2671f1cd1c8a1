"""Compactions made here, as marks on a session's chart: by hand (each made the memory of a branch) and automatic.

Every view marks those that concern it:

| view                | marked                                                                                   |
|---------------------|------------------------------------------------------------------------------------------|
| recorded            | all: the log's steps are what they left                                                   |
| a policy's          | those that compacted this view's memory                                                   |
| branch-1:policy     | the one whose memory it begins with, in the place of the projection's own mark there      |
| the agent's own     | those that it went on with                                                                |

Only what ended in a memory is marked, and only of the reading of the log whose positions the chart shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from contextlab.queries.step import Seen
from contextlab.store.models import CompactionJob, MemoryVersion, RunState, View

MADE_READ = 400
"""The newest of them."""


@dataclass(frozen=True, slots=True)
class MadeMark:
    """A compaction that was made here, at the step that its memory stands before."""

    step: int
    """One more than the session has steps: behind the last one."""
    kind: str
    """hand or auto."""
    run: UUID
    branch: str
    version: int
    policy: str
    tokens_before: int | None
    tokens_after: int | None
    begins: bool = False
    """The view begins with its memory."""

    @property
    def label(self) -> str:
        """How it is called."""
        return f"{self.branch} v{self.version}"


@dataclass(frozen=True, slots=True)
class MadeCounts:
    """Compactions of a session that were made here."""

    hand: int = 0
    auto: int = 0
    without_memory: int = 0
    """Asked for, and ended otherwise or not yet: memory is as it was."""


def made_marks(seen: Seen, first: int = 1, last: int | None = None) -> Sequence[MadeMark]:
    """Those of a view whose step lies in a range, in order."""
    rows = MemoryVersion.objects.filter(
        compaction__session_id=seen.session_id, compaction__revision=seen.revision,
        compaction__at_step__gte=first, created_by=MemoryVersion.Origin.COMPACTION,
    )  # fmt: skip
    if last is not None:
        rows = rows.filter(compaction__at_step__lte=last)
    if seen.recorded:
        return _marks(rows)
    own = rows.filter(Q(compaction__base_view_id=seen.view_id) | Q(view_id=seen.view_id))
    below = View.objects.filter(pk=seen.view_id or 0, base__kind=View.Kind.BRANCH).values("base_id")
    begun = _marks(rows.filter(view_id__in=below).order_by("-version")[:1])
    return sorted([*(replace(mark, begins=True) for mark in begun), *_marks(own)], key=lambda mark: mark.step)


def _marks(rows: QuerySet[MemoryVersion]) -> list[MadeMark]:
    newest = rows if rows.query.is_sliced else rows.order_by("-compaction_id")[:MADE_READ]
    marks = [
        MadeMark(step, "auto" if trigger == CompactionJob.Trigger.AUTO else "hand", *rest)
        for step, trigger, *rest in newest.values_list(*_COLUMNS)
    ]
    marks.reverse()
    marks.sort(key=lambda mark: mark.step)
    return marks


_COLUMNS = (
    "compaction__at_step", "compaction__trigger", "compaction__run__uid", "view__name", "version",
    "compaction__policy_name", "compaction__tokens_before", "compaction__tokens_after",
)  # fmt: skip


def made_counts(session_id: int) -> MadeCounts:
    """How many there are."""
    rows = CompactionJob.objects.filter(session_id=session_id).order_by()
    here, auto = Q(run__state=RunState.DONE), Q(trigger=CompactionJob.Trigger.AUTO)
    counts = rows.aggregate(
        hand=Count("id", filter=here & ~auto),
        auto=Count("id", filter=here & auto),
        without_memory=Count("id", filter=~here),
    )
    return MadeCounts(**counts)
