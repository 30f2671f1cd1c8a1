"""Spans: rectangles that tell each item's fate at each step, without overlaps and without needless pieces."""

from __future__ import annotations

import random

import pytest

from contextlab.core import Reason, Span, SpanWriter, Verdict, verdicts_at
from contextlab.core import spans as writing
from contextlab.core.spans import Painted

A: Painted = (Verdict.DROPPED, Reason.MAX_ITEMS)
B: Painted = (Verdict.CLEARED, Reason.TIER1)
KEPT: Painted = (Verdict.KEPT, None)


@pytest.mark.parametrize("seed", range(60))
def test_spans_tell_what_was_painted(seed: int) -> None:
    """Whatever is painted, the spans give back for every item and step the fate that was painted last."""
    roll, writer, items, steps = random.Random(seed), SpanWriter(), 20, 15
    now: list[Painted | None] = [None] * items
    history: list[list[Painted | None]] = []
    for step in range(1, steps + 1):
        for _ in range(roll.randrange(4)):
            first = roll.randrange(items)
            last = min(items - 1, first + roll.randrange(8))
            what = roll.choice((A, B, None))
            writer.paint(first, last, what, step)
            now[first : last + 1] = [what] * (last + 1 - first)
        history.append(list(now))
    spans = writer.spans()
    for step, painted in enumerate(history, start=1):
        assert verdicts_at(spans, step, range(items)) == [what or KEPT for what in painted]
        for position in range(items):
            assert sum(span.covers(position, step) for span in spans) == (painted[position] is not None)


@pytest.mark.parametrize("shelf", [1, 2, 5])
@pytest.mark.parametrize("seed", range(60))
def test_how_open_spans_are_kept_changes_nothing(
    seed: int, shelf: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A long session's open spans lie on many shelves; the spans that come of it are those of a single one."""
    found = []
    for size in (shelf, 10_000):
        monkeypatch.setattr(writing, "SHELF", size)
        roll, writer = random.Random(seed), SpanWriter()
        for step in range(1, 40):
            at = 0
            for _ in range(roll.randrange(5)):
                first = at + roll.randrange(20)
                at = first + roll.randrange(1, 12)
                writer.paint(first, at - 1, roll.choice((A, B, None)), step)
        found.append(writer.spans())
    assert found[0] == found[1]


def test_painting_the_same_again_changes_nothing() -> None:
    """A fate that holds is one span, however often it is painted, also as part of a larger stretch."""
    writer = SpanWriter()
    for step in (1, 2, 3):
        writer.paint(4, 6, A, step)
    writer.paint(5, 5, A, 4)
    assert writer.spans() == [Span(4, 6, *A, 1)]


def test_neighbours_painted_at_one_step_are_one_span() -> None:
    """Neighbours of one fate that begin at one step are joined; what began earlier stays apart."""
    writer = SpanWriter()
    writer.paint(2, 2, A, 1)
    writer.paint(3, 3, A, 1)
    writer.paint(0, 1, A, 1)
    assert writer.spans() == [Span(0, 3, *A, 1)]
    writer.paint(4, 5, A, 2)
    assert writer.spans() == [Span(0, 3, *A, 1), Span(4, 5, *A, 2)]


def test_a_hole_splits_a_span() -> None:
    """Painting inside a span ends that part only; the rest goes on."""
    writer = SpanWriter()
    writer.paint(0, 9, A, 1)
    writer.paint(3, 5, B, 4)
    writer.paint(0, 9, None, 6)
    assert writer.spans() == [
        Span(0, 2, *A, 1, 6),
        Span(3, 5, *A, 1, 4),
        Span(6, 9, *A, 1, 6),
        Span(3, 5, *B, 4, 6),
    ]


def test_what_held_for_no_step_leaves_nothing() -> None:
    """A fate painted over at the step at which it began leaves no span; an empty stretch paints nothing."""
    writer = SpanWriter()
    writer.paint(0, 3, A, 1)
    writer.paint(0, 3, B, 1)
    writer.paint(9, 8, A, 1)
    writer.paint(7, 7, None, 1)
    assert writer.spans() == [Span(0, 3, *B, 1)]
