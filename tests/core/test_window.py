"""The window of a step: its limit, who says so, and how long it will last."""

from __future__ import annotations

import pytest

from contextlab.core import Limit, limit_of, steps_left
from contextlab.core.timeline import Step


def step(model: str | None = None, limit: int | None = None, prompt: int | None = None) -> Step:
    """A step with what matters here."""
    made = Step(1, "s", 1, 0, model, limit=limit)
    made.input = prompt
    return made


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (step(limit=1_000), Limit(1_000, "logged")),
        (step("claude-opus-4-5", limit=1_000), Limit(1_000, "logged")),
        (step("claude-opus-4-5"), Limit(200_000, "table")),
        (step("claude-opus-4-5", prompt=200_001), Limit(200_000, "table", disproved=True)),
        (step(limit=1_000, prompt=1_000), Limit(1_000, "logged")),
        (step("nobody's model"), Limit(None, "unknown")),
        (step(), Limit(None, "unknown")),
    ],
)
def test_limit(given: Step, expected: Limit) -> None:
    """As logged, else from the model table, else unknown; a larger prompt that was accepted disproves it."""
    assert limit_of(given) == expected


@pytest.mark.parametrize(
    ("sizes", "limit", "left"),
    [
        ([100, 200, 300], 1_000, 7),
        ([100, None, 200, 300], 1_000, 7),
        ([100, 200, 50, 150], 1_000, 8),
        ([900, 1_000], 1_000, 0),
        ([1_200, 1_100], 1_000, 0),
        ([300, 200], 1_000, None),
        ([300], 1_000, None),
        ([100, 200], None, None),
        ([], 1_000, None),
    ],
)
def test_steps_left(sizes: list[int | None], limit: int | None, left: int | None) -> None:
    """The rest of the window divided by the median growth; nothing is said where it cannot be known."""
    assert steps_left(sizes, limit) == left
