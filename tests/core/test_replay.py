"""Replay: every step at once equals each step alone; spans tell each item's fate and never overlap."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from contextlab.core import (
    Budget,
    Replay,
    Report,
    Span,
    Verdict,
    builtin,
    replay,
    replay_recorded,
    verdicts_at,
)
from contextlab.core.items import KINDS, Kind
from contextlab.core.policy import BUILTINS
from contextlab.core.projection import KEPT, Fate, Projection, Projector, Source, TokenCount
from contextlab.core.projectors.default import DefaultProjector
from contextlab.core.projectors.type_aware import TypeAwareProjector
from contextlab.core.replaying import tape
from contextlab.core.replaying.sizes import Sizes
from contextlab.core.replaying.stepwise import Stepwise
from contextlab.core.replaying.swift import Swift
from contextlab.core.timeline import Timeline

from .plugins import examples
from .sessions import random_options, random_timeline

SEEDS = st.integers(min_value=0, max_value=2**32 - 1)
Seen = list[tuple[int, Report]]


def halves(text: str) -> int:
    """A stand-in for a tokenizer."""
    return len(text) // 2


def projector_for(seed: int) -> TypeAwareProjector:
    """A random projector, one in five of them in reference mode."""
    return TypeAwareProjector.from_options(random_options(seed), "safe" if seed % 5 else "reference")


def both(
    timeline: Timeline, projector: TypeAwareProjector, count: TokenCount | None
) -> tuple[Stepwise, Swift]:
    """The slow and the fast replay of the same."""
    slow = Stepwise(Sizes(timeline, count), projector)
    return slow, Swift(Sizes(timeline, count), projector.as_budget())


def fates(timeline: Timeline, spans: list[Span]) -> Iterator[list[tuple[Verdict, str | None]]]:
    """The fates of all items before each step."""
    for step in timeline.steps:
        yield verdicts_at(spans, step.number, range(step.upto))


def assert_disjoint(spans: list[Span]) -> None:
    """No item has two fates at one step."""
    for position in {span.first_item for span in spans} | {span.last_item for span in spans}:
        here = sorted(
            (span.first_step, span.end_step or 10**9)
            for span in spans
            if span.first_item <= position <= span.last_item
        )
        assert all(before[1] <= after[0] for before, after in pairwise(here))
    assert all(span.end_step is None or span.first_step < span.end_step for span in spans)


@examples(150)
@given(SEEDS, st.integers(min_value=1, max_value=25))
def test_replay_equals_projecting_each_step(seed: int, steps: int) -> None:
    """At every step of any session, under any budget, replay gives the report and the fates of projecting it alone."""
    timeline, count = random_timeline(seed, steps), halves if seed % 2 else None
    slow, fast = both(timeline, projector_for(seed), count)
    for (_, one), (_, other) in zip(slow.run(), fast.run(), strict=True):
        assert one == other
    spans = fast.writer.spans()
    assert list(fates(timeline, slow.writer.spans())) == list(fates(timeline, spans))
    assert_disjoint(spans)


@pytest.mark.parametrize("seed", range(300))
def test_replay_equals_projecting_each_step_plainly(seed: int) -> None:
    """The same for a fixed set of sessions, so that a failure has a name."""
    timeline = random_timeline(seed, 10)
    slow, fast = both(timeline, projector_for(seed), None)
    assert [report for _, report in slow.run()] == [report for _, report in fast.run()]
    assert list(fates(timeline, slow.writer.spans())) == list(fates(timeline, fast.writer.spans()))


@pytest.mark.parametrize("ahead", [1, 2, 7])
@pytest.mark.parametrize("seed", range(60))
def test_how_far_replay_reads_ahead_changes_nothing(
    seed: int, ahead: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Long sessions are read piece by piece; wherever a piece ends, reports and fates are the same."""
    timeline, projector = random_timeline(seed, 12), projector_for(seed)
    whole = replay(timeline, projector)
    monkeypatch.setattr(tape, "AHEAD", ahead)
    assert replay(timeline, projector) == whole


def gaps_timeline(seed: int, steps: int) -> Timeline:
    """A session whose sizes leave many gaps: few large entries among many small ones, and some of exactly one size."""
    timeline, roll = random_timeline(seed, steps, marks=bool(seed % 3)), random.Random(seed)
    largest = roll.choice((40, 400, 4_000))
    for position in range(len(timeline)):
        size = int(min(largest, roll.paretovariate(0.6) * roll.choice((1, 5))))
        timeline.chars[position] = roll.choice((size, size, size, 7))
    return timeline


@examples(150)
@given(SEEDS, st.integers(min_value=1, max_value=60), st.integers(min_value=0, max_value=600))
@example(seed=995917094, steps=54, limit=216)  # more than 64 pins inside a band
def test_gaps_of_the_character_limit_equal_projecting_each_step(seed: int, steps: int, limit: int) -> None:
    """However small old items lie behind large ones, and whatever a tier clears: replay equals each step alone."""
    roll, timeline = random.Random(seed), gaps_timeline(seed, steps)
    options = random_options(seed) | {"max_approx_chars": limit}
    options["max_recent_tool_results"] = roll.choice((None, 0, 2, 8, 30))
    options["max_items"] = roll.choice((None, None, 20, 60))
    projector = TypeAwareProjector.from_options(options, "safe" if seed % 4 else "reference")
    slow, fast = both(timeline, projector, None)
    for (_, one), (_, other) in zip(slow.run(), fast.run(), strict=True):
        assert one == other
    spans = fast.writer.spans()
    assert list(fates(timeline, slow.writer.spans())) == list(fates(timeline, spans))
    assert_disjoint(spans)


def check_counts(timeline: Timeline, result: Replay) -> None:
    """The figures of each report are the counts of the fates that the spans tell."""
    for report, seen in zip(result.reports, fates(timeline, result.spans), strict=True):
        verdicts = [verdict for verdict, _ in seen]
        outside = sum(verdict == Verdict.DROPPED and reason in OUTSIDE_SOURCE for verdict, reason in seen)
        assert report.dropped_items == verdicts.count(Verdict.DROPPED) - outside
        assert report.pinned_items == verdicts.count(Verdict.PINNED)
        assert report.cleared_items == verdicts.count(Verdict.CLEARED)
        assert report.reasoning_cleared_items == verdicts.count(Verdict.REASONING_CLEARED)
        assert report.offloaded_items == verdicts.count(Verdict.OFFLOADED)
        assert report.summarised_items == verdicts.count(Verdict.SUMMARISED)
        assert report.source_items == len(seen) - outside - report.summarised_items
        assert report.source_items == report.projected_items + report.dropped_items
        assert report.source_entries == report.projected_entries + report.dropped_entries


OUTSIDE_SOURCE = {"ui_only", "log_summary", "abandoned_branch", "context_cleared", "rolled_back"}


def check_gap(timeline: Timeline, result: Replay) -> None:
    """Everything between a report's head and tail is left out."""
    for report, seen in zip(result.reports, fates(timeline, result.spans), strict=True):
        assert report.head_end is not None
        assert report.tail_start is not None
        stretch = seen[report.head_end : report.tail_start]
        assert all(verdict in (Verdict.DROPPED, Verdict.SUMMARISED) for verdict, _ in stretch)


@examples(60)
@given(SEEDS)
def test_counts_equal_fates(seed: int) -> None:
    """Under a policy and as recorded, the counts of a report are those of its spans, and what it folds is left out."""
    timeline = random_timeline(seed, 15)
    for result in (replay(timeline, projector_for(seed)), replay_recorded(timeline)):
        check_counts(timeline, result)
        check_gap(timeline, result)
        assert_disjoint(result.spans)


@pytest.mark.parametrize("name", BUILTINS)
def test_built_in_policies_replay(name: str) -> None:
    """Each built-in policy gives a report for every step."""
    timeline = random_timeline(1, 40)
    result = replay(timeline, builtin(name))
    assert len(result.reports) == len(timeline.steps)
    check_counts(timeline, result)


class EveryOther:
    """A stranger's projector that has no cuts: it leaves out every second item but the last."""

    kind = "every_other"

    @classmethod
    def from_options(cls, options: object, mode: str) -> EveryOther:
        return cls()

    def project(self, source: Source) -> Projection:
        plain = DefaultProjector(Budget(pair_guard=False)).project(source)
        plain.fates = [
            KEPT if index % 2 or index == len(source.items) - 1 else Fate(Verdict.DROPPED)
            for index in range(len(source.items))
        ]
        return plain


def test_a_strangers_projector_is_asked_at_every_step() -> None:
    """A projector without a budget is replayed step by step, and its fates become spans."""
    timeline = random_timeline(3, 10, marks=False)
    projector: Projector = EveryOther()
    result = replay(timeline, projector)
    source = [position for position in range(timeline.steps[-1].upto) if in_source(timeline, position)]
    last = list(fates(timeline, result.spans))[-1]
    told = [last[position][0] for position in source]
    assert told == [
        Verdict.KEPT if index % 2 or index == len(source) - 1 else Verdict.DROPPED
        for index in range(len(source))
    ]


def in_source(timeline: Timeline, position: int) -> bool:
    """Whether a policy view projects the item."""
    return KINDS[timeline.kinds[position]] not in (Kind.UI, Kind.SUMMARY)


def test_replay_may_be_consumed_step_by_step() -> None:
    """The iterator form gives the same reports, one after the other, and the spans at the end."""
    from contextlab.core import Replayer

    timeline = random_timeline(5, 20)
    replayer = Replayer(timeline, builtin("type-aware"))
    reports = [result.report for result in replayer.run()]
    assert Replay(reports, replayer.spans()) == replay(timeline, builtin("type-aware"))
