"""What a model call costs, by the price list of the genai-prices package (its bundled copy: nothing is fetched)."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any


@dataclass(frozen=True, slots=True)
class Priced:
    """A cost in US dollars with the prices that it was computed from."""

    cost: Decimal
    prices: dict[str, Any]
    """Version of the list, the model as it is listed, and the unit prices in words."""


def price_of(
    model: str, input_tokens: int | None, output_tokens: int | None, cached: int | None = None
) -> Priced | None:
    """The cost of a call; None where the model has no price or the usage is not known. Never 0 for unknown."""
    if not model or input_tokens is None or output_tokens is None:
        return None
    import genai_prices  # 0.2 s: only who needs a price pays for it

    usage = genai_prices.Usage(
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cache_read_tokens=min(cached or 0, input_tokens),
    )
    try:
        found = genai_prices.calc_price(usage, model_ref=model)
    except LookupError:
        return None
    units = {
        name: _words(value)
        for name in _UNITS
        if (value := getattr(found.model_price, name, None)) is not None
    }
    listed = {"list": f"genai-prices {_version()}", "provider": found.provider.id, "model": found.model.id}
    return Priced(Decimal(found.total_price), {**listed, **units})


def _words(price: Any) -> str:
    """A unit price; one that grows with the prompt as `3, above 200,000 tokens 6`."""
    tiers = "".join(
        f", above {tier.start:,} tokens {tier.price}" for tier in getattr(price, "tiers", None) or ()
    )
    return f"{getattr(price, 'base', price)}{tiers}"


@dataclass(frozen=True, slots=True)
class Listed:
    """The prices of a model as shares of its input price; writing without a price of its own costs the input price."""

    input: Decimal
    """US dollars for a token."""
    read: float
    write: float
    output: float
    prices: dict[str, Any]
    """As in Priced."""


def shares_of(model: str) -> Listed | None:
    """What the cache of a model costs; None where the list does not know the model. Of tiers the lowest."""
    priced = price_of(model, 1, 1)
    if priced is None:
        return None
    whole, read, write, out = (_number(priced.prices.get(name)) for name in _UNITS)
    if not whole or out is None:
        return None
    return Listed(
        whole / 1_000_000,
        float((whole if read is None else read) / whole),
        float((whole if write is None else write) / whole),
        float(out / whole),
        priced.prices,
    )


def _number(price: str | None) -> Decimal | None:
    return None if price is None else Decimal(price.partition(",")[0])


_UNITS = ("input_mtok", "cache_read_mtok", "cache_write_mtok", "output_mtok")
"""US dollars for a million tokens."""


def _version() -> str:
    from importlib.metadata import version

    return version("genai-prices")
