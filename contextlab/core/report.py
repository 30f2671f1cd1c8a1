"""The ContextReport of a step: what stood in memory, what the model got, and why they differ.

Source = the memory before projection; projected = what the model saw; dropped = source - projected. Items that
stand only in a summary are counted as summarised and are in none of the three. Unknown is None, never 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Report:
    """Figures of one step. Tokens are counted with `encoding` or estimated, as `token_source` says."""

    source_items: int = 0
    projected_items: int = 0
    dropped_items: int = 0
    pinned_items: int = 0
    cleared_items: int = 0
    """Results replaced by a placeholder and still in the context."""
    reasoning_cleared_items: int = 0
    offloaded_items: int = 0
    summarised_items: int = 0
    source_entries: int = 0
    projected_entries: int = 0
    dropped_entries: int = 0
    source_chars: int = 0
    projected_chars: int = 0
    source_tokens: int | None = None
    projected_tokens: int | None = None
    token_source: str = "estimated"  # noqa: S105  no password
    """`counted` when every token figure in it was counted, else `estimated`."""
    calibrated_tokens: int | None = None
    reasoning_tokens: int | None = None
    """Of it, hidden reasoning (from its signature, or as reported for its step)."""
    blocks: int | None = None
    """Content blocks that were calibrated: all but reasoning."""
    band: float | None = None
    """Relative half-width of the calibrated figure's error band (0.15 = 15 %)."""
    reported_input_tokens: int | None = None
    item_limit_applied: bool = False
    character_limit_applied: bool = False
    token_limit_applied: bool = False
    over_budget: bool = False
    source_faults: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    composition: tuple[int, ...] = ()
    """Projected tokens by kind, in the order of KINDS (ui left out)."""
    head_end: int | None = None
    tail_start: int | None = None
    """Every item at a position in [head_end, tail_start) is left out at this step; both 0 when none is, None when
    that is not known."""
    hidden_tokens: int | None = None
    """Recorded view: reported input minus what the log shows ("unrecorded overhead"), calibrated."""
    finding: str | None = None
    """`changed_outside_log` where the reported input fell without an event that explains it."""
