"""After how many steps a compaction has paid for itself, at the prices of a prompt cache.

Every later step reads a cached prefix that is smaller by `before - after` tokens. Paid once: the summary's request (a
cached read of what is summarised, and its answer), and writing the new prefix into the cache.

    steps = (read * before + write * after + ratio * output) / (read * (before - after))

Shares of the input price: read 0.1 and write 1.25 (Anthropic, 5 minutes); an output token costs 5 input tokens.
"""

from __future__ import annotations

from math import ceil

READ, WRITE, OUTPUT = 0.1, 1.25, 5.0


def pays_back(before: int, after: int, output: int | None = None) -> int | None:
    """Steps until it pays; None = never. `output`: tokens that a model writes for it, None where none is asked."""
    if after >= before:
        return None
    asked = 0.0 if output is None else READ * before + OUTPUT * output
    return max(1, ceil((asked + WRITE * after) / (READ * (before - after))))
