"""When the model had a text: bands of steps from the fates of the items that hold it."""

from __future__ import annotations

import random

from contextlab.core.audit.last_seen import (
    Band,
    Fold,
    Holder,
    Seen,
    SpanIndex,
    at_step,
    bands,
    last_seen,
    life,
)
from contextlab.core.items import VERDICT_CODE, VERDICTS, Verdict

CLEARED, DROPPED, SUMMARISED = (
    VERDICT_CODE[one] for one in (Verdict.CLEARED, Verdict.DROPPED, Verdict.SUMMARISED)
)


def told(found: list[Band]) -> list[tuple[int, int, str]]:
    """The bands in short."""
    return [(band.first, band.end, band.seen.value) for band in found]


def lives(index: SpanIndex, holders: list[Holder], steps: int) -> list[list[Band]]:
    """The life of each item."""
    return [life(holder, index.of(holder.position), steps) for holder in holders]


def test_a_result_that_was_cleared_and_then_summarised():
    """Not there yet, verbatim, a stub, gone."""
    index = SpanIndex([(3, 3, CLEARED, "micro_compacted", 5, 8), (0, 9, SUMMARISED, "compacted", 8, None)])
    found = bands(lives(index, [Holder(3, 3)], 10), [], 10)
    assert told(found) == [(1, 3, "none"), (3, 5, "verbatim"), (5, 8, "stub"), (8, 11, "none")]
    assert last_seen(found) == 4
    assert at_step(found, 6).position == 3


def test_the_best_of_several_items_counts():
    """One item is cleared while another still holds the text; a summary carries it on."""
    index = SpanIndex([(0, 0, CLEARED, "micro_compacted", 3, None), (1, 1, DROPPED, "max_items", 5, None)])
    found = bands(lives(index, [Holder(0, 1), Holder(1, 2), Holder(2, 6, is_summary=True)], 8), [], 8)
    assert told(found) == [(1, 3, "verbatim"), (3, 5, "verbatim"), (5, 6, "stub"), (6, 9, "summary")]


def test_a_sealed_or_changed_summary_is_no_plain_no():
    """What an encrypted summary says nobody can tell; another value in its place is said."""
    index = SpanIndex([(0, 4, SUMMARISED, "compacted", 4, None)])
    folds = [Fold(4, 5, Seen.CHANGED, summary=5), Fold(7, 9, Seen.SEALED)]
    found = bands(lives(index, [Holder(2, 1)], 9), folds, 9)
    assert told(found) == [(1, 4, "verbatim"), (4, 7, "changed"), (7, 10, "sealed")]
    assert found[1].position == 5


def test_nothing_that_holds_it_is_never():
    """No hit: one band of none, no last step."""
    assert told(bands([], [], 7)) == [(1, 8, "none")]
    assert last_seen(bands([], [], 7)) is None
    assert bands([], [], 0) == []


def test_spans_of_an_item_are_found_among_many():
    """The index against looking at every span, for wide and narrow ones."""
    chance = random.Random(7)
    rows = []
    for number in range(3_000):
        first = chance.randrange(5_000)
        rows.append(
            (first, first + chance.choice([0, 1, 3, 70, 2_000]), number % len(VERDICTS), "x", number, None)
        )
    index = SpanIndex(rows)
    for position in range(0, 7_000, 97):
        expected = [row for row in rows if row[0] <= position <= row[1]]
        assert [span.first_step for span in index.of(position)] == [row[4] for row in expected]
