"""What changed between two steps."""

from __future__ import annotations

import pytest

from contextlab.core import Reason, Span, Verdict, replay, replay_recorded, verdicts_at
from contextlab.core.diff import Change, changes, in_context

from .sessions import random_timeline
from .test_replay import projector_for

DROPPED = (Verdict.DROPPED, Reason.MAX_ITEMS)
CLEARED = (Verdict.CLEARED, Reason.TIER1)
KEPT = (Verdict.KEPT, None)


def test_each_kind_of_change() -> None:
    """Items that enter, leave, come back, are cleared, or are never seen are told apart; the rest is not mentioned."""
    spans = [
        Span(0, 1, *DROPPED, first_step=2),
        Span(2, 2, *DROPPED, first_step=1, end_step=2),
        Span(3, 3, *CLEARED, first_step=2),
        Span(5, 5, *DROPPED, first_step=1),
        Span(7, 7, *DROPPED, first_step=2),
    ]
    found = changes(spans, (1, 6), (2, 8))
    assert found.left == [Change(0, 1, KEPT, DROPPED)]
    assert found.entered == [Change(2, 2, DROPPED, KEPT), Change(6, 6, None, KEPT)]
    assert found.changed == [Change(3, 3, KEPT, CLEARED)]
    assert found.unseen == [Change(7, 7, None, DROPPED)]


@pytest.mark.parametrize("seed", range(40))
def test_changes_are_the_differences_of_the_fates(seed: int) -> None:
    """Item by item, the lists hold exactly what differs between two steps of any view."""
    timeline = random_timeline(seed, 12)
    for result in (replay(timeline, projector_for(seed)), replay_recorded(timeline)):
        one, other = timeline.steps[2 + seed % 4], timeline.steps[7 + seed % 4]
        found = changes(result.spans, (one.number, one.upto), (other.number, other.upto))
        told = {
            position: (change.before, change.after)
            for change in (*found.entered, *found.left, *found.changed, *found.unseen)
            for position in range(change.first, change.last + 1)
        }
        old = verdicts_at(result.spans, one.number, range(one.upto))
        new = verdicts_at(result.spans, other.number, range(other.upto))
        before = [*old, *[None] * (other.upto - one.upto)]
        assert told == {
            at: pair for at, pair in enumerate(zip(before, new, strict=True)) if pair[0] != pair[1]
        }
        for change in found.entered:
            assert in_context(change.after)
            assert not in_context(change.before)
