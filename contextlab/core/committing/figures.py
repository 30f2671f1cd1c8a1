"""The figures of a compaction, from the memory before it and its outcome: the only place where they are made.

A preview, a stored result and the report inside it are told from here, so that they cannot disagree.

| figure                | is                                                                                      |
|-----------------------|-----------------------------------------------------------------------------------------|
| summarised, dropped   | items that left memory, by their verdict                                                |
| pinned                | items with the verdict pinned: system items, a person's pins, those of the request      |
| kept                  | items that did not leave, the pinned ones among them                                    |
| tokens before, after  | of all of memory, its summary included; after: None where nothing came of it            |
| characters            | the same, in characters                                                                 |
| token source          | counted, where every figure in it was counted; else estimated                           |
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from contextlab.core.compaction import Outcome, Snapshot
from contextlab.core.items import Verdict
from contextlab.core.measuring.memory_size import snapshot_chars, snapshot_entries, snapshot_tokens
from contextlab.core.projection import TokenCount


@dataclass(slots=True, frozen=True)
class Figures:
    """What a compaction does to a memory, in numbers."""

    summarised: int
    dropped: int
    kept: int
    pinned: int
    tokens_before: int
    tokens_after: int | None
    token_source: str


def figures_of(before: Snapshot, outcome: Outcome | None, count: TokenCount | None = None) -> Figures:
    """The figures of an outcome; of no outcome those of memory as it is."""
    fates = Counter([fate.verdict for fate in outcome.fates.values()] if outcome else ())
    after = outcome.memory if outcome else None
    summarised, dropped = fates[Verdict.SUMMARISED], fates[Verdict.DROPPED]
    counted = all(_is_counted(memory, count) for memory in (before, after) if memory is not None)
    return Figures(
        summarised,
        dropped,
        len(before.items) - summarised - dropped,
        fates[Verdict.PINNED],
        snapshot_tokens(before, count),
        snapshot_tokens(after, count) if after is not None else None,
        "counted" if counted else "estimated",
    )


def tell(before: Snapshot, outcome: Outcome, count: TokenCount | None = None) -> None:
    """Put the figures into the report of the outcome's result."""
    after = outcome.memory
    if outcome.result is None or outcome.result.report is None or after is None:
        return
    figures, report = figures_of(before, outcome, count), outcome.result.report
    report.pinned_items = figures.pinned
    report.summarised_items, report.dropped_items = figures.summarised, figures.dropped
    report.projected_items, report.projected_entries = len(after.items), snapshot_entries(after)
    if report.dropped_entries:
        report.dropped_entries = report.source_entries - report.projected_entries
    report.token_source = figures.token_source
    report.source_tokens, report.projected_tokens = figures.tokens_before, figures.tokens_after
    report.source_chars, report.projected_chars = snapshot_chars(before), snapshot_chars(after)


def _is_counted(memory: Snapshot, count: TokenCount | None) -> bool:
    if count is not None:
        return True
    return not memory.summary and all(item.tokens is not None for item in memory.items)
