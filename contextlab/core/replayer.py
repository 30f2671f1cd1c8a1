"""Every step of a session at once, under a policy: a report per step, and the spans of the whole.

    replayer = Replayer(timeline, policy)
    for result in replayer.run():      # one step after the other, so that a caller can write batches
        ...
    spans = replayer.spans()

What replay gives for a step equals what the projector gives for the memory of that step alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from contextlab.core.policy import Policy
from contextlab.core.projection import Budgeted, Projector, TokenCount
from contextlab.core.replaying.compacting import Compacting
from contextlab.core.replaying.continued import Beginning, Continued
from contextlab.core.replaying.decisions import DecisionRun
from contextlab.core.replaying.fires import Fire
from contextlab.core.replaying.on_top import OnTop, fast
from contextlab.core.replaying.results import Replay, StepResult
from contextlab.core.replaying.resumed import Resuming, Stored
from contextlab.core.replaying.sizes import Sizes
from contextlab.core.replaying.stepwise import Stepwise, Texts
from contextlab.core.replaying.swift import Swift
from contextlab.core.replaying.unfired import Unfired
from contextlab.core.replaying.watched import Watched
from contextlab.core.spans import Span
from contextlab.core.timeline import Timeline


class Replayer:
    """Replays a timeline under a policy, step by step."""

    def __init__(
        self,
        timeline: Timeline,
        policy: Policy | Projector,
        *,
        count: TokenCount | None = None,
        texts: Texts | None = None,
        beginning: Beginning | None = None,
        stored: Stored | None = None,
    ) -> None:
        """`count` counts placeholders (estimated without it), `texts` serves projectors that read texts.

        With a `beginning` the replay goes on from a memory made elsewhere, and gives the steps from there on.
        `stored` gives what a model has written already for a place where the policy would ask one.
        """
        projector = policy.projector if isinstance(policy, Policy) else policy
        sizes = Sizes(timeline, count)
        self._compacting: Compacting | OnTop | Unfired | Watched | None = None
        self._engine: Compacting | OnTop | Stepwise | Swift | Unfired
        if isinstance(policy, Policy) and beginning is not None:
            on_top = fast(sizes, policy, beginning) or Continued(sizes, policy, texts, beginning)
            self._engine = self._compacting = on_top
            return
        if isinstance(policy, Policy) and policy.compaction is not None and not policy.needs_model:
            unfired = Unfired.of(sizes, policy, texts) or Compacting(sizes, policy, texts)
            self._engine = self._compacting = unfired
            return
        budget = projector.as_budget() if isinstance(projector, Budgeted) else None
        self._engine = Stepwise(sizes, projector, texts) if budget is None else Swift(sizes, budget)
        if isinstance(policy, Policy) and policy.compaction is not None:
            go_on = Resuming(sizes, policy, texts, stored)
            self._compacting = Watched(sizes, policy, self._engine.run(), go_on)

    def run(self) -> Iterator[StepResult]:
        """The steps in order; to be used once."""
        for step, report in (self._compacting or self._engine).run():
            yield StepResult(step, report)

    @property
    def fires(self) -> list[Fire]:
        """The compactions of the steps run so far: made ones, or the first that would have needed a model."""
        return self._compacting.fires if self._compacting is not None else []

    @property
    def decisions(self) -> list[DecisionRun]:
        """Whether a compaction was due before each of the steps run so far; [] for a policy that has none."""
        return self._compacting.decisions.runs if self._compacting is not None else []

    def spans(self) -> list[Span]:
        """The spans of the steps run so far, in the order of their first step and item."""
        found = self._engine.writer.spans()
        return self._compacting.spans(found) if isinstance(self._compacting, Watched) else found


def replay(
    timeline: Timeline,
    policy: Policy | Projector,
    *,
    count: TokenCount | None = None,
    texts: Texts | None = None,
) -> Replay:
    """All steps at once."""
    replayer = Replayer(timeline, policy, count=count, texts=texts)
    reports = [result.report for result in replayer.run()]
    return Replay(reports, replayer.spans())
