"""The context window of a step: its limit, who says so, and how many steps are left until it is full."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from contextlab.core.models import window_for
from contextlab.core.timeline import Step

LimitSource = Literal["logged", "table", "unknown"]
GROWTH_STEPS = 20
"""Steps whose growth speaks for the next ones."""


@dataclass(slots=True, frozen=True)
class Limit:
    """A window limit in tokens (None = unknown). `disproved`: the provider accepted a larger prompt."""

    tokens: int | None
    source: LimitSource
    disproved: bool = False


def limit_of(step: Step) -> Limit:
    """The limit that applies to a step: as logged, else from the model table, else unknown."""
    logged = step.limit
    tokens = window_for(step.model) if logged is None else logged
    if tokens is None:
        return Limit(None, "unknown")
    accepted = step.prompt_tokens
    return Limit(tokens, "table" if logged is None else "logged", accepted is not None and accepted > tokens)


def steps_left(sizes: Sequence[int | None], limit: int | None) -> int | None:
    """Steps until the window is full at the median growth of the last steps.

    `sizes` are context sizes in tokens, oldest first, of the newest step last; unknown ones are passed over. None
    when the limit or two sizes are unknown or the context does not grow; 0 when it is full.
    """
    known = [size for size in sizes[-GROWTH_STEPS - 1 :] if size is not None]
    if limit is None or len(known) < 2:
        return None
    grown = sorted(after - before for before, after in pairwise(known) if after > before)
    if known[-1] >= limit:
        return 0
    return (limit - known[-1]) // grown[len(grown) // 2] if grown else None
