"""The data of the context-window chart, made once per projection and kept on the view.

    {
      "buckets": [{"step": n, "from": a, "to": b, "tokens": [by kind, in the order of KINDS without ui], "total": t,
                   "calibrated": c | null, "reported": r | null, "limit": l | null}, ...],
      "marks": [{"step": n, "kind": "compaction" | "micro" | "clear" | "restart", "number": k | null, "pre": p | null,
                 "post": q | null, "trigger": "auto" | ... | what began anew | null}, ...,
                {"step": n, "kind": "would_fire", ...}, ...],
      "steps_total": N,
      "token_source": "counted" | "estimated"
    }

At most BUCKETS buckets. Where there are more steps, a bucket shows the largest step of its range `from`..`to`
(inclusive) and nothing of the others; `step` is that step. "Largest" goes by `total`, the tokens projected by our own
count: all figures of a bucket belong to that one step. `pre` is the context before a mark and `post` the one after
it, as the log states them, else as the provider reported them for the steps beside it. In the view of a policy the
compactions are the policy's: the log's own did not happen there. `would_fire` is one that needs a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from contextlab.core.items import Reason
from contextlab.core.report import Report
from contextlab.core.timeline import Step, Timeline
from contextlab.store.models import CompactionRecord, Session

if TYPE_CHECKING:
    from contextlab.core.replaying.fires import Fire

BUCKETS = 1200
MARKS = 2000


@dataclass(slots=True, frozen=True)
class Point:
    """A step on the chart."""

    step: int
    tokens: tuple[int, ...]
    total: int
    calibrated: int | None
    reported: int | None
    limit: int | None


class ChartMaker:
    """Takes the steps in order and keeps the largest of each bucket."""

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self._width = max(1, -(-steps // BUCKETS))
        self._buckets: list[Point] = []

    def add(self, point: Point) -> None:
        """The next step."""
        bucket = (point.step - 1) // self._width
        if bucket == len(self._buckets):
            self._buckets.append(point)
        elif point.total > self._buckets[bucket].total:
            self._buckets[bucket] = point

    def chart(self, marks: list[dict[str, Any]], counted: bool) -> dict[str, Any]:
        """The finished chart."""
        return {
            "buckets": [self._bucket(place, point) for place, point in enumerate(self._buckets)],
            "marks": marks[:MARKS],
            "steps_total": self.steps,
            "token_source": "counted" if counted else "estimated",
        }

    def _bucket(self, place: int, point: Point) -> dict[str, Any]:
        first = place * self._width + 1
        return {
            "step": point.step,
            "from": first,
            "to": min(first + self._width - 1, self.steps),
            "tokens": list(point.tokens),
            "total": point.total,
            "calibrated": point.calibrated,
            "reported": point.reported,
            "limit": point.limit,
        }


def point_of(step: Step, report: Report, limit: int | None) -> Point:
    """A step's place on the chart."""
    total = report.projected_tokens or 0
    return Point(
        step.number, report.composition, total, report.calibrated_tokens, report.reported_input_tokens, limit
    )


def marks_of(
    session: Session, timeline: Timeline, fires: Sequence[Fire] | None = None
) -> list[dict[str, Any]]:
    """What the log records of compactions, micro-compactions and cleared contexts, in order; in the view of a policy
    its `fires` in the place of the log's compactions."""
    marks = [] if fires is not None else _logged(session, timeline)
    marks += [_mark_of(fire, number) for number, fire in enumerate(fires or (), 1)]
    clears = {mark.at_step for mark in timeline.marks if mark.reason == Reason.CONTEXT_CLEARED}
    marks += [
        {"step": at_step, "kind": "clear", "number": None, "trigger": None,
         "pre": _reported(timeline.steps, at_step - 1), "post": _reported(timeline.steps, at_step)}
        for at_step in clears
    ]  # fmt: skip
    marks += [
        {
            "step": step.number,
            "kind": "restart",
            "number": None,
            "trigger": step.restart,
            "pre": None,
            "post": None,
        }
        for step in timeline.steps
        if step.restart
    ]
    return sorted(marks, key=lambda mark: (mark["step"], mark["kind"]))


def _logged(session: Session, timeline: Timeline) -> list[dict[str, Any]]:
    """Of the compactions that the log records."""
    if not (session.compactions or session.micro_compactions):
        return []  # for hundreds of subagents even building a query that is never run takes a while
    columns = ("at_step", "micro", "number", "pre_tokens", "post_tokens", "trigger")
    rows = CompactionRecord.objects.filter(session=session, revision=session.revision)
    return [
        {
            "step": at_step,
            "kind": "micro" if micro else "compaction",
            "number": number,
            "pre": pre if pre is not None else _reported(timeline.steps, at_step - 1),
            "post": post if post is not None else _reported(timeline.steps, at_step),
            "trigger": trigger or None,
        }
        for at_step, micro, number, pre, post, trigger in rows.values_list(*columns)
    ]


def _mark_of(fire: Fire, number: int) -> dict[str, Any]:
    return {
        "step": fire.step, "kind": "compaction" if fire.made else "would_fire", "number": number,
        "pre": fire.tokens_before if fire.made else fire.estimate, "post": fire.tokens_after, "trigger": fire.rule,
    }  # fmt: skip


def _reported(steps: Sequence[Step], number: int) -> int | None:
    return steps[number - 1].prompt_tokens if 0 < number <= len(steps) else None
