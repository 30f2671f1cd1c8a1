"""What a replay notes where a compaction was due."""

from __future__ import annotations

from dataclasses import dataclass

from contextlab.core.compaction import CompactResult, Decision
from contextlab.core.timeline import Step

NEEDS_MODEL = "needs_model"


@dataclass(slots=True, frozen=True)
class Fire:
    """A compaction that was due before a step, with the figures that decided it."""

    step: int
    rule: str
    estimate: int | None = None
    threshold: int | None = None
    made: bool = False
    reason: str = ""
    """Why it was not made: needs_model, or what the policy said."""
    tokens_before: int | None = None
    tokens_after: int | None = None
    summarised: int = 0
    """Items that it summarised."""
    shortened: int = 0
    """Items of which it left a shorter text."""
    result: CompactResult | None = None

    @property
    def note(self) -> str:
        """What the step's report says."""
        figure = "" if self.estimate is None else f" ({self.estimate:,})"
        if self.made:
            did = f"{self.summarised} item(s) summarised"
            if self.shortened:
                did = f"{self.shortened} item(s) shortened" + (f", {did}" if self.summarised else "")
            return f"compacted here: {self.rule}{figure}, {did}"
        if self.reason == NEEDS_MODEL:
            return f"compaction would fire here: {self.rule}{figure}; it needs a model, so it was not made"
        return f"compaction due, not made: {self.rule}{figure}, {self.reason}"


def fire_at(step: Step, decision: Decision | None) -> Fire:
    """A compaction that is due before a step, with the figures that decided it."""
    if decision is None:
        return Fire(step.number, "")
    return Fire(step.number, decision.rule, decision.estimate, decision.threshold)
