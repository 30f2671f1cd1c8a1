"""Waste: what was carried how long, repeats, results that nothing came back to."""

from __future__ import annotations

import random

import pytest

from contextlab.core import replay_recorded
from contextlab.core.audit.waste import (
    FULL,
    largest,
    last_mentions,
    own_words,
    repeats,
    steps_carried,
    used_again,
)
from contextlab.core.items import VERDICT_CODE
from contextlab.core.spans import verdicts_at
from tests.core.sessions import random_timeline


@pytest.mark.parametrize("seed", range(25))
def test_steps_carried_are_the_steps_in_full(seed: int) -> None:
    """Against each item at each step looked at by itself."""
    timeline = random_timeline(seed, 12)
    spans, steps = replay_recorded(timeline).spans, timeline.steps
    first = [1 + sum(step.upto <= at for step in steps) for at in range(len(timeline))]
    rows = [(s.first_item, s.last_item, VERDICT_CODE[s.verdict], str(s.reason or ""), s.first_step, s.end_step)
            for s in spans]  # fmt: skip
    expected = [0] * len(timeline)
    for step in steps:
        for at, (verdict, _) in enumerate(verdicts_at(spans, step.number, range(step.upto))):
            expected[at] += verdict in FULL
    assert list(steps_carried(first, rows, len(steps))) == expected


def test_the_largest_take_most_of_all_windows() -> None:
    """Tokens times steps, not tokens."""
    found = largest([100, 10, 50], [1, 90, 10], range(3), 2)
    assert [(one.position, one.token_steps) for one in found] == [(1, 900), (2, 500)]


def test_a_repeat_is_waste_only_while_the_first_still_stands() -> None:
    """Read again after it was cleared: no waste; read again beside it: waste."""
    hashes = {0: b"a", 1: b"a", 2: b"a", 3: b"b"}
    first, last, carried = [1, 3, 9, 1], [5, 6, 12, 12], [5, 4, 4, 12]
    [found] = repeats(hashes, [60] * 4, carried, last, first)
    assert (found.first, found.again, found.token_steps) == (0, (1,), 240)


def test_use_is_told_by_a_results_own_words() -> None:
    """A path that the model writes afterwards, not one that it wrote before."""
    mentions = last_mentions([(3, "I look at src/config.py"), (9, "editing src/handlers.py now")])
    assert used_again(5, own_words("def f(): # src/handlers.py"), mentions)
    assert not used_again(5, own_words("see src/config.py"), mentions)
    assert own_words("a b c 1 2") == frozenset()


def test_adversarial_texts_take_bounded_work() -> None:
    """A megabyte of digits, or of one word: a few words are looked for."""
    chance = random.Random(3)
    for text in ("1" * 1_000_000, "/" * 1_000_000, " ".join(f"w{chance.random()}" for _ in range(60_000))):
        assert len(own_words(text)) <= 40
