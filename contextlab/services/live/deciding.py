"""The decisions of a live session as rows of the decision log: one for each step, added as they are made.

A later look before the same step takes the place of an earlier one, but never of one that fired.
"""

from __future__ import annotations

from contextlab.core.compaction import Decision
from contextlab.core.redaction import redact
from contextlab.core.replaying.decisions import (
    CONFLICT,
    FAILED,
    LONGEST_RUN,
    MADE,
    NO_FIGURE,
    NOOP,
    NOT_DUE,
    PAUSED,
    QUEUED,
)
from contextlab.store.figures import pack_figures, unpack_figures
from contextlab.store.models import CompactionJob, Run, RunState, Session, View
from contextlab.store.models.policies import PolicyDecisions

STOPPED = "stopped"
LOOKED_AT = 20
"""Newest automatic compactions that may have ended since."""
FIRED = (QUEUED, MADE, NOOP, FAILED, CONFLICT)
_ENDS = {
    RunState.DONE: MADE, RunState.NOOP: NOOP, RunState.CONFLICT: CONFLICT, RunState.FAILED: FAILED,
    RunState.CANCELLED: PAUSED,
}  # fmt: skip


def note(view: View, step: int, decision: Decision | None, outcome: str, reason: str = "") -> None:
    """Add the decision before a step, within the caller's transaction, which has locked the view."""
    last = PolicyDecisions.objects.filter(view=view).order_by("-first_step").first()
    if last is not None and last.last_step > step:
        return
    if last is not None and last.last_step == step:
        if last.outcome in FIRED and outcome in (NOT_DUE, PAUSED):
            return
        last = _without_last(last)
    rule, threshold, estimate = "", None, None
    if decision is not None:
        rule, threshold, estimate = decision.rule[:200], decision.threshold, decision.estimate
    figure = NO_FIGURE if estimate is None else estimate
    reason = redact(reason).replace("\x00", "\ufffd")[:300]
    said = (outcome, reason, rule, threshold)
    if last is not None and outcome != QUEUED and _goes_on(last, step, said):
        _write(last, [*_figures(last), figure])
        return
    row = PolicyDecisions(
        view=view, first_step=step, outcome=outcome, reason=reason, rule=rule, threshold=threshold
    )
    _write(row, [figure])


def made(job: CompactionJob) -> None:
    """The compaction that a decision queued replaces memory, within the transaction that commits it."""
    step = (job.run.params.get("decision") or {}).get("step")
    if step is not None:
        rows = PolicyDecisions.objects.filter(view_id=job.base_view_id, outcome=QUEUED, first_step=step)
        rows.update(outcome=MADE, reason="")


def settle(view: View) -> None:
    """Say of decisions that queued a compaction what it came to, as soon as its run has ended."""
    waiting = {row.first_step: row for row in PolicyDecisions.objects.filter(view=view, outcome=QUEUED)}
    if not waiting:
        return
    jobs = CompactionJob.objects.filter(base_view=view, trigger=CompactionJob.Trigger.AUTO)
    newest = jobs.select_related("run").defer("policy", "raw_reply", "result", "fates", "events")
    for job in newest.order_by("-id")[: len(waiting) + LOOKED_AT]:
        row = waiting.pop((job.run.params.get("decision") or {}).get("step", 0), None)
        if row is not None and job.run.state in _ENDS:
            outcome, reason = ending(job.run, job.reason)
            PolicyDecisions.objects.filter(pk=row.pk).update(outcome=outcome, reason=reason)


def settle_of(session: Session) -> None:
    """The same for whoever looks at a session: no step need come first. Costs a question where nothing waits."""
    rows = PolicyDecisions.objects.filter(view__session=session, view__kind=View.Kind.LIVE, outcome=QUEUED)
    if rows.exists():
        settle(session.views.get(kind=View.Kind.LIVE))


def ending(run: Run, reason: str) -> tuple[str, str]:
    """Outcome and reason of a run that has ended."""
    told = {RunState.NOOP: reason, RunState.CANCELLED: STOPPED}
    return _ENDS[RunState(run.state)], told.get(RunState(run.state), redact(run.error)[:300])


def _goes_on(last: PolicyDecisions, step: int, said: tuple[object, ...]) -> bool:
    same = (last.outcome, last.reason, last.rule, last.threshold) == said
    return same and last.last_step == step - 1 and step - last.first_step < LONGEST_RUN


def _figures(row: PolicyDecisions) -> list[int]:
    if row.estimates is None:
        return [NO_FIGURE] * (row.last_step - row.first_step + 1)
    return unpack_figures(bytes(row.estimates))


def _without_last(row: PolicyDecisions) -> PolicyDecisions | None:
    """The run of decisions without its last one; the one before it where nothing of it is left."""
    figures = _figures(row)[:-1]
    if figures:
        _write(row, figures)
        return row
    row.delete()
    return PolicyDecisions.objects.filter(view_id=row.view_id).order_by("-first_step").first()


def _write(row: PolicyDecisions, figures: list[int]) -> None:
    known = [figure for figure in figures if figure != NO_FIGURE]
    row.last_step = row.first_step + len(figures) - 1
    row.lowest, row.highest = min(known, default=None), max(known, default=None)
    row.estimates = pack_figures(figures) if known else None
    row.save()
