"""What a compaction would do, as values for pages, API and command line. Unknown is None."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any


@dataclass(frozen=True, slots=True)
class PreviewItem:
    """An item of the memory and what would become of it."""

    id: str
    position: int | None
    """In the session; None for what an earlier compaction wrote."""
    kind: str
    tool: str | None
    verdict: str
    reason: str | None
    tokens: int
    chars: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """What the model's part would take. All None where the policy asks no model."""

    calls: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: Decimal | None = None
    """US dollars; None = no price known."""
    prices: dict[str, Any] | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Preview:
    """What would happen."""

    compacts: bool
    reason: str
    """Why nothing would be done: nothing_to_summarise, no_gain, a fault in words; empty where it compacts."""
    policy: str
    method: str
    """rules, model or mechanical."""
    needs_model: bool
    model_ready: bool
    """A model is set; always true where none is needed."""
    at_step: int
    """The step that the memory stands before."""
    steps_since: int
    """Steps of the log behind it."""
    upto: int
    cut: int | None
    """Position of the first item behind the last one that would be summarised; None where nothing is."""
    summarised: int
    dropped: int
    """Items that nothing stands for: the policy leaves them out without a word of them."""
    kept: int
    pinned: int
    tokens_before: int
    tokens_after: int | None
    after_estimated: bool
    """The summary's size is a guess: a model would write it."""
    token_source: str
    faults: Sequence[str] = ()
    """What a provider would refuse about the memory after; [] = nothing."""
    notes: Sequence[str] = ()
    """What a person should know, as that the pins alone are larger than what the policy compacts at."""
    missing_pins: Sequence[str] = ()
    """Ids that are pinned but not in this memory."""
    estimate: Estimate = field(default_factory=Estimate)
    saves_per_step: int | None = None
    """Tokens that each later step needs less."""
    pays_back: int | None = None
    """Steps until the compaction has paid for itself (prompt cache prices); None = never, or unknown."""
    payback: dict[str, Any] | None = None
    """The same with the shares of the input price, the model and the prices that it was computed from."""
    items: Sequence[PreviewItem] = ()
    """In order; the newest MOST_ITEMS and the oldest where there are more."""
    items_total: int = 0
