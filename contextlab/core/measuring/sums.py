"""Sums of figures of which some are unknown."""

from __future__ import annotations

from collections.abc import Iterable


def sum_of_known(figures: Iterable[int | None]) -> int | None:
    """The sum of those that are known; None where none is, which is not 0."""
    known = [figure for figure in figures if figure is not None]
    return sum(known) if known else None
