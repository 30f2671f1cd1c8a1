"""The decision logs of views' policies, as rows: a few dozen for 20,000 steps, with the figure of each."""

from __future__ import annotations

from collections.abc import Sequence

from contextlab.core.redaction import redact
from contextlab.core.replaying.decisions import NO_FIGURE, DecisionRun
from contextlab.store.bulk import bulk_insert
from contextlab.store.figures import pack_figures
from contextlab.store.models import View
from contextlab.store.models.policies import PolicyDecisions

COLUMNS = (
    "view_id", "first_step", "last_step", "outcome", "reason", "rule", "threshold", "lowest", "highest", "estimates",
)  # fmt: skip


def write_decisions(made: Sequence[tuple[View, Sequence[DecisionRun]]]) -> None:
    """Exchange the rows of these views, within the caller's transaction."""
    views = [view for view, _ in made if view.kind == View.Kind.POLICY]
    if not views:
        return
    PolicyDecisions.objects.filter(view__in=views).delete()
    rows = [_row(view, run) for view, runs in made if view.kind == View.Kind.POLICY for run in runs]
    bulk_insert(PolicyDecisions, COLUMNS, rows)


def _row(view: View, run: DecisionRun) -> tuple[object, ...]:
    known = [figure for figure in run.estimates if figure != NO_FIGURE]
    reason = redact(run.reason).replace("\x00", "\ufffd")[:300]
    return (
        view.pk, run.first_step, run.last_step, run.outcome, reason, run.rule[:200], run.threshold,
        min(known, default=None), max(known, default=None), pack_figures(run.estimates) if known else None,
    )  # fmt: skip
