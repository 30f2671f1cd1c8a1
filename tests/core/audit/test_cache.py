"""The prompt cache: hits, expiries and changes told apart, money, compactions that pay; no false certainty."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from contextlab.core.audit.cache import CacheState, Cause, Prices, Sent, cache_steps, economics, totals

PRICE = Prices(input=10e-6, read=1e-6, write=12.5e-6, output=50e-6)
FIRST = Sent(1, 1, "m", 1_000.0, 10, 0, 9_990, 100)


def second(**values: Any) -> Sent:
    """A step two minutes later that reads nothing, unless told otherwise."""
    plain = Sent(2, 1, "m", 1_120.0, 10, 0, 11_990, 100)
    return replace(plain, **values)


def state(one: Sent, *more: Sent) -> tuple[CacheState, Cause | None]:
    """State and cause of the last of some steps."""
    found = list(cache_steps([FIRST, *more, one], {"m": PRICE, "other": PRICE}))[-1]
    return found.state, found.cause


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (second(read=9_900, write=2_090), (CacheState.HIT, None)),
        (second(), (CacheState.OUTSIDE, None)),
        (second(at=1_000 + 7 * 60), (CacheState.EXPIRED, None)),
        (second(at=1_000 + 7 * 60, cause=Cause.COMPACTED), (CacheState.CHANGED, Cause.COMPACTED)),
        (second(cause=Cause.CLEARED, breaks_at=3), (CacheState.CHANGED, Cause.CLEARED)),
        (second(model="other"), (CacheState.CHANGED, Cause.MODEL)),
        (second(at=None), (CacheState.UNKNOWN, None)),
        (second(at=500.0), (CacheState.UNKNOWN, None)),
        (second(read=None, write=None, input=12_000), (CacheState.UNKNOWN, None)),
        (second(read=None, write=None, input=None), (CacheState.UNKNOWN, None)),
        (second(input=100, write=0), (CacheState.SMALL, None)),
    ],
)
def test_a_miss_is_told_from_a_miss(one: Sent, expected: tuple[CacheState, Cause | None]) -> None:
    """Expired, changed by what the log says, changed outside; without figures or with odd clocks: unknown."""
    assert state(one) == expected


def test_a_change_behind_what_was_read_is_no_miss() -> None:
    """A late item changed; nearly everything was read all the same."""
    assert state(second(read=9_500, write=2_490, cause=Cause.CLEARED, breaks_at=90)) == (CacheState.HIT, None)


def test_money_is_reported_tokens_at_listed_prices() -> None:
    """Reads, writes, fresh input, output; what it would have cost without a cache."""
    [first] = cache_steps([FIRST], {"m": PRICE})
    assert first.cost == pytest.approx(10 * 10e-6 + 9_990 * 12.5e-6 + 100 * 50e-6)
    assert first.without_cache == pytest.approx(10_000 * 10e-6 + 100 * 50e-6)
    assert not first.at_least


def test_an_unknown_price_is_unknown_never_nothing() -> None:
    """One model without a price: the step has no cost, and the sum has none."""
    steps = list(cache_steps([FIRST, second(model="new")], {"m": PRICE, "new": None}))
    assert [one.cost is None for one in steps] == [False, True]
    assert totals(steps).cost is None
    assert totals([]).cost is None
    assert totals([]).read is None


def test_a_missing_output_makes_it_at_least() -> None:
    """The sum is a floor then."""
    steps = list(cache_steps([replace(FIRST, output=None), second(partial=True)], {"m": PRICE}))
    assert [one.at_least for one in steps] == [True, True]
    assert totals(steps).at_least


def test_sums_name_states_and_causes() -> None:
    """How many hits, and what broke the rest."""
    steps = list(
        cache_steps([FIRST, second(cause=Cause.CLEARED), second(read=11_900, write=90)], {"m": PRICE})
    )
    found = totals(steps)
    assert found.states == {"first": 1, "changed": 1, "hit": 1}
    assert found.causes == {"cleared": 1}
    assert found.read == 11_900


def test_a_compaction_costs_and_saves() -> None:
    """150,000 to 40,000 with a summary of 3,000: about seven steps until it pays."""
    sent = [
        Sent(1, 1, "m", 0.0, 0, 150_000, 0, 1),
        *(Sent(n, 1, "m", n, 0, 0, 40_000, 1) for n in range(2, 12)),
    ]
    steps = list(cache_steps(sent, {"m": PRICE}))
    found = economics(steps, 2, 12, PRICE, 3_000)
    assert found is not None
    assert (found.before, found.after, found.steps_since, found.break_even) == (150_000, 40_000, 10, 8)
    assert found.paid == pytest.approx(150_000 * 1e-6 + 3_000 * 50e-6 + 40_000 * 12.5e-6)
    assert found.saved == pytest.approx(110_000 * 1e-6 * 10)
    assert economics(steps, 2, 12, None, 3_000).paid is None  # type: ignore[union-attr]
    assert economics(steps, 1, 2, PRICE, 3_000) is None
    assert economics([], 1, 2, PRICE, None) is None
