"""What a branch shows at its step: the fates and the report of the memory that is in force there.

The branch is made with those of its first compaction; one more compaction or a restored memory changes them. Items
that were not in its first memory keep the fates of the view that was left.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from contextlab.core.items import VERDICT_CODE, Verdict
from contextlab.core.report import Report
from contextlab.core.summarising.outcomes import compaction_report
from contextlab.queries import fates
from contextlab.services.compaction.given import count_of
from contextlab.services.compaction.memory import MOST_FATES, read_branch
from contextlab.services.reports import REPORT_COLUMNS, report_row
from contextlab.store.models import CompactionJob, MemoryVersion, SpanRecord, StepReport, View

Run = tuple[int, int, str, str]
"""First and last position, verdict, reason."""


def show(view: View, version: MemoryVersion) -> None:
    """Exchange the branch's rows for those of this version, within the caller's transaction."""
    first = read_branch(view, 1)
    inside = set(first.positions.values())
    step = view.base_step or 1
    stored = fates.oldest_fates(view.pk, step, 0, first.upto, limit=MOST_FATES) if first.upto else []
    painted = {
        place: (str(fate.verdict), str(fate.reason or ""))
        for fate in stored
        for place in range(fate.first, fate.last + 1)
        if place not in inside
    }
    jobs = jobs_of(version)
    for job in jobs:
        for start, last, verdict, reason in job.fates:
            painted |= dict.fromkeys(range(start, last + 1), (verdict, reason))
    SpanRecord.objects.filter(view=view).delete()
    StepReport.objects.filter(view=view).delete()
    write_spans(view, joined((place, *what) for place, what in sorted(painted.items())))
    write_report(
        view,
        _report(jobs[-1]) if jobs else compaction_report(first.snapshot, first.snapshot, 0, count_of(first)),
    )


def write_spans(view: View, runs: Iterable[Run]) -> None:
    """The spans of the branch's step; what is simply kept has none."""
    step = view.base_step or 1
    SpanRecord.objects.bulk_create(
        SpanRecord(
            view=view, first_item=first, last_item=last, verdict=VERDICT_CODE[Verdict(verdict)], reason=reason,
            first_step=step, end_step=step + 1,
        )
        for first, last, verdict, reason in runs
        if verdict != Verdict.KEPT
    )  # fmt: skip


def write_report(view: View, report: Report | None) -> None:
    """The report of the branch's step."""
    if report is not None:
        row = report_row(view.base_step or 1, report)
        StepReport.objects.create(view=view, **dict(zip(REPORT_COLUMNS[1:], row, strict=True)))


def joined(placed: Iterable[tuple[int, str, str]]) -> Iterable[Run]:
    """Neighbouring positions of one fate as runs; they must be in order."""
    return joined_runs((at, at, verdict, reason) for at, verdict, reason in placed)


def joined_runs(runs: Iterable[Run]) -> Iterable[Run]:
    """Neighbouring runs of one fate as one; they must be in order."""
    run: Run | None = None
    for first, last, verdict, reason in runs:
        if run is not None and run[1] + 1 == first and run[2:] == (verdict, reason):
            run = (run[0], last, verdict, reason)
            continue
        if run is not None:
            yield run
        run = (first, last, verdict, reason)
    if run is not None:
        yield run


def jobs_of(version: MemoryVersion) -> Sequence[CompactionJob]:
    """The compactions that led to a version, the first one first."""
    found: list[CompactionJob] = []
    at: MemoryVersion | None = version
    while at is not None:
        at = at.same_as
        if at.compaction is not None:
            found.append(at.compaction)
        at = at.parent
    return found[::-1]


def _report(job: CompactionJob) -> Report | None:
    told: dict[str, Any] | None = job.report
    return None if told is None else Report(**{**told, "composition": tuple(told.get("composition") or ())})
