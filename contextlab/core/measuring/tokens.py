"""Sizes in tokens: what may be called a count, and what is only an estimate.

Three kinds of figure, never mixed: *reported* by the provider, *counted* with a tokenizer, *calibrated* from a count
for a model whose tokenizer is not public. An *estimate* stands in until a count exists, and is labelled.
"""

from __future__ import annotations

from typing import Protocol

from contextlab.core.measuring.models import (
    CL100K,
    O200K,
    Calibration,
    calibration_for,
    encoding_for,
    keeps_reasoning,
    reasoning_size,
    window_for,
)

__all__ = [
    "CL100K",
    "O200K",
    "Calibration",
    "TokenCounter",
    "calibration_for",
    "encoding_for",
    "estimate",
    "keeps_reasoning",
    "reasoning_size",
    "window_for",
]


class TokenCounter(Protocol):
    """Counts tokens exactly, in one encoding; the adapters have the implementations."""

    @property
    def name(self) -> str:
        """What counts, with its version: `tiktoken 0.14.0`."""

    @property
    def encoding(self) -> str:
        """The vocabulary, such as o200k_base."""

    def count(self, text: str) -> int:
        """The number of tokens of the text; special-token strings in it are ordinary text."""

    def count_many(self, texts: list[str]) -> list[int]:
        """One number for each text, in order."""


def estimate(text: str) -> int:
    """UTF-8 bytes / 4, at least 1: cheap and wrong by a third in either direction, so always labelled estimated."""
    return max(1, len(text.encode("utf-8", "surrogatepass")) // 4)
