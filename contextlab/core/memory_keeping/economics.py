"""What observations cost and save, in tokens: paid once to write, paid at each reading, saved against the original.

| figure     | rule                                                                                          |
|------------|-----------------------------------------------------------------------------------------------|
| read       | a quarter of the characters of title, subtitle, narrative and the facts as JSON, rounded up; at least 1 |
| discovery  | what writing took, counted once for each batch (the original stores it on every observation of one) |
| savings    | discovery - read; negative where writing was cheaper than reading, and shown as such          |
| percent    | of discovery, half up; 0 where nothing was paid                                               |
| ratio      | tokens of the original over tokens to read; None where either is unknown or nothing           |
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass

from contextlab.core.memory_keeping.observations import Observation

CHARS_PER_TOKEN = 4


@dataclass(slots=True, frozen=True)
class Economics:
    """Tokens. `read` is estimated; `discovery` is as reported by the model's provider, 0 without a model."""

    discovery: int = 0
    read: int = 0
    raw: int | None = None

    @property
    def savings(self) -> int:
        """Discovery less read."""
        return self.discovery - self.read

    @property
    def savings_percent(self) -> int:
        """Savings in percent of discovery."""
        return math.floor(self.savings / self.discovery * 100 + 0.5) if self.discovery else 0

    @property
    def ratio(self) -> float | None:
        """How many times smaller it is than what it stands for."""
        return round(self.raw / self.read, 2) if self.raw and self.read else None


def read_tokens(one: Observation) -> int:
    """What reading an observation costs."""
    facts = json.dumps(one.facts, ensure_ascii=False, separators=(",", ":"))
    size = sum(len(text or "") for text in (one.title, one.subtitle, one.narrative)) + len(facts)
    return max(1, math.ceil(size / CHARS_PER_TOKEN))


def economics(
    observations: Iterable[Observation], batch_costs: Iterable[int | None], raw: int | None = None
) -> Economics:
    """The figures of observations and the batches that they were written in; `raw` is the original in tokens."""
    return Economics(
        sum(cost or 0 for cost in batch_costs), sum(read_tokens(one) for one in observations), raw
    )
