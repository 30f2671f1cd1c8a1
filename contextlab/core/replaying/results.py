"""What a replay gives: a report per step, and the spans of the whole."""

from __future__ import annotations

from dataclasses import dataclass

from contextlab.core.report import Report
from contextlab.core.spans import Span
from contextlab.core.timeline import Step


@dataclass(slots=True)
class StepResult:
    """The report of one step."""

    step: Step
    report: Report


@dataclass(slots=True, frozen=True)
class Replay:
    """A session seen one way: `reports[n - 1]` belongs to step n."""

    reports: list[Report]
    spans: list[Span]
