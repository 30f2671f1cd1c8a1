"""After how many steps a compaction has paid for itself, at the prices of a prompt cache.

Every later step reads a cached prefix that is smaller by `before - after` tokens. Paid once: the summary's request (a
cached read of what is summarised, and its answer), and writing the new prefix into the cache.

    steps = (asked + write * after) / (read * (before - after)),   asked = read * before + output * written

All in tokens at the input price; `Shares` are the prices of the agent's model as shares of that.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil


@dataclass(slots=True, frozen=True)
class Shares:
    """What a token costs in the cache and as output, as shares of the price of an input token."""

    read: float
    write: float
    output: float


ASSUMED = Shares(0.1, 1.25, 5.0)
"""Anthropic's, for five minutes: for a model whose prices are not known."""


def pays_back(
    before: int, after: int, output: int | None = None, shares: Shares = ASSUMED, asked: float | None = None
) -> int | None:
    """Steps until it pays; None = never.

    `output`: tokens that a model writes for it, None where none is asked. `asked`: what the model's part costs, in
    input tokens of the agent's model, where that is known better than by the agent's own prices.
    """
    if after >= before or shares.read <= 0:
        return None
    if asked is None:
        asked = 0.0 if output is None else shares.read * before + shares.output * output
    return max(1, ceil((asked + shares.write * after) / (shares.read * (before - after))))
