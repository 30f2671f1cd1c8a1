"""Several projectors, one after the other: each is given what the one before it left.

| what    | rule                                                                                                     |
|---------|----------------------------------------------------------------------------------------------------------|
| fate    | an item that a stage left out stays out, with that stage's reason; of what still stands the last change  |
|         | is told (a later `kept` does not undo an earlier `cleared`, a pin yields to it)                           |
| made    | what a stage put in (a summary) has no source item; a later stage may leave it out again                  |
| report  | source as the first stage saw it, projected as the last left it, the limits and notes of all, in order    |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from contextlab.core.documents.options import Options
from contextlab.core.items import LEFT_OUT, Item, Verdict
from contextlab.core.policy import read_part
from contextlab.core.projecting.draft import longest_gap
from contextlab.core.projection import NONE, Fate, Projection, Projector, Source, pair_up
from contextlab.core.projectors.default import DefaultProjector
from contextlab.core.report import Report

_UNCHANGED = (Verdict.KEPT, Verdict.PINNED)


@dataclass(slots=True, frozen=True)
class Chain:
    """Applies its stages in order; without any it keeps everything."""

    kind: ClassVar[str] = "chain"
    stages: tuple[Projector, ...] = ()

    @classmethod
    def from_options(cls, options: Mapping[str, object], mode: str) -> Self:
        """Read `stages`, a list of projectors; raises PolicyError."""
        from contextlab.core.registry import PROJECTORS  # it knows of this module

        given = Options(options, ("stages",), "projector")
        listed = given.objects("stages") if options.get("stages") is not None else []
        return cls(
            tuple(
                read_part(one, mode, "projector", PROJECTORS, f"projector.stages[{number}]")
                for number, one in enumerate(listed)
            )
        )

    def project(self, source: Source) -> Projection:
        """What the last stage leaves."""
        stages = self.stages or (DefaultProjector(),)
        done = stages[0].project(source)
        for stage in stages[1:]:
            done = _joined(source, done, stage.project(_source(done, source)))
        return done


PROJECTOR = Chain


def _source(done: Projection, source: Source) -> Source:
    """What a stage left as the source of the next."""
    tokens = [_tokens(item, origin, source) for item, origin in zip(done.items, done.sources, strict=True)]
    return Source(done.items, _pairs(done, source), tokens, source.uncounted, source.count)


def _tokens(item: Item, origin: int, source: Source) -> int:
    if origin != NONE and item is source.items[origin]:
        return source.tokens[origin]
    return source.placeholder_tokens(item.text)


def _pairs(done: Projection, source: Source) -> Sequence[int]:
    """The source's pairs by the places that are left; what was put in is paired among itself."""
    if NONE in done.sources:
        return pair_up(done.items)
    places = {origin: place for place, origin in enumerate(done.sources)}
    return [places.get(source.pairs[origin], NONE) for origin in done.sources]


def _joined(source: Source, first: Projection, second: Projection) -> Projection:
    fates = list(first.fates)
    for origin, fate in zip(first.sources, second.fates, strict=True):
        if origin != NONE:
            fates[origin] = _later(first.fates[origin], fate)
    sources = [NONE if place == NONE else first.sources[place] for place in second.sources]
    return Projection(second.items, fates, _report(source, first.report, second.report, fates), sources)


def _later(first: Fate, second: Fate) -> Fate:
    """The fate after both stages."""
    return first if second.verdict in _UNCHANGED and first.verdict not in _UNCHANGED else second


def _report(source: Source, first: Report, second: Report, fates: Sequence[Fate]) -> Report:
    """The figures of both; the second stage's source is what the first left, so what that dropped is added."""
    verdicts = [fate.verdict for fate in fates]
    summarised = verdicts.count(Verdict.SUMMARISED)
    report = replace(
        second,
        source_items=len(source.items) - summarised,
        source_entries=first.source_entries,
        source_chars=first.source_chars,
        source_tokens=first.source_tokens,
        summarised_items=summarised,
        dropped_items=verdicts.count(Verdict.DROPPED),
        dropped_entries=first.dropped_entries + second.dropped_entries,
        pinned_items=verdicts.count(Verdict.PINNED),
        cleared_items=verdicts.count(Verdict.CLEARED),
        reasoning_cleared_items=verdicts.count(Verdict.REASONING_CLEARED),
        offloaded_items=verdicts.count(Verdict.OFFLOADED),
        item_limit_applied=first.item_limit_applied or second.item_limit_applied,
        character_limit_applied=first.character_limit_applied or second.character_limit_applied,
        token_limit_applied=first.token_limit_applied or second.token_limit_applied,
        notes=[*first.notes, *second.notes],
    )
    if "estimated" in (first.token_source, second.token_source):
        report.token_source = "estimated"  # noqa: S105  no password
    report.head_end, report.tail_start = longest_gap([verdict not in LEFT_OUT for verdict in verdicts])
    return report
