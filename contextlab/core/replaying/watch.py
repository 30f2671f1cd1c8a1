"""Where a policy would have compacted and needs a model: the mark, and what is told of the steps behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from contextlab.core.compaction import Decision
from contextlab.core.replaying.decisions import FAILED, NEEDS_MODEL, NOT_DUE, UNKNOWN, DecisionLog
from contextlab.core.replaying.fires import Fire, fire_at
from contextlab.core.timeline import Step


class Watch:
    """Decides before each step, up to the first place where a compaction would have been due."""

    def __init__(self, fires: list[Fire], decisions: DecisionLog) -> None:
        """Both are added to."""
        self.fires = fires
        self.decisions = decisions
        self.over = False
        """Whether memory is not known any more."""

    def look(self, decide: Callable[[], Decision], step: Step) -> str:
        """The note for the step's report; empty where nothing was due."""
        if self.over:
            return self.behind(step)
        try:
            decision = decide()
        except Exception as error:  # a trigger may be a stranger's
            self.decisions.add(step.number, None, FAILED, str(error))
            return ""
        if not decision.due:
            self.decisions.add(step.number, decision, NOT_DUE)
            return ""
        return self.unmade(step, decision)

    def behind(self, step: Step) -> str:
        """The note of a step behind the mark."""
        self.decisions.add(step.number, None, UNKNOWN)
        return f"after an unmade compaction (step {self.fires[-1].step:,})"

    def unmade(self, step: Step, decision: Decision | None) -> str:
        """Mark the place; the note for the step's report."""
        self.decisions.add(step.number, decision, NEEDS_MODEL)
        fire = replace(fire_at(step, decision), reason=NEEDS_MODEL)
        self.fires.append(fire)
        self.over = True
        return fire.note
