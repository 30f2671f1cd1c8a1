"""The prompt cache, step by step: how much of the prefix was read, where it broke and why, what it cost.

| a step is | when |
|---|---|
| first | nothing of this session was sent before |
| hit | at least HIT of what could be read was read |
| expired | less was read, the log shows no change of the prefix, and the pause was longer than a cache lives |
| changed | less was read, and the log says what changed: compacted, cleared, dropped, system text, model, restart |
| changed_outside | less was read after a short pause, and the log shows no change |
| unknown | no cache figures, or no times to tell an expiry from a change |

Money is what the listed prices make of the reported tokens; without a price, or without a figure, it is unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from contextlab.core.measuring.pays_back import Shares, pays_back
from contextlab.core.measuring.sums import sum_of_known

HIT = 0.9
SHORT_LIFE, LONG_LIFE = 300.0, 3_600.0
"""Seconds that caches live: five minutes by default, an hour at most."""
SMALLEST = 1_024
"""Tokens below which no provider caches."""


class CacheState(StrEnum):
    """What became of the prefix at a step."""

    FIRST = "first"
    HIT = "hit"
    EXPIRED = "expired"
    CHANGED = "changed"
    OUTSIDE = "changed_outside"
    SMALL = "too_small"
    UNKNOWN = "unknown"


class Cause(StrEnum):
    """What broke a prefix."""

    COMPACTED = "compacted"
    CLEARED = "cleared"
    DROPPED = "dropped"
    RETURNED = "returned"
    SYSTEM = "system_text"
    MODEL = "model"
    RESTART = "restart"


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars for a token."""

    input: float
    read: float
    write: float
    output: float


@dataclass(frozen=True, slots=True)
class Sent:
    """What is known of a step. `at`: seconds, None where the log has no time."""

    step: int
    turn: int
    model: str
    at: float | None
    input: int | None
    read: int | None
    write: int | None
    output: int | None
    partial: bool = False
    """The final output figure was never written."""
    breaks_at: int | None = None
    """Position of the first item whose fate is another than at the step before; None = the prefix is unchanged."""
    cause: Cause | None = None

    @property
    def prompt(self) -> int | None:
        """The whole reported input."""
        return sum_of_known((self.input, self.read, self.write))


@dataclass(frozen=True, slots=True)
class CacheStep:
    """A step's cache. Tokens as reported; None = not reported."""

    step: int
    turn: int
    state: CacheState
    cause: Cause | None
    breaks_at: int | None
    prompt: int | None
    read: int | None
    written: int | None
    fresh: int | None
    """Input that was neither read nor written."""
    expected: int | None
    """Tokens that could have been read: the prompt of the step before, as far as this one is as long."""
    gap: float | None
    """Seconds since the step before; None where a clock is missing or runs backwards."""
    cost: float | None
    without_cache: float | None
    """What the same tokens would have cost at the input price."""
    at_least: bool
    """Whether the cost lacks an output that was never reported."""


def cache_steps(sent: Iterable[Sent], prices: dict[str, Prices | None]) -> Iterator[CacheStep]:
    """Every step in order; `prices` by model, None for a model without a price."""
    before: Sent | None = None
    for one in sent:
        yield _step(one, before, prices.get(one.model))
        if one.prompt is not None:
            before = one


def _step(one: Sent, before: Sent | None, price: Prices | None) -> CacheStep:
    gap = None if before is None or one.at is None or before.at is None else one.at - before.at
    gap = gap if gap is not None and gap >= 0 else None
    expected = None
    if before is not None and before.prompt is not None and one.prompt is not None:
        expected = min(before.prompt, one.prompt)
    state, cause = _state(one, before, expected, gap)
    cost, plain = _cost(one, price)
    at_least = one.partial or (cost is not None and one.output is None)
    return CacheStep(
        one.step, one.turn, state, cause, one.breaks_at if cause else None, one.prompt, one.read, one.write, one.input,
        expected, gap, cost, plain, at_least,
    )  # fmt: skip


def _state(
    one: Sent, before: Sent | None, expected: int | None, gap: float | None
) -> tuple[CacheState, Cause | None]:
    if one.prompt is None or (one.read is None and one.write is None):
        return CacheState.UNKNOWN, one.cause
    if before is None:
        return CacheState.FIRST, None
    if expected is None or expected < SMALLEST:
        return CacheState.SMALL, one.cause
    if (one.read or 0) >= HIT * expected:
        return CacheState.HIT, None
    cause = Cause.MODEL if one.model != before.model else one.cause
    if cause is not None:
        return CacheState.CHANGED, cause
    if gap is None:
        return CacheState.UNKNOWN, None
    if gap > SHORT_LIFE:
        return CacheState.EXPIRED, None
    return CacheState.OUTSIDE, None


def _cost(one: Sent, price: Prices | None) -> tuple[float | None, float | None]:
    if price is None or one.prompt is None:
        return None, None
    output = price.output * (one.output or 0)
    spent = (
        price.input * (one.input or 0)
        + price.read * (one.read or 0)
        + price.write * (one.write or 0)
        + output
    )
    return spent, price.input * one.prompt + output


@dataclass(frozen=True, slots=True)
class Totals:
    """Steps taken together: a turn, a session. Sums are of what was reported; None where nothing was."""

    steps: int
    read: int | None
    written: int | None
    fresh: int | None
    cost: float | None
    """None as soon as one step with usage has no price."""
    without_cache: float | None
    at_least: bool
    states: dict[str, int]
    causes: dict[str, int]


def totals(steps: Sequence[CacheStep]) -> Totals:
    """The sums of steps."""
    states: dict[str, int] = {}
    causes: dict[str, int] = {}
    for one in steps:
        states[one.state] = states.get(one.state, 0) + 1
        if one.state is CacheState.CHANGED and one.cause is not None:
            causes[one.cause] = causes.get(one.cause, 0) + 1
    used = [one for one in steps if one.prompt is not None]
    priced = bool(used) and all(one.cost is not None for one in used)
    return Totals(
        len(steps), sum_of_known(one.read for one in used),
        sum_of_known(one.written for one in used), sum_of_known(one.fresh for one in used),
        sum(one.cost or 0 for one in used) if priced else None,
        sum(one.without_cache or 0 for one in used) if priced else None,
        len(used) < len(steps) or any(one.at_least for one in used), states, causes,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Economics:
    """What a compaction cost and what it has saved since. Dollars are None where a price or a figure is unknown."""

    at_step: int
    before: int
    """Prompt of the last step before it."""
    after: int
    """Prompt of the first step behind it."""
    steps_since: int
    """Steps behind it, up to the next compaction."""
    break_even: int | None
    """Steps until it pays; None = never."""
    paid: float | None
    """The summary's request (its own figures where the log has them, else a cached read) and the new prefix written."""
    saved: float | None
    """What those steps would have read more, at the price of a cached read."""


def economics(
    steps: Sequence[CacheStep], at_step: int, until: int, price: Prices | None, summary_tokens: int | None
) -> Economics | None:
    """The economics of the compaction in force from `at_step` on, until the step `until` (exclusive)."""
    before = next((one for one in reversed(steps) if one.step < at_step and one.prompt is not None), None)
    since = [one for one in steps if at_step <= one.step < until and one.prompt is not None]
    if before is None or before.prompt is None or not since or since[0].prompt is None:
        return None
    after = since[0].prompt
    shares = None if price is None or not price.input else Shares(
        price.read / price.input, price.write / price.input, price.output / price.input)  # fmt: skip
    even = pays_back(before.prompt, after, summary_tokens, shares) if shares else pays_back(
        before.prompt, after, summary_tokens)  # fmt: skip
    paid = saved = None
    if price is not None:
        asked = (
            price.read * before.prompt + price.output * summary_tokens if summary_tokens is not None else 0.0
        )
        paid = asked + price.write * after
        saved = price.read * max(0, before.prompt - after) * len(since)
    return Economics(at_step, before.prompt, after, len(since), even, paid, saved)
