"""What changed between two steps."""

from __future__ import annotations

import pytest

from contextlab.core import Reason, Span, Verdict, replay, replay_recorded, verdicts_at
from contextlab.core.audit.diff import Change, Context, changes, differences, in_context, rewritten, texts
from tests.core.sessions import random_timeline
from tests.core.test_replay import projector_for

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


@pytest.mark.parametrize("seed", range(30))
def test_two_views_of_a_step_differ_item_by_item(seed: int) -> None:
    """The same step as recorded and under a policy, and two steps in either order: each item by itself."""
    timeline = random_timeline(seed, 12)
    views = [replay(timeline, projector_for(seed)).spans, replay_recorded(timeline).spans]
    for one, other in ((7, 7), (3, 9), (9, 3)):
        steps = [timeline.steps[number] for number in (one, other)]
        sides = [Context(step.number, step.upto, spans) for step, spans in zip(steps, views, strict=True)]
        found = differences(*sides)
        told = {at for group in (found.entered, found.left, found.changed, found.unseen)
                for change in group for at in range(change.first, change.last + 1)}  # fmt: skip
        old, new = (verdicts_at(side.spans, side.step, range(side.upto)) for side in sides)
        for position in range(max(len(old), len(new))):
            was = old[position] if position < len(old) else None
            now = new[position] if position < len(new) else None
            assert (position in told) == (was != now and (now is not None or in_context(was)))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("port 8443 is open", "port 8433 is open", "port 84-4-+3+3 is open"),
        ("", "new", "+new+"), ("gone", "", "-gone-"), ("same", "same", "same"),
        ("one two three", "one 2 three", "one -two-+2+ three"), ("迁移 0042", "迁移 0043", "迁移 004-2-+3+"),
    ],
)  # fmt: skip
def test_texts_differ_letter_by_letter(old: str, new: str, expected: str) -> None:
    """Found by words, told by letters."""
    signs = {"same": "", "gone": "-", "new": "+"}
    told = "".join(f"{signs[piece.kind]}{piece.text}{signs[piece.kind]}" for piece in texts(old, new))
    assert told == expected


def test_pieces_make_both_texts_again() -> None:
    """Whatever is compared, nothing of it is lost; also for texts of a megabyte."""
    for old, new in (("a b\nc" * 50_000, "a b\nd" * 50_000), ("x" * 500_000, "y" * 500_000), ("\n" * 9, "")):
        pieces = texts(old, new)
        assert "".join(piece.text for piece in pieces if piece.kind != "new") == old
        assert "".join(piece.text for piece in pieces if piece.kind != "gone") == new


def test_a_new_text_of_an_item_is_told_from_another_item() -> None:
    """Of the same kind and alike; each in one pair at most."""
    left = [(1, "system", "you are a helper and brief"), (2, "user", "hello there")]
    entered = [
        (7, "system", "you are a helper and long"),
        (8, "assistant", "hello there my"),
        (9, "user", "bye"),
    ]
    assert rewritten(left, entered) == [(1, 7)]
