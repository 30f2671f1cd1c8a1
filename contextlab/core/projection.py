"""The projector's contract: from the memory before a step to what the model sees of it.

A projector is given a `Source` and answers with a `Projection`: one fate for every source item, the items that go
to the model in their order, and a report. It never changes the source. It may leave items out or put a
`Placeholder` in the place of one; it never invents others and never reorders.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol, Self, runtime_checkable

from contextlab.core.budget import Budget
from contextlab.core.items import Item, Kind, Reason, Verdict, estimate_tokens
from contextlab.core.report import Report

NONE = -1
"""In index columns: no partner."""

TokenCount = Callable[[str], int]
"""Counts the tokens of a text."""


@dataclass(slots=True, frozen=True)
class Fate:
    """What becomes of one item at one step, and why."""

    verdict: Verdict
    reason: Reason | None = None


KEPT = Fate(Verdict.KEPT)


@dataclass(slots=True)
class Placeholder(Item):
    """A stand-in for an item whose content is not sent; `original` is the item as it stands in memory."""

    original: Item | None = None


@dataclass(slots=True)
class Source:
    """The memory before a step, with what projectors need to know about it, index by index."""

    items: Sequence[Item]
    pairs: Sequence[int]
    """Index of a call's result, of a result's call, or NONE."""
    tokens: Sequence[int]
    """Counted, or estimated where `uncounted` says that some are."""
    uncounted: int = 0
    """How many items have only an estimate."""
    count: TokenCount | None = None
    """Counts what has no count yet, placeholders too; without it they are estimated."""

    @classmethod
    def of(cls, items: Sequence[Item], count: TokenCount | None = None) -> Self:
        """Describe a plain list of items; ui items must not be among them."""
        tokens = [item_tokens(item, count) for item in items]
        uncounted = sum(item.tokens is None for item in items) if count is None else 0
        return cls(items, pair_up(items), tokens, uncounted, count)

    def placeholder_tokens(self, text: str) -> int:
        """Size of a placeholder's text."""
        return estimate_tokens(text) if self.count is None else self.count(text)


@dataclass(slots=True)
class Projection:
    """What the model sees (`items`), what became of each source item (`fates`, by index), and the figures."""

    items: list[Item]
    fates: list[Fate]
    report: Report
    sources: list[int] = field(default_factory=list)
    """For each projected item the index of its source item."""


class Projector(Protocol):
    """What a module of `core/projectors` offers as PROJECTOR, and a plug-in under its entry point."""

    kind: ClassVar[str]
    """Its name in policy documents."""

    @classmethod
    def from_options(cls, options: Mapping[str, object], mode: str) -> Self:
        """Make one from a document's options; raises PolicyError that names the key which it does not know."""
        ...

    def project(self, source: Source) -> Projection:
        """Project; same source, same answer."""
        ...


@runtime_checkable
class Budgeted(Protocol):
    """A projector that does exactly what a budget says: replay then need not ask it at every step."""

    def as_budget(self) -> Budget:
        """The budget, without what this projector does not look at."""
        ...


def project(
    items: Sequence[Item] | None, projector: Projector | Budget | None = None, count: TokenCount | None = None
) -> Projection:
    """Project a live agent's memory. A Budget alone uses the default projector; None keeps everything."""
    from contextlab.core.projectors.default import DefaultProjector

    if projector is None or isinstance(projector, Budget):
        projector = DefaultProjector(projector or Budget(pair_guard=False))
    return projector.project(Source.of(items or (), count))


def item_tokens(item: Item, count: TokenCount | None = None) -> int:
    """Tokens of an item: as known, else counted, else estimated."""
    if item.tokens is not None:
        return item.tokens
    if count is None:
        return estimate_tokens(item.text, item.tool)
    return count(item.text) + (count(item.tool) if item.tool and item.kind == Kind.TOOL_CALL else 0)


def pair_up(items: Sequence[Item]) -> list[int]:
    """Pair each result with the nearest call before it that has its id and waits; ids are used again in real logs."""
    pairs = [NONE] * len(items)
    waiting: dict[str, int] = {}
    before: dict[int, int] = {}
    """Where an id is used again while a call of it waits: that call, by the later one."""
    calls, results = Kind.TOOL_CALL, Kind.TOOL_RESULT
    for index, item in enumerate(items):
        if (call_id := item.call_id) is None:
            continue
        kind = item.kind
        if kind == results:
            if (call := waiting.pop(call_id, NONE)) != NONE:
                pairs[call], pairs[index] = index, call
                if call in before:
                    waiting[call_id] = before[call]
        elif kind == calls and item.needs_result:
            if call_id in waiting:
                before[index] = waiting[call_id]
            waiting[call_id] = index
    return pairs


def is_prompt(item: Item) -> bool:
    """Whether the item is a real user item: it ends the turn before it. Injected text does not."""
    return item.kind == Kind.USER and item.injected is None


def is_answer(item: Item) -> bool:
    """Whether the item is text by which the assistant showed that it has read what stands before."""
    return item.kind == Kind.ASSISTANT and item.chars > 0


def last_index(items: Sequence[Item], wanted: Callable[[Item], bool]) -> int:
    """Index of the last item that is wanted, NONE without one."""
    return next((index for index in range(len(items) - 1, -1, -1) if wanted(items[index])), NONE)
