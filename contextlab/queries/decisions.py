"""The decision log of a view's policy: where a compaction was evaluated, what that came to, and by which figures.

decision_log(view_id)              the runs of steps that came to the same, with totals by outcome
decisions_of(view_id, 100, 199)    one line for each step of a range
decision_at(view_id, 120)          that of one step
policy_changes(view_id)            where a live session got another policy
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F, Sum

from contextlab.core.replaying.decisions import NO_FIGURE, NOT_DUE, OUTCOMES
from contextlab.store.figures import unpack_figures
from contextlab.store.models import PolicyChange
from contextlab.store.models.policies import PolicyDecisions

SHOWN = 200
MOST_STEPS = 1000


@dataclass(frozen=True, slots=True)
class DecisionRange:
    """Neighbouring steps whose decisions came to the same."""

    first_step: int
    last_step: int
    outcome: str
    reason: str
    rule: str
    threshold: int | None
    lowest: int | None
    highest: int | None
    """Of the estimates, in the unit of the rule; None where the rule has none."""

    @property
    def steps(self) -> int:
        """How many."""
        return self.last_step - self.first_step + 1

    @property
    def due(self) -> bool:
        """Whether the rule fired."""
        return self.outcome != NOT_DUE


@dataclass(frozen=True, slots=True)
class StepDecision:
    """The decision before one step."""

    step: int
    outcome: str
    reason: str
    rule: str
    threshold: int | None
    estimate: int | None


@dataclass(frozen=True, slots=True)
class ChangedPolicy:
    """A live session got another policy."""

    step: int
    """The first one under it."""
    at: datetime
    before: str
    after: str
    """Names."""
    document: dict[str, Any]
    """The new one."""


@dataclass(frozen=True, slots=True)
class DecisionLog:
    """The decisions of a view."""

    ranges: Sequence[DecisionRange]
    """In order; the first SHOWN from the step that was asked for on."""
    total: int
    """Of all ranges."""
    steps: dict[str, int]
    """Steps by outcome, those that there are, in the order of OUTCOMES."""

    @property
    def more(self) -> int:
        """Ranges that are not listed."""
        return self.total - len(self.ranges)


def decision_log(
    view_id: int, outcomes: Sequence[str] = (), first: int = 1, most: int = SHOWN
) -> DecisionLog:
    """The ranges that reach to `first` or behind it, of these outcomes (all without any), with totals of all."""
    rows = PolicyDecisions.objects.filter(view_id=view_id)
    length = F("last_step") - F("first_step") + 1
    counted = dict(rows.order_by("outcome").values_list("outcome").annotate(steps=Sum(length)))
    wanted = rows.filter(outcome__in=outcomes) if outcomes else rows
    listed = wanted.filter(last_step__gte=first).order_by("first_step").values_list(*RANGE_COLUMNS)[:most]
    steps = {name: counted[name] for name in OUTCOMES if name in counted}
    return DecisionLog([DecisionRange(*row) for row in listed], wanted.count(), steps)


def decisions_of(view_id: int, first: int, last: int) -> list[StepDecision]:
    """The decisions before the steps of a range, at most MOST_STEPS of them."""
    last = min(last, first + MOST_STEPS - 1)
    rows = PolicyDecisions.objects.filter(view_id=view_id, first_step__lte=last, last_step__gte=first)
    found: list[StepDecision] = []
    for row in rows.order_by("first_step"):
        figures = unpack_figures(bytes(row.estimates)) if row.estimates is not None else None
        for step in range(max(first, row.first_step), min(last, row.last_step) + 1):
            figure = NO_FIGURE if figures is None else figures[step - row.first_step]
            estimate = None if figure == NO_FIGURE else figure
            found.append(StepDecision(step, row.outcome, row.reason, row.rule, row.threshold, estimate))
    return found


def policy_changes(view_id: int) -> list[ChangedPolicy]:
    """The changes of a live session's policy, newest first."""
    rows = (
        PolicyChange.objects.filter(view_id=view_id)
        .order_by("-id")
        .values_list("step", "at", "before", "policy")
    )
    return [
        ChangedPolicy(step, at, str(before.get("name", "")), str(after.get("name", "")), after)
        for step, at, before, after in rows[:SHOWN]
    ]


def decision_at(view_id: int, step: int) -> StepDecision | None:
    """The decision before a step; None for a view without a decision log, and for steps that it has not."""
    return next(iter(decisions_of(view_id, step, step)), None)


RANGE_COLUMNS = (
    "first_step", "last_step", "outcome", "reason", "rule", "threshold", "lowest", "highest",
)  # fmt: skip
