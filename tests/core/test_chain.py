"""The chain of projectors: each stage sees what the one before it left, and one fate is told of each item."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextlab.core import Budget, Item, Kind, Reason, Verdict, parse_policy, project
from contextlab.core.projectors.chain import Chain
from contextlab.core.projectors.default import DefaultProjector
from contextlab.core.projectors.turn_window import TurnWindow
from contextlab.core.projectors.type_aware import TypeAwareProjector
from tests.core.memories import random_memory
from tests.core.talk import Talk


def talk() -> list[Item]:
    """Three turns with a tool each."""
    made = Talk()
    for number in range(3):
        made.user(f"ask {number}").shell(f"look {number}", "found " * 60).says(f"told {number}")
    return made.items


TIERS = TypeAwareProjector(Budget(max_recent_tool_results=1))


def test_a_stage_works_on_what_the_one_before_left() -> None:
    """Cleared results are small by the time that the limit looks at them, so more of memory fits."""
    chars = sum(item.chars for item in project(talk(), TIERS).items)
    limit = DefaultProjector(Budget(max_approx_chars=chars))
    seen = project(talk(), Chain((TIERS, limit)))
    assert seen.report.dropped_items == 0
    assert project(talk(), limit).report.dropped_items > 0
    assert [fate.verdict for fate in seen.fates].count(Verdict.CLEARED) == seen.report.cleared_items == 2
    assert seen.report.source_chars == sum(item.chars for item in talk())


def test_the_reason_is_that_of_the_stage_that_left_it_out() -> None:
    """What the first stage drops has its reason, what the second drops has the second's."""
    seen = project(talk(), Chain((TurnWindow(max_attached_turns=2), DefaultProjector(Budget(max_items=4)))))
    reasons = {str(fate.reason) for fate in seen.fates if fate.verdict == Verdict.DROPPED}
    assert reasons == {Reason.MAX_TURNS, Reason.MAX_ITEMS}
    assert seen.report.item_limit_applied
    assert seen.report.notes[0] == "maxTurns applied: 2"


@pytest.mark.parametrize("kind", ["default", "type_aware", "turn_window", "auto_context"])
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**9))
def test_a_chain_of_one_is_that_one(kind: str, seed: int) -> None:
    """A chain with a single stage projects as the stage does."""
    items = random_memory(seed)
    document = {"version": 1, "name": "x", "projector": {"kind": kind}}
    alone = parse_policy(document).projector
    chained = parse_policy({**document, "projector": {"kind": "chain", "stages": [{"kind": kind}]}}).projector
    assert project(items, chained) == project(items, alone)


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 10**9), st.integers(1, 8))
def test_counts_equal_fates(seed: int, most: int) -> None:
    """On any memory: one fate for each item, and the report counts them."""
    items = [item for item in random_memory(seed) if item.kind != Kind.UI]
    seen = project(items, Chain((TIERS, DefaultProjector(Budget(max_items=most)))))
    verdicts = [fate.verdict for fate in seen.fates]
    assert len(verdicts) == len(items)
    assert seen.report.dropped_items == verdicts.count(Verdict.DROPPED)
    assert seen.report.projected_items == len(seen.items) == len(items) - seen.report.dropped_items
    assert seen.report.cleared_items == verdicts.count(Verdict.CLEARED)
    assert [items[at].id for at in seen.sources] == [item.id for item in seen.items]


def test_without_stages_everything_is_kept() -> None:
    """An empty chain leaves memory as it is."""
    assert project(talk(), Chain()).items == talk()
