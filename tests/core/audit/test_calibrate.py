"""Calibration: two figures for a model out of what its provider reported."""

from __future__ import annotations

import random

import pytest

from contextlab.core.audit.calibrate import LEAST, Sample, fit


def made(count: int, ratio: float = 1.13, block: float = 60, odd: float = 0.0) -> list[Sample]:
    """Steps of a model, a share of them with something else in it."""
    chance = random.Random(2)
    found = []
    for _ in range(count):
        counted, blocks = int(chance.lognormvariate(6, 1.2)) + 21, chance.randint(1, 6)
        extra = chance.randint(500, 1_500) if chance.random() < odd else chance.gauss(0, 0.02 * counted)
        found.append(Sample(int(ratio * counted + block * blocks + extra), counted, blocks))
    return found


@pytest.mark.parametrize("odd", [0.0, 0.1, 0.2])
def test_the_figures_of_a_model_are_found(odd: float) -> None:
    """Also where at every fifth step something else entered."""
    found = fit(made(2_000, odd=odd))
    assert found is not None
    assert found.ratio == pytest.approx(1.13, abs=0.04)
    assert found.per_block == pytest.approx(60, abs=20)


def test_of_too_few_steps_nothing_is_fitted() -> None:
    """Under LEAST usable steps there is no fit."""
    assert fit(made(LEAST - 1)) is None
    assert fit([]) is None


def test_steps_that_are_all_alike_or_absurd_give_no_fit() -> None:
    """No division by nothing, no figure that nobody would believe."""
    assert fit([Sample(200, 100, 1)] * 500) is None
    assert fit([Sample(0, 100, 1)] * 500) is None
