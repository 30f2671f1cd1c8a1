"""The worksheet of the built-in projectors: which items still stand while the stages work one after the other."""

from __future__ import annotations

from dataclasses import dataclass, field

from contextlab.core.budget import Budget
from contextlab.core.items import KINDS, Item, Kind, Reason, Verdict
from contextlab.core.projection import KEPT, NONE, Fate, Projection, Source, is_prompt, last_index
from contextlab.core.replaying.faults import NO_CALL, NO_RESULT, shortened
from contextlab.core.report import Report

COMPOSED: tuple[Kind, ...] = KINDS[:-1]
"""Kinds in the order of Report.composition: all but `ui`, which stands last."""


@dataclass(slots=True)
class Draft:
    """A projection in the making. A stage drops items, replaces them, adds notes; `finish` draws the sum."""

    source: Source
    budget: Budget
    shown: list[Item]
    """What would be sent for each source item."""
    tokens: list[int]
    """Size of what would be sent."""
    kept: list[bool]
    pins: list[Reason | None]
    """Why an item must stay: a person's pin, a system item, the prefix (set once the prefix is known)."""
    runs: list[range]
    """The entries, as ranges of indices."""
    prefix: int = 0
    """Entries at the start that are pinned."""
    dropped: dict[int, Reason] = field(default_factory=dict)
    replaced: dict[int, Fate] = field(default_factory=dict)
    restored: set[int] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    limits: set[Reason] = field(default_factory=set)
    """Limits that removed something."""
    estimated: bool = False
    """Whether a size in it is only an estimate."""

    @classmethod
    def start(cls, source: Source, budget: Budget) -> Draft:
        """Everything stands; the prefix and, in safe mode, system items and a person's pins are pinned."""
        items = source.items
        pins = [must_stay(item) if budget.safe else None for item in items]
        draft = cls(
            source, budget, list(items), list(source.tokens), [True] * len(items), pins, entry_runs(source)
        )
        draft.estimated = source.uncounted > 0
        draft.prefix = min(budget.pinned_prefix_items, len(draft.runs))
        return draft

    def free(self, run: range) -> list[int]:
        """The items of an entry that stand and may be dropped."""
        return [index for index in run if self.kept[index] and self.pins[index] is None]

    def pin_prefix(self) -> None:
        """Mark what the prefix holds, once its length is final."""
        for run in self.runs[: self.prefix]:
            for index in run:
                self.pins[index] = self.pins[index] or Reason.PINNED_PREFIX

    def drop(self, index: int, reason: Reason) -> None:
        """Leave an item out."""
        self.kept[index] = False
        self.dropped[index] = reason

    def replace(self, index: int, stand_in: Item, fate: Fate) -> None:
        """Send something else in the place of an item."""
        self.shown[index] = stand_in
        self.tokens[index] = self.source.placeholder_tokens(stand_in.text)
        self.replaced[index] = fate
        self.estimated = self.estimated or self.source.count is None

    def restore(self, index: int) -> None:
        """Take back that an item was left out (by the pair guard only)."""
        self.kept[index] = True
        del self.dropped[index]
        self.restored.add(index)

    def fate(self, index: int) -> Fate:
        """The item's fate as things stand."""
        if not self.kept[index]:
            return Fate(Verdict.DROPPED, self.dropped[index])
        if index in self.replaced:
            return self.replaced[index]
        if (reason := self.pins[index]) is not None:
            return Fate(Verdict.PINNED, reason)
        return Fate(Verdict.KEPT, Reason.PAIR_GUARD) if index in self.restored else KEPT

    def finish(self) -> Projection:
        """The projection with its report."""
        standing = [index for index, kept in enumerate(self.kept) if kept]
        fates = [self.fate(index) for index in range(len(self.kept))]
        return Projection(
            [self.shown[index] for index in standing], fates, self._report(standing, fates), standing
        )

    def _report(self, standing: list[int], fates: list[Fate]) -> Report:
        verdicts = [fate.verdict for fate in fates]
        entries = sum(any(self.kept[index] for index in run) for run in self.runs)
        report = Report(
            source_items=len(self.kept),
            projected_items=len(standing),
            dropped_items=len(self.kept) - len(standing),
            pinned_items=verdicts.count(Verdict.PINNED),
            cleared_items=verdicts.count(Verdict.CLEARED),
            reasoning_cleared_items=verdicts.count(Verdict.REASONING_CLEARED),
            source_entries=len(self.runs),
            projected_entries=entries,
            dropped_entries=len(self.runs) - entries,
            source_chars=sum(item.chars for item in self.source.items),
            projected_chars=sum(self.shown[index].chars for index in standing),
            source_tokens=sum(self.source.tokens),
            projected_tokens=sum(self.tokens[index] for index in standing),
            token_source="estimated" if self.estimated else "counted",
            item_limit_applied=Reason.MAX_ITEMS in self.limits,
            character_limit_applied=Reason.MAX_CHARS in self.limits,
            token_limit_applied=Reason.MAX_TOKENS in self.limits,
            notes=list(self.notes),
            composition=self._composition(standing),
        )
        report.over_budget = is_over(self.budget, report)
        report.source_faults = source_faults(self.source)
        report.head_end, report.tail_start = longest_gap(self.kept)
        return report

    def _composition(self, standing: list[int]) -> tuple[int, ...]:
        sums: dict[Kind, int] = dict.fromkeys(COMPOSED, 0)
        for index in standing:
            sums[self.source.items[index].kind] += self.tokens[index]
        return tuple(sums.values())


def must_stay(item: Item) -> Reason | None:
    """Why an item may never be left out: a person pinned it, or it is a system item."""
    if item.pinned:
        return Reason.PINNED_BY_PERSON
    return Reason.SYSTEM if item.kind == Kind.SYSTEM else None


def entry_runs(source: Source) -> list[range]:
    """The entries: neighbours with one entry id are one."""
    runs: list[range] = []
    start = 0
    for index in range(1, len(source.items) + 1):
        if index == len(source.items) or source.items[index].entry != source.items[start].entry:
            runs.append(range(start, index))
            start = index
    return runs


def source_faults(source: Source) -> list[str]:
    """Results without a call, and calls that nobody answered before the last prompt, by item id; a few of many."""
    items, prompt = source.items, last_index(source.items, is_prompt)
    found = []
    for index, item in enumerate(items):
        if source.pairs[index] != NONE:
            continue
        if item.kind == Kind.TOOL_RESULT:
            found.append(f"{NO_CALL}: {item.id}")
        elif item.kind == Kind.TOOL_CALL and item.needs_result and index < prompt:
            found.append(f"{NO_RESULT}: {item.id}")
    return shortened(found)


def is_over(budget: Budget, report: Report) -> bool:
    """Whether the projection is larger than a limit allows, for the sake of pins, pairs or the newest entry."""
    items, chars, tokens = budget.max_items, budget.max_approx_chars, budget.max_tokens
    return (
        (items is not None and report.projected_entries > items)
        or (chars is not None and report.projected_chars > chars)
        or (tokens is not None and (report.projected_tokens or 0) > tokens)
    )


def longest_gap(kept: list[bool]) -> tuple[int, int]:
    """The longest run that is left out, the first of several, as a half-open range; (0, 0) without one."""
    best = (0, 0)
    start = 0
    for index in range(len(kept) + 1):
        if index == len(kept) or kept[index]:
            if index - start > best[1] - best[0]:
                best = (start, index)
            start = index + 1
    return best
