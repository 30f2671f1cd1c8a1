"""The context window of a step: its limit, who says so, and how many steps are left until it is full."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from contextlab.core.measuring.models import window_for
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


@dataclass(slots=True, frozen=True)
class Fill:
    """How full a context window is. `percent` is of the window, `percent_of_usable` of what a reserve leaves of it.

    None = cannot be told; `flags` says why: `negative_tokens`, `declared_window_contradicted`.
    """

    tokens: int | None
    window: int | None
    percent: float | None = None
    percent_of_usable: float | None = None
    flags: tuple[str, ...] = ()


def fill(
    prompt_tokens: int | None, window: int | None, reserve: int = 0, accepted: Sequence[int] = ()
) -> Fill:
    """The fill of a window by a prompt: the provider's whole input of one call, cache reads and writes included.

    `reserve` is what the agent keeps free for its answer. `accepted` are prompts that the provider took before: one
    above the window disproves it, and no percentage is made up.
    """
    if prompt_tokens is not None and prompt_tokens < 0:
        return Fill(None, window, flags=("negative_tokens",))
    if any(_above(tokens, window) for tokens in (prompt_tokens, *accepted)):
        return Fill(prompt_tokens, None, flags=("declared_window_contradicted",))
    return Fill(
        prompt_tokens, window, _share(prompt_tokens, window), _share(prompt_tokens, (window or 0) - reserve)
    )


def _above(tokens: int | None, window: int | None) -> bool:
    return tokens is not None and window is not None and tokens > window


def _share(tokens: int | None, size: int | None) -> float | None:
    return None if tokens is None or not size or size < 0 else round(100 * tokens / size, 1)


MISMATCH = "counter_mismatch"
LEAST_MISMATCH = 2_000
MISMATCH_SHARE = 0.02


def counter_mismatch(prompt: int | None, decided_with: int | None, since: int = 0) -> int | None:
    """How far the figure that an agent decided a compaction with is from the prompt that its provider reported.

    `since` is what was added after that prompt: its answer, results. None where both agree: the figure lies between
    the prompt and the prompt with all that was added, give or take LEAST_MISMATCH or MISMATCH_SHARE (estimates are
    in it); and where either is unknown.
    """
    if prompt is None or decided_with is None:
        return None
    slack = max(LEAST_MISMATCH, round(MISMATCH_SHARE * decided_with))
    if prompt - slack <= decided_with <= prompt + since + slack:
        return None
    return decided_with - (prompt if decided_with < prompt else prompt + since)
