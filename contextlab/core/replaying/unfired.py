"""Replay of a policy that compacts without a model: in cuts (swift.py) until a compaction is due for the first time.

Up to there memory is what the log brought, so that the steps are those of the projector alone and the decision comes
from sizes. From there on memory is replaced: compacting.py goes on. A policy that never fires costs its projection.
"""

from __future__ import annotations

from collections.abc import Iterator

from contextlab.core.policy import Policy
from contextlab.core.projection import Budgeted
from contextlab.core.replaying.compacting import Compacting
from contextlab.core.replaying.decisions import NOT_DUE, DecisionLog
from contextlab.core.replaying.fires import Fire
from contextlab.core.replaying.gauge import Gauge
from contextlab.core.replaying.sizes import Sizes
from contextlab.core.replaying.stepwise import Texts
from contextlab.core.replaying.swift import Swift
from contextlab.core.report import Report
from contextlab.core.spans import Span, within
from contextlab.core.timeline import Step


class Unfired:
    """Replays a policy up to its first compaction, and what follows."""

    def __init__(self, swift: Swift, gauge: Gauge, rest: Compacting) -> None:
        """`rest` goes on where a compaction is due."""
        self.writer = self
        self._swift = swift
        self._gauge = gauge
        self._rest = rest
        self._first: int | None = None
        """The first step that is the rest's."""

    @classmethod
    def of(cls, sizes: Sizes, policy: Policy, texts: Texts | None) -> Unfired | None:
        """The replay, where projector and trigger allow it."""
        projector, gauge = policy.projector, Gauge.of(sizes, policy)
        budget = projector.as_budget() if isinstance(projector, Budgeted) else None
        if budget is None or gauge is None:
            return None
        return cls(Swift(sizes, budget), gauge, Compacting(sizes, policy, texts))

    @property
    def fires(self) -> list[Fire]:
        """The compactions that were made."""
        return self._rest.fires

    @property
    def decisions(self) -> DecisionLog:
        """Those of all steps."""
        return self._rest.decisions

    def run(self) -> Iterator[tuple[Step, Report]]:
        """Each step with its report."""
        for step, report in self._swift.run():
            decision = self._gauge.decide(self._swift.tape)
            if decision.due:
                self._first = step.number
                yield from self._rest.run_from(step.number)
                return
            self.decisions.add(step.number, decision, NOT_DUE)
            yield step, report

    def spans(self) -> list[Span]:
        """The spans of both; what went on as it was is one."""
        before = self._swift.writer.spans()
        if self._first is None:
            return before
        rest = within(self._rest.writer.spans(), self._first, None)
        begun = {_place(span): span for span in rest if span.first_step == self._first}
        found = [span for span in rest if span.first_step != self._first]
        for span in within(before, 1, self._first):
            after = begun.pop(_place(span), None) if span.end_step == self._first else None
            found.append(span if after is None else span._replace(end_step=after.end_step))
        return sorted([*found, *begun.values()], key=lambda span: (span.first_step, span.first_item))


def _place(span: Span) -> tuple[object, ...]:
    return span.first_item, span.last_item, span.verdict, span.reason
