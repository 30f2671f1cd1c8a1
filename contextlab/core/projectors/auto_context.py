"""What automatic context compression shows of a memory without asking a model: large texts as previews.

| step | rule                                                                                    | reason in the fates |
|------|-----------------------------------------------------------------------------------------|---------------------|
| 1    | below both thresholds everything stays                                                  |                     |
| 2    | strategy 2: large texts before the newest last_keep messages and the last answer        | strategy_2          |
| 3    | while it stays due, strategy 3: large texts before the last answer                      | strategy_3          |
| 4    | what needs a model and finds something is named: `would fire here: tool_runs`           | a note              |

Each step is projected from its own memory. A live agent would go on from the one that it compressed before, so what
stands here after the first "would fire here" is a lower bound. The ids in the tags are made from the items.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Self

from contextlab.core.auto_context.options import AutoContextOptions, read_auto_context
from contextlab.core.auto_context.strategy import strategies
from contextlab.core.auto_context.work import Work
from contextlab.core.budget import Budget
from contextlab.core.compaction import Deps, Snapshot
from contextlab.core.items import Item, Verdict
from contextlab.core.policies.auto_context import is_due
from contextlab.core.projecting.draft import Draft
from contextlab.core.projection import Placeholder, Projection, Source

WOULD_FIRE = "would fire here: {} (needs a model)"
STILL_DUE = "still due: {:,} of {}"


@dataclass(slots=True, frozen=True)
class AutoContextView:
    """Large texts become previews: AgentScope's strategies that need no model."""

    kind: ClassVar[str] = "auto_context"
    options: AutoContextOptions = field(default_factory=AutoContextOptions)

    @classmethod
    def from_options(cls, options: Mapping[str, object], mode: str) -> Self:
        """Read the options; raises PolicyError."""
        return cls(read_auto_context(options, mode, "projector"))

    def project(self, source: Source) -> Projection:
        """The memory with previews in the place of large texts."""
        draft = Draft.start(source, Budget(mode=self.options.mode, pair_guard=False))
        work = Work.start(Snapshot(tuple(source.items)), self.options, Deps(count=source.count))
        self._work(work)
        return _finish(draft, work)

    def _work(self, work: Work) -> None:
        for strategy in strategies():
            decision = is_due(work.view, self.options)
            if not decision.due:
                return
            if not strategy.needs_model:
                strategy.run(work)
            elif strategy.fires(work):
                work.notes.append(WOULD_FIRE.format(strategy.change.strategy))
        decision = is_due(work.view, self.options)
        if decision.due:
            work.notes.append(STILL_DUE.format(decision.estimate, decision.rule))


PROJECTOR = AutoContextView


def _finish(draft: Draft, work: Work) -> Projection:
    """The projection: nothing was folded, so that every item stands at its place."""
    for index, (item, shown) in enumerate(zip(draft.source.items, work.view.items(), strict=True)):
        if shown is not item:
            draft.replace(index, _stand_in(item, shown.text), work.fates[item.id])
    draft.notes += work.notes
    one = draft.finish()
    one.report.offloaded_items = sum(fate.verdict == Verdict.OFFLOADED for fate in one.fates)
    return one


def _stand_in(item: Item, text: str) -> Placeholder:
    return Placeholder(
        id=item.id,
        kind=item.kind,
        text=text,
        entry=item.entry,
        tool=item.tool,
        call_id=item.call_id,
        injected=item.injected,
        opens_turn=item.opens_turn,
        media=item.media,
        error=item.error,
        original=item,
    )
