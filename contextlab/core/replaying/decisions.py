"""The decision log of a replay: before every step, whether a compaction was due, by which figures, and what came of it.

| outcome     | means                                                                              |
|-------------|------------------------------------------------------------------------------------|
| not_due     | evaluated, and the rule did not fire                                               |
| made        | fired, and memory was replaced                                                     |
| noop        | fired, and nothing was to be done (reason: nothing_to_summarise, no_gain)          |
| paused      | due, but nothing was tried (reason: cool_down, no_use with the part that is too big, failures) |
| failed      | fired, and went wrong: memory is as it was (reason: the error)                     |
| conflict    | fired, and memory was changed meanwhile                                            |
| queued      | fired, and its run has not ended yet (live sessions only)                          |
| needs_model | would have fired, and needs a model: nobody was asked                              |
| unknown     | not evaluated: memory behind a compaction that was not made is not known           |

Neighbouring steps with the same outcome, reason and rule are one run that holds the estimate of each of them: the log
of 20,000 steps is a few dozen rows and loses no figure.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

from contextlab.core.agent.auto_compaction import COOL_DOWN, USELESS, AutoCompaction
from contextlab.core.agent.live import Compaction
from contextlab.core.compaction import Decision

NOT_DUE, MADE, NOOP, PAUSED = "not_due", "made", "noop", "paused"
FAILED, CONFLICT, NEEDS_MODEL, UNKNOWN = "failed", "conflict", "needs_model", "unknown"
QUEUED = "queued"
OUTCOMES = (NOT_DUE, QUEUED, MADE, NOOP, PAUSED, FAILED, CONFLICT, NEEDS_MODEL, UNKNOWN)
LONGEST_RUN = 1_000
"""Steps: a page that shows a few of them need not unpack all."""
NO_FIGURE = -1


@dataclass(slots=True)
class DecisionRun:
    """Decisions of neighbouring steps that came to the same."""

    first_step: int
    outcome: str
    reason: str
    rule: str
    threshold: int | None
    estimates: array[int] = field(default_factory=lambda: array("q"))
    """One for each step; NO_FIGURE where the rule has none."""

    @property
    def last_step(self) -> int:
        """The last step of the run."""
        return self.first_step + len(self.estimates) - 1


class DecisionLog:
    """Collects decisions, step by step."""

    def __init__(self) -> None:
        """Nothing was decided yet."""
        self.runs: list[DecisionRun] = []

    def evaluated(self, step: int, auto: AutoCompaction, done: Compaction | None) -> None:
        """What a live session's automatic path did before a step."""
        outcome, reason = came_to(auto, done)
        self.add(step, auto.decided, outcome, reason)

    def add(self, step: int, decision: Decision | None, outcome: str, reason: str = "") -> None:
        """One decision; None for one that could not be made, or was not asked for."""
        rule, threshold, estimate = "", None, None
        if decision is not None:
            rule, threshold, estimate = decision.rule, decision.threshold, decision.estimate
        last = self.runs[-1] if self.runs else None
        same = last is not None and (last.outcome, last.reason, last.rule, last.threshold) == (
            outcome, reason, rule, threshold,
        )  # fmt: skip
        if last is None or not same or last.last_step != step - 1 or len(last.estimates) >= LONGEST_RUN:
            last = DecisionRun(step, outcome, reason, rule, threshold)
            self.runs.append(last)
        last.estimates.append(NO_FIGURE if estimate is None else estimate)


def came_to(auto: AutoCompaction, done: Compaction | None) -> tuple[str, str]:
    """Outcome and reason of one evaluation."""
    if done is None:
        return NOT_DUE, ""
    if auto.paused:
        part = f": {auto.part}" if auto.part and done.reason in (COOL_DOWN, USELESS) else ""
        return PAUSED, done.reason + part
    return {"done": MADE, "noop": NOOP, "conflict": CONFLICT}.get(done.state, FAILED), (
        "" if done.state == "done" else done.reason
    )
