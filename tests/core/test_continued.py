"""The rest of a log on top of a memory made at one of its steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlab.core import Policy, Replayer, Verdict, parse_policy, verdicts_at
from contextlab.core.compaction import Snapshot
from contextlab.core.items import KINDS, LEFT_OUT, Reason
from contextlab.core.replaying.continued import Beginning, Continued
from contextlab.core.replaying.on_top import fast
from contextlab.core.replaying.sizes import Sizes
from contextlab.core.replaying.stepwise import item_of
from contextlab.core.report import Report
from contextlab.core.timeline import Timeline
from tests.core.plugins import examples
from tests.core.sessions import random_timeline
from tests.core.test_replay_compacting import MODEL, RULES, session

KEEP = parse_policy({"version": 1, "name": "keep", "projector": {"kind": "default"}})
LAST = parse_policy({"version": 1, "name": "last", "projector": {"kind": "default", "max_items": 3}})


def beginning(timeline: Timeline, texts: Sequence[str], step: int, kept: Sequence[int]) -> Beginning:
    """The memory before a step in which a summary stands for all but some positions."""
    items = tuple(item_of(timeline, place, texts.__getitem__) for place in kept)
    upto = timeline.steps[step - 1].upto
    return Beginning(step, upto, Snapshot(items, "what was said before"), "branch-1, version 2")


def go_on(
    timeline: Timeline, texts: Sequence[str], by: Policy, start: Beginning
) -> tuple[Replayer, list[Report]]:
    replayer = Replayer(timeline, by, texts=texts.__getitem__, beginning=start)
    results = list(replayer.run())
    assert [result.step.number for result in results] == list(range(start.step, len(timeline.steps) + 1))
    return replayer, [result.report for result in results]


def test_the_steps_behind_see_the_memory_and_what_followed() -> None:
    """At the step the branch's memory, then one turn of the log more with each step."""
    timeline, texts = session(8)
    replayer, reports = go_on(timeline, texts, KEEP, beginning(timeline, texts, 5, [7, 8]))
    assert [report.source_items for report in reports] == [2, 4, 6, 8]
    assert {report.summarised_items for report in reports} == {7}
    at_end = verdicts_at(replayer.spans(), 8, range(15))
    assert [verdict for verdict, _ in at_end] == [Verdict.SUMMARISED] * 7 + [Verdict.KEPT] * 8
    assert "goes on from the memory of branch-1, version 2: 7 item(s)" in reports[0].notes[0]
    first = replayer.fires[0]
    assert (first.step, first.made, first.rule, first.summarised) == (5, True, "branch-1, version 2", 7)


def test_nothing_is_told_of_the_steps_before() -> None:
    """They belong to the view that was left: no span begins before the step."""
    timeline, texts = session(8)
    replayer, _ = go_on(timeline, texts, LAST, beginning(timeline, texts, 5, [7, 8]))
    assert min(span.first_step for span in replayer.spans()) == 5


def test_what_the_branch_dropped_stays_dropped() -> None:
    """An item that a policy left out without a word is not said to stand in a summary."""
    timeline, texts = session(6)
    start = beginning(timeline, texts, 4, [5, 6])
    dropped = (Verdict.DROPPED, Reason.MAX_ITEMS)
    start = Beginning(start.step, start.upto, start.memory, start.name, {0: dropped})
    replayer, reports = go_on(timeline, texts, KEEP, start)
    assert verdicts_at(replayer.spans(), 6, [0, 1]) == [dropped, (Verdict.SUMMARISED, Reason.COMPACTED)]
    assert reports[-1].summarised_items == 4


def test_the_policy_goes_on_compacting() -> None:
    """Without a model further compactions are made on top; with one the first place is marked."""
    timeline, texts = session(12)
    start = beginning(timeline, texts, 3, [3, 4])
    made, reports = go_on(timeline, texts, RULES, start)
    assert len(made.fires) > 2
    assert all(fire.made for fire in made.fires)
    assert sum(run.last_step - run.first_step + 1 for run in made.decisions) == 10
    assert max(report.source_entries for report in reports) <= 7
    watched, _ = go_on(timeline, texts, MODEL, start)
    assert [(fire.made, fire.reason) for fire in watched.fires] == [(True, ""), (False, "needs_model")]
    assert [run.outcome for run in watched.decisions][-1] == "unknown"


def test_a_context_that_the_log_clears_later() -> None:
    """A /clear behind the step takes the branch's memory, too, and with it its summary."""
    timeline, texts = session(8, cleared_before=7)
    _, reports = go_on(timeline, texts, KEEP, beginning(timeline, texts, 4, [5, 6]))
    assert [report.source_items for report in reports][-2:] == [1, 3]
    assert reports[-1].summarised_items == 0


@pytest.mark.parametrize("by", [KEEP, LAST])
@examples(40)
@given(st.integers(min_value=0, max_value=2**32 - 1), st.data())
def test_each_step_is_what_the_projector_gives(by: Policy, seed: int, data: st.DataObject) -> None:
    """For random sessions: the figures are those of projecting the branch's memory with what followed."""
    timeline = random_timeline(seed)
    if not timeline.steps:
        return
    step = data.draw(st.integers(1, len(timeline.steps)))
    texts = [""] * len(timeline)
    timeline.marks = []
    start = beginning(timeline, texts, step, [])
    replayer, reports = go_on(timeline, texts, by, start)
    for number, report in enumerate(reports, step):
        upto = timeline.steps[number - 1].upto
        added = [item_of(timeline, place) for place in range(start.upto, upto)]
        added = [item for item in added if item.kind not in ("ui", "summary")]
        fates = verdicts_at(replayer.spans(), number, [int(item.id) for item in added])
        assert report.source_items == len(added)
        assert report.dropped_items == sum(verdict in LEFT_OUT for verdict, _ in fates)
        if by is KEEP:
            assert report.projected_items - 1 + report.dropped_items == len(added)  # without the summary


TIERS = parse_policy(
    {
        "version": 1,
        "name": "tiers",
        "projector": {"kind": "type_aware", "max_recent_tool_results": 2, "trim_old_reasoning": True},
    }
)


@pytest.mark.parametrize("by", [KEEP, TIERS])
@examples(60)
@given(st.integers(min_value=0, max_value=2**32 - 1), st.data())
def test_the_fast_way_is_the_slow_one(by: Policy, seed: int, data: st.DataObject) -> None:
    """Report by report and verdict by verdict, whatever stands in the memory; calibrated within a rounding."""
    timeline = random_timeline(seed)
    if not timeline.steps:
        return
    step = data.draw(st.integers(1, len(timeline.steps)))
    timeline.marks = [mark for mark in timeline.marks if mark.at_step <= step]
    upto = timeline.steps[step - 1].upto
    places = [place for place in range(upto) if KINDS[timeline.kinds[place]] not in ("ui", "summary")]
    kept = data.draw(st.sets(st.sampled_from(places))) if places else set()
    count = data.draw(st.sampled_from([None, len]))
    sizes = Sizes(timeline, count)
    start = beginning(timeline, [""] * len(timeline), step, sorted(kept))
    items = tuple(replace(item, tokens=sizes.tokens[int(item.id)]) for item in start.memory.items)
    start = replace(start, memory=replace(start.memory, items=items))
    if data.draw(st.booleans()) and places:
        start = replace(start, left_out={places[0]: (Verdict.DROPPED, Reason.MAX_ITEMS)})
    quick = fast(sizes, by, start)
    if quick is None:
        return
    slow = Continued(sizes, by, lambda _: "", start)
    for (one, mine), (other, theirs) in zip(quick.run(), slow.run(), strict=True):
        assert one.number == other.number
        assert abs((mine.calibrated_tokens or 0) - (theirs.calibrated_tokens or 0)) <= 2
        first, end = mine.head_end or 0, mine.tail_start or 0
        assert set(mine.source_faults) <= set(
            theirs.source_faults
        )  # those of what stands in the summary are gone
        # The slow way puts the summary between a system item and what follows: it may split one entry in two.
        assert 0 <= theirs.source_entries - mine.source_entries <= 1
        assert (
            theirs.projected_entries - mine.projected_entries == theirs.source_entries - mine.source_entries
        )
        same: dict[str, Any] = {
            "calibrated_tokens": None,
            "head_end": 0,
            "tail_start": 0,
            "source_faults": [],
        }
        same |= {"source_entries": 0, "projected_entries": 0}
        assert replace(mine, **same) == replace(theirs, **same)
        verdicts = verdicts_at(quick.writer.spans(), one.number, range(one.upto))
        assert verdicts == verdicts_at(slow.writer.spans(), one.number, range(one.upto))
        assert all(verdict in LEFT_OUT for verdict, _ in verdicts[first:end])
    assert quick.fires == slow.fires


def test_the_fast_way_is_taken() -> None:
    """By what a branch is seen under most; a policy with limits, or that compacts, goes the slow way."""
    timeline, texts = session(6)
    start = beginning(timeline, texts, 3, [3, 4])
    sizes = Sizes(timeline)
    assert fast(sizes, KEEP, start) is not None
    assert fast(sizes, TIERS, start) is not None
    assert fast(sizes, LAST, start) is None
    assert fast(sizes, RULES, start) is None
