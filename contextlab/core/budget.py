"""What a projection may keep: limits, pins and options.

None or a negative number is no limit; 0 is a real limit. Limits on count are in entries (provider messages),
sizes in code points, tokens as counted or estimated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Mode = Literal["safe", "reference"]


@dataclass(slots=True, frozen=True)
class Budget:
    """The limits and options of the built-in projectors.

    In mode `safe` pins are never taken by a size limit and the pair guard repairs what the projection broke;
    mode `reference` reproduces the projectors of AI4J, which do neither.
    """

    max_items: int | None = None
    """Entries at most, pins included: a hard cap, 0 empties the projection."""
    max_approx_chars: int | None = None
    """Code points at most; the newest entry stays even when it alone is larger."""
    max_tokens: int | None = None
    """Tokens at most; keeps a tail without gaps, the newest entry always."""
    pinned_prefix_items: int = 0
    """Entries at the start that stay."""
    max_recent_tool_results: int | None = None
    """Tool results that keep their body; older ones are replaced by a placeholder. None = all keep it."""
    trim_old_reasoning: bool = False
    """Replace reasoning from before the last user item by a placeholder."""
    pair_guard: bool = True
    """Never leave a call without its result, or a result without its call, where the source has both."""
    drop_unanswered_calls: bool = False
    """Also drop calls that the source never answers (except at its open end)."""
    mode: Mode = "safe"

    def __post_init__(self) -> None:
        """Normalise: negative limits become None, a negative pin becomes 0."""
        for name in ("max_items", "max_approx_chars", "max_tokens", "max_recent_tool_results"):
            limit = getattr(self, name)
            if limit is not None and limit < 0:
                object.__setattr__(self, name, None)
        if self.pinned_prefix_items < 0:
            object.__setattr__(self, "pinned_prefix_items", 0)
        if self.mode not in ("safe", "reference"):
            raise ValueError(f"mode must be safe or reference, not {self.mode!r}")

    @property
    def safe(self) -> bool:
        """Whether our own safety rules apply (pins of a person and system items, the pair guard)."""
        return self.mode == "safe"

    @property
    def guarded(self) -> bool:
        """Whether the pair guard runs."""
        return self.safe and self.pair_guard
