"""A memory by its sizes alone: what the built-in triggers go by, so that nobody need look at each item for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from contextlab.core.compaction import Decision


@dataclass(slots=True)
class Figures:
    """Sizes of a memory without a summary."""

    entries: int = 0
    tokens: int = 0
    turns: int = 0
    """Real prompts."""
    result_chars: int = 0
    """Characters of all tool results together."""
    largest_result: int = 0


Judge = Callable[[Figures], Decision | None]
"""Decides as `decide` (`should_compact`) would on a memory of these sizes; None where they do not tell."""


def judge_of(part: object) -> Judge | None:
    """How a trigger or a policy decides by figures alone; None where it does not say so itself.

    What a class inherits does not count: who decides otherwise than the class above need not know of this.
    """
    if "judge" not in vars(type(part)):
        return None
    judge: Judge = part.judge  # type: ignore[attr-defined]
    return judge if judge(Figures()) is not None else None
