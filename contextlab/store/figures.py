"""A column of whole numbers in few bytes: differences to the one before, little-endian, zstd."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable
from itertools import accumulate, pairwise

import zstandard


def pack_figures(figures: Iterable[int]) -> bytes:
    """The numbers as bytes."""
    given = list(figures)
    steps = array("q", [*given[:1], *(other - one for one, other in pairwise(given))])
    if sys.byteorder == "big":
        steps.byteswap()
    return zstandard.ZstdCompressor().compress(steps.tobytes())


def unpack_figures(packed: bytes) -> list[int]:
    """The numbers again."""
    steps = array("q", zstandard.ZstdDecompressor().decompress(packed))
    if sys.byteorder == "big":
        steps.byteswap()
    return list(accumulate(steps))
