"""By type: old tool results and old reasoning shrink to placeholders first, then the limits work on what is left.

Unconfigured tiers make it the default projector exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Self

from contextlab.core.budget import Budget
from contextlab.core.documents.options import LIMITS, TIERS, read_budget
from contextlab.core.items import Item, Kind, Reason, Verdict
from contextlab.core.projecting.draft import Draft
from contextlab.core.projecting.stand_ins import REASONING_CLEARED, result_cleared
from contextlab.core.projection import NONE, Fate, Placeholder, Projection, Source, is_prompt, last_index
from contextlab.core.projectors.default import apply_limits

TIER1 = Fate(Verdict.CLEARED, Reason.TIER1)
TIER2 = Fate(Verdict.REASONING_CLEARED, Reason.TIER2)


@dataclass(slots=True, frozen=True)
class TypeAwareProjector:
    """Micro-compaction of results (tier 1) and trimming of reasoning (tier 2) before the limits."""

    kind: ClassVar[str] = "type_aware"
    budget: Budget = field(default_factory=Budget)

    @classmethod
    def from_options(cls, options: Mapping[str, object], mode: str) -> Self:
        """Make one from a policy document's options."""
        return cls(read_budget(options, LIMITS + TIERS, mode))

    def as_budget(self) -> Budget:
        """The budget: all of it counts here."""
        return self.budget

    def project(self, source: Source) -> Projection:
        """Tiers, limits, guard."""
        draft = Draft.start(source, self.budget)
        if self.budget.max_recent_tool_results is not None:
            clear_old_results(draft, self.budget.max_recent_tool_results)
        if self.budget.trim_old_reasoning:
            clear_old_reasoning(draft)
        apply_limits(draft)
        return draft.finish()


PROJECTOR = TypeAwareProjector


def clear_old_results(draft: Draft, recent: int) -> None:
    """Tier 1: all but the newest `recent` results are replaced; what a person pinned is not."""
    items = draft.source.items
    results = [index for index, item in enumerate(items) if item.kind == Kind.TOOL_RESULT]
    old = [index for index in results[: max(0, len(results) - recent)] if _may_clear(draft, index)]
    for index in old:
        call = draft.source.pairs[index]
        name = items[call].tool if call != NONE else None
        text = result_cleared(name, items[index].call_id)
        draft.replace(index, stand_in(items[index], text), TIER1)
    if old:
        draft.notes.append(results_note(len(old), recent))


def clear_old_reasoning(draft: Draft) -> None:
    """Tier 2: reasoning before the last user item is replaced; without a user item all of it is old."""
    items = draft.source.items
    prompt = last_index(items, is_prompt)
    end = len(items) if prompt == NONE else prompt
    old = [i for i in range(end) if items[i].kind == Kind.REASONING and _may_clear(draft, i)]
    for index in old:
        draft.replace(index, stand_in(items[index], REASONING_CLEARED), TIER2)
    if old:
        draft.notes.append(reasoning_note(len(old)))


def results_note(cleared: int, recent: int) -> str:
    """The note of tier 1."""
    return f"tier1 microcompact: cleared {cleared} old tool result(s), kept recent {recent}"


def reasoning_note(cleared: int) -> str:
    """The note of tier 2."""
    return f"tier2 reasoning-trim: cleared {cleared} reasoning item(s)"


def stand_in(item: Item, text: str) -> Placeholder:
    """A placeholder in the place of an item: same id, kind, entry and call id, another text. One is enough."""
    if isinstance(item, Placeholder):
        return item
    return Placeholder(
        id=item.id,
        kind=item.kind,
        text=text,
        entry=item.entry,
        tool=item.tool,
        call_id=item.call_id,
        original=item,
    )


def _may_clear(draft: Draft, index: int) -> bool:
    return draft.pins[index] != Reason.PINNED_BY_PERSON
