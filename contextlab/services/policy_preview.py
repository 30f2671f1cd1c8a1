"""A policy looked at on a session before anybody keeps it: replayed up to a step, within a few seconds.

Nothing is written and no model is asked. Sizes of placeholders and summaries are estimated here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from contextlab.core import Policy, Replayer, verdicts_at
from contextlab.core.errors import ContextLabError
from contextlab.core.items import Verdict
from contextlab.core.replaying.fires import Fire
from contextlab.core.replaying.results import StepResult
from contextlab.core.report import Report
from contextlab.core.spans import Painted
from contextlab.core.timeline import UNKNOWN, Timeline
from contextlab.services.texts import SessionTexts
from contextlab.services.timelines import load_timeline
from contextlab.store.models import Session

MOST_ITEMS = 20_000
SECONDS = 3.0
RUNS_SHOWN = 120
FIRES_SHOWN = 20


class NoPreview(Exception):
    """It cannot be looked at here; the message says why and what to do instead."""


@dataclass(frozen=True, slots=True)
class ItemRun:
    """Neighbouring items with one fate."""

    first: int
    last: int
    verdict: Verdict
    reason: str
    tokens: int

    @property
    def items(self) -> int:
        """How many."""
        return self.last - self.first + 1


@dataclass(frozen=True, slots=True)
class PolicyPreview:
    """A session under a policy at one step."""

    step: int
    wanted: int
    """The step that was asked for: a later one than `step` where time ran out."""
    steps: int
    report: Report
    runs: Sequence[ItemRun]
    runs_total: int
    counts: dict[str, int]
    """Items by verdict."""
    fires: Sequence[Fire] = field(default_factory=tuple)
    fires_total: int = 0

    @property
    def counted(self) -> bool:
        """Whether its figures are counted, not estimated."""
        return self.report.token_source == "counted"  # noqa: S105 - no password

    @property
    def whole(self) -> bool:
        """Whether the step that was asked for was reached."""
        return self.step == self.wanted

    @property
    def saved(self) -> int | None:
        """Tokens that are not sent, of those in memory; None where that is not known."""
        report = self.report
        if report.source_tokens is None or report.projected_tokens is None:
            return None
        return report.source_tokens - report.projected_tokens


def preview(
    session: Session,
    policy: Policy,
    step: int | None = None,
    *,
    seconds: float = SECONDS,
    now: Callable[[], float] = time.monotonic,
) -> PolicyPreview:
    """The session under a policy at a step (the last one without it); raises NoPreview."""
    if not session.steps:
        raise NoPreview("This session has no model call, so there is nothing to project.")
    if session.items > MOST_ITEMS:
        raise NoPreview(
            f"This session has {session.items:,} items; a preview looks at {MOST_ITEMS:,} at most. "
            "Save the policy and open the session under it: that is worked out in the background."
        )
    wanted = min(step or session.steps, session.steps)
    timeline = load_timeline(session)
    del timeline.steps[wanted:]
    replayer = Replayer(timeline, policy, texts=SessionTexts(session))
    try:
        last = _last(replayer, now() + seconds, now)
    except ContextLabError as error:
        raise NoPreview(f"The policy stops at this session: {error}") from error
    fates = verdicts_at(replayer.spans(), last.step.number, range(last.step.upto))
    runs = _runs(timeline, fates)
    return PolicyPreview(
        last.step.number, wanted, session.steps, last.report, runs[-RUNS_SHOWN:], len(runs), _counts(fates),
        replayer.fires[:FIRES_SHOWN], len(replayer.fires),
    )  # fmt: skip


def _last(replayer: Replayer, end: float, now: Callable[[], float]) -> StepResult:
    """The result of the last step that can be reached in time; the first is always."""
    reached: StepResult | None = None
    for result in replayer.run():
        reached = result
        if now() > end:
            break
    if reached is None:
        raise NoPreview("This session is being read anew; try again in a moment.")
    return reached


def _counts(fates: Sequence[Painted]) -> dict[str, int]:
    counts = {str(verdict): 0 for verdict in Verdict}
    for verdict, _ in fates:
        counts[verdict] += 1
    return {verdict: number for verdict, number in counts.items() if number}


def _runs(timeline: Timeline, fates: Sequence[Painted]) -> list[ItemRun]:
    runs: list[ItemRun] = []
    start = 0
    for at in range(1, len(fates) + 1):
        if at < len(fates) and fates[at] == fates[start]:
            continue
        verdict, reason = fates[start]
        tokens = sum(_tokens(timeline, place) for place in range(start, at))
        runs.append(ItemRun(start, at - 1, verdict, str(reason or ""), tokens))
        start = at
    return runs


def _tokens(timeline: Timeline, place: int) -> int:
    counted = timeline.tokens[place]
    return timeline.estimates[place] if counted == UNKNOWN else counted
