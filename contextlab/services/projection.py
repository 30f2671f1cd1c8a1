"""Views of a session: every step's report and the spans of verdicts, made by the core and written as rows.

    project(work, [Job(...), ...])     recorded views or views under a policy, several sessions in one go
    perform(work)                      the run that `opening` asks for

The recorded view is made right after an import, with estimates where nothing is counted yet, and again with counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import transaction

from contextlab.adapters.tokens import counter
from contextlab.core.items import Verdict
from contextlab.core.measuring.calibrations import Calibrations
from contextlab.core.recorded import RecordedReplayer
from contextlab.core.spans import Span
from contextlab.core.timeline import UNKNOWN, Timeline
from contextlab.services import opening
from contextlab.services.calibrations import in_force
from contextlab.services.chart import ChartMaker, marks_of, point_of
from contextlab.services.figures import Figures
from contextlab.services.fires import write_fires
from contextlab.services.ingest.rows import disproved_models, step_limit
from contextlab.services.reports import Superseded, ViewWriter, report_row
from contextlab.services.runs import Refused
from contextlab.services.timelines import load_timeline
from contextlab.services.work import Outcome, Work
from contextlab.store.bulk import Changes
from contextlab.store.models import CompactionRecord, Run, Session, View

if TYPE_CHECKING:
    # An import makes recorded views only: what policies are made of is loaded where one is asked for.
    from contextlab.core.replayer import Replayer
    from contextlab.core.replaying.changed import ChangedReplayer
    from contextlab.core.replaying.decisions import DecisionRun
    from contextlab.core.replaying.fires import Fire

ATTEMPTS = 3


@dataclass(slots=True)
class Job:
    """A view to make, with the timeline of its session as it was read."""

    session: Session
    view: View
    timeline: Timeline


@dataclass(slots=True)
class Made:
    """A view that was made; its timeline is let go."""

    session: Session
    view: View
    items: int
    steps: int
    figures: Figures
    summarised: dict[int, int]
    """Items that each compaction summarised, by the step after it."""
    fires: Sequence[Fire]
    """Where a policy compacted, or would have."""
    decisions: Sequence[DecisionRun] = ()


def perform(work: Work) -> Outcome:
    """Make the run's view anew."""
    view = View.objects.select_related("session__workspace").filter(uid=work.run.target).first()
    if view is None:
        raise Refused("The session was deleted.")
    for _ in range(ATTEMPTS):
        job = Job(view.session, view, load_timeline(view.session))
        try:
            project(work, [job])
        except Superseded:
            view.refresh_from_db()
            view.session.refresh_from_db()
        else:
            return Outcome(result={"steps": view.steps})
    raise Superseded


def project(work: Work, jobs: Iterable[Job]) -> None:
    """Make the views, whole. Raises Superseded when somebody else wrote one of them meanwhile."""
    writer = ViewWriter(work)
    calibrations = in_force(work.run.workspace_id)
    made = [_make(job, writer, calibrations) for job in jobs]
    with transaction.atomic():
        writer.flush()
        write_fires([(one.view, one.fires) for one in made])
        _write_decisions(made)
        _finish(made)
        if in_force(work.run.workspace_id) != calibrations:
            keys = [one.view.pk for one in made]
            View.objects.filter(pk__in=keys).update(recalibrate=True)


def _write_decisions(made: Sequence[Made]) -> None:
    """What the policies among the views decided."""
    if any(one.view.kind == View.Kind.POLICY for one in made):
        from contextlab.services.decisions import write_decisions

        write_decisions([(one.view, one.decisions) for one in made])


def project_or_queue(work: Work, jobs: Iterable[Job]) -> list[Run]:
    """Make the views; returns runs that make them once more where somebody else was at it at the same time."""
    seen: list[tuple[Session, View]] = []

    def noted() -> Iterator[Job]:
        for job in jobs:
            seen.append((job.session, job.view))
            yield job

    try:
        project(work, noted())
    except Superseded:
        return [opening.request(session, view) for session, view in seen]
    return []


def _make(job: Job, writer: ViewWriter, calibrations: Calibrations) -> Made:
    """Replay one session into the writer."""
    timeline, view = job.timeline, job.view
    timeline.calibrations = calibrations
    view.calibrations = calibrations.among(step.model for step in timeline.steps)
    view.recalibrate = False
    replayer = _replayer(job)
    wrong = disproved_models(timeline.steps)
    chart, figures = ChartMaker(len(timeline.steps)), Figures()
    marks = _shared(view, timeline, chart)
    for result in replayer.run():
        step, report = result.step, result.report
        limit, _ = step_limit(step, wrong)
        writer.add_report(view, report_row(step.number, report))
        chart.add(point_of(step, report, limit))
        figures.add(report, limit)
    spans = replayer.spans()
    view.counted = figures.counted
    fires = None if isinstance(replayer, RecordedReplayer) else replayer.fires
    view.chart = chart.chart([*marks, *marks_of(job.session, timeline, fires)], figures.counted)
    view.steps = len(timeline.steps)
    writer.end(view, spans)
    view.revision, view.stale = job.session.revision, False
    return Made(
        job.session,
        view,
        len(timeline),
        len(timeline.steps),
        figures,
        _summarised(spans),
        fires or (),
        () if isinstance(replayer, RecordedReplayer) else replayer.decisions,
    )


def _shared(view: View, timeline: Timeline, chart: ChartMaker) -> list[dict[str, Any]]:
    """Put the steps that a view shares with the one below it on its chart; returns the marks among them."""
    if view.base_id is None:
        return []
    from contextlab.services.continuing import marks_before, steps_before

    for point in steps_before(view, timeline):
        chart.add(point)
    return marks_before(view)


def _replayer(job: Job) -> RecordedReplayer | Replayer | ChangedReplayer:
    """Placeholders are counted exactly only where everything else is: the vocabulary takes half a second to load."""
    count = counter().count if UNKNOWN not in job.timeline.tokens else None
    if job.view.kind == View.Kind.RECORDED:
        return RecordedReplayer(job.timeline, count=count)
    from contextlab.services.replayers import policy_replayer

    return policy_replayer(job.session, job.view, job.timeline, count)


def _summarised(spans: Iterable[Span]) -> dict[int, int]:
    """Items summarised from a step on, by step."""
    counts: dict[int, int] = {}
    for span in spans:
        if span.verdict == Verdict.SUMMARISED:
            counts[span.first_step] = counts.get(span.first_step, 0) + span.last_item - span.first_item + 1
    return counts


def _finish(made: Sequence[Made]) -> None:
    """What sessions take from their recorded views; a view whose session grew meanwhile stays stale."""
    keys = [one.session.pk for one in made]
    now: dict[int, list[int]] = {}
    for start in range(0, len(keys), 500):
        rows = Session.objects.filter(pk__in=keys[start : start + 500])
        now |= {key: state for key, *state in rows.values_list("pk", "revision", "items", "steps")}
    changes = Changes()
    for one in made:
        session = one.session
        if now.get(session.pk) != [session.revision, one.items, one.steps]:
            View.objects.filter(pk=one.view.pk).update(stale=True)
        elif one.view.kind == View.Kind.RECORDED:
            changes.note(session, one.figures.fields(_note_summarised(session, one.summarised, changes)))
    changes.write()


def _note_summarised(session: Session, summarised: dict[int, int], changes: Changes) -> list[int]:
    """Note at each compaction how many items it summarised; returns the steps that follow compactions."""
    if not session.compactions:
        return []
    rows = CompactionRecord.objects.filter(session=session, revision=session.revision, micro=False)
    found = list(rows.only("at_step", "items_summarised"))
    for row in found:
        changes.note(row, {"items_summarised": summarised.get(row.at_step, 0)})
    return [row.at_step for row in found]
