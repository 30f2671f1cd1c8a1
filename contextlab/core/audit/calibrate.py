"""From counts to a model's own tokens: two figures for each model, fitted to what providers reported.

    growth of the reported input = ratio x growth of the count + per_block x blocks added

A pure ratio is the wrong shape: every block brings tags and ids with it. The fit is robust (Huber): steps at which
something else entered pull little. Of fewer than LEAST steps nothing is fitted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

LEAST = 100
"""Steps of a model that a fit needs."""
ROUNDS = 30
_HUBER = 1.345


@dataclass(frozen=True, slots=True)
class Sample:
    """What one step added: reported tokens, counted tokens, content blocks."""

    reported: int
    counted: int
    blocks: int


@dataclass(frozen=True, slots=True)
class Fit:
    """The figures of a model, and how far off they are on the steps that they were fitted to."""

    ratio: float
    per_block: float
    steps: int
    error_p50: float
    """Tokens."""
    error_p90: float


def usable(sample: Sample) -> bool:
    """Whether a step says something of its model: it added text, and not ten times as much or as little."""
    grown = 0.2 * sample.counted < sample.reported < 10 * sample.counted + 2_000
    return grown and sample.counted > 20 and sample.blocks > 0


def fit(samples: Sequence[Sample]) -> Fit | None:
    """The fit over usable samples; None where there are too few, or all are alike."""
    points = [one for one in samples if usable(one)]
    if len(points) < LEAST:
        return None
    weights = [1.0] * len(points)
    ratio, per_block = 1.0, 0.0
    for _ in range(ROUNDS):
        solved = _weighted(points, weights)
        if solved is None:
            return None
        moved = abs(solved[0] - ratio) + abs(solved[1] - per_block) / 100
        ratio, per_block = solved
        errors = [abs(one.reported - ratio * one.counted - per_block * one.blocks) for one in points]
        scale = max(1.0, _at(errors, 0.5) / 0.6745)
        weights = [1.0 if error <= _HUBER * scale else _HUBER * scale / error for error in errors]
        if moved < 1e-6:
            break
    if not 0.3 < ratio < 5 or not -500 < per_block < 2_000:
        return None
    return Fit(ratio, per_block, len(points), _at(errors, 0.5), _at(errors, 0.9))


def _weighted(points: Sequence[Sample], weights: Sequence[float]) -> tuple[float, float] | None:
    """Least squares of two unknowns."""
    cc = cb = bb = cr = br = 0.0
    for one, weight in zip(points, weights, strict=True):
        # Large steps are noisier: their share counts, not their tokens.
        weight /= max(100, one.counted)  # noqa: PLW2901
        cc += weight * one.counted * one.counted
        cb += weight * one.counted * one.blocks
        bb += weight * one.blocks * one.blocks
        cr += weight * one.counted * one.reported
        br += weight * one.blocks * one.reported
    determinant = cc * bb - cb * cb
    if abs(determinant) < 1e-9 * max(cc * bb, 1e-9):
        return None
    return (cr * bb - br * cb) / determinant, (br * cc - cr * cb) / determinant


def _at(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
