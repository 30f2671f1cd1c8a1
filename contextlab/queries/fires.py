"""What a view's policy did to memory, compaction by compaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from uuid import UUID

from contextlab.store.models import CompactionJob, PolicyCompaction, Session, View

SHOWN = 40
"""On a page; the chart marks all."""


@dataclass(frozen=True, slots=True)
class FireLine:
    """Where a view's policy compacted, or would have."""

    step: int
    made: bool
    reason: str
    rule: str
    estimate: int | None
    threshold: int | None
    tokens_before: int | None
    tokens_after: int | None
    summarised: int
    method: str
    number: int = 0
    """Its place among those of the view."""
    summary: str = ""
    run: UUID | None = None
    """A compaction that a person asked for with the same policy before the same step."""


@dataclass(frozen=True, slots=True)
class Fires:
    """The compactions of a view's policy."""

    lines: Sequence[FireLine]
    total: int

    @property
    def more(self) -> int:
        """How many are not listed."""
        return self.total - len(self.lines)


def fires_of(session: Session, view_id: int) -> Fires:
    """Where a view's policy compacted or would have, in order, without the summaries."""
    rows = PolicyCompaction.objects.filter(view_id=view_id).order_by("step")
    lines = [FireLine(*row) for row in rows.values_list(*_COLUMNS)[:SHOWN]]
    asked = _asked_for(session, view_id, [line.step for line in lines])
    numbered = [
        replace(line, number=number, run=asked.get(line.step)) for number, line in enumerate(lines, 1)
    ]
    return Fires(numbered, rows.count() if len(lines) == SHOWN else len(lines))


def summary_before(view_id: int, step: int) -> FireLine | None:
    """The compaction whose summary stands in the view's memory at a step; behind a mark none does."""
    rows = PolicyCompaction.objects.filter(view_id=view_id, step__lte=step)
    if rows.filter(made=False, step__lt=step).exists():
        return None
    made = rows.filter(made=True)
    found = made.order_by("-step").values_list(*_COLUMNS, "summary").first()
    if found is None:
        return None
    return replace(FireLine(*found[:-1]), number=made.count(), summary=found[-1])


def _asked_for(session: Session, view_id: int, steps: Iterable[int]) -> dict[int, UUID]:
    """Runs that a person started with the policy of the view, by the step; the newest of several."""
    jobs = CompactionJob.objects.filter(
        session=session, revision=session.revision, at_step__in=list(steps), result__isnull=False,
        policy_hash__in=View.objects.filter(pk=view_id).values("policy_hash"),
    )  # fmt: skip
    return {
        step: run for step, run in jobs.order_by("id").values_list("at_step", "run__uid") if step is not None
    }


_COLUMNS = tuple(field.name for field in fields(FireLine))[:10]
