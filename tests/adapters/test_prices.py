"""Costs by the price list."""

from __future__ import annotations

from contextlab.adapters.prices import price_of


def test_a_cost_tells_the_prices_it_is_from() -> None:
    """List, model and unit prices in words, also where the price grows with the prompt."""
    priced = price_of("claude-sonnet-4-5-20250929", 1000, 100)
    assert priced is not None
    assert priced.prices["list"].startswith("genai-prices ")
    assert priced.prices["input_mtok"] == "3, above 200,000 tokens 6"
    assert price_of("gpt-4.1-mini", 1000, 100).prices["input_mtok"] == "0.4"


def test_what_is_not_known_costs_unknown() -> None:
    """Never 0: no model, a model without a price, no usage."""
    assert price_of("", 1, 1) is None
    assert price_of("my-own-model", 1, 1) is None
    assert price_of("gpt-4.1-mini", None, 1) is None
    assert price_of("gpt-4.1-mini", 1, None) is None
