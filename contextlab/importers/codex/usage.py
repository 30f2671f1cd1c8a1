"""Token counts of a rollout: a step's own, a mere repetition, or the size after a compaction."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from contextlab.core.events import Usage
from contextlab.importers.values import count, mapping


class Told(Enum):
    """What a token count says."""

    NOTHING = "nothing"
    STEP = "step"
    AFTER = "after"
    REPEAT = "repeat"


@dataclass(slots=True)
class Counts:
    """The totals seen last, and the window that was named last."""

    window: int | None = None
    seen: bool = False
    """Whether any step has had its count; rollouts of some providers have none."""
    context: int | None = None
    """Input and output of the last step together: the context as the provider measured it last."""
    _total: Any = None

    def read(self, payload: dict[str, Any]) -> tuple[Told, dict[str, Any]]:
        """What this record says, with its figures for the last call."""
        info = mapping(payload.get("info"))
        last, total = mapping(info.get("last_token_usage")), info.get("total_token_usage")
        if not last and total is None:
            return Told.NOTHING, {}
        self.window = count(info.get("model_context_window")) or self.window
        # After a compaction all parts are 0 and the total is the size of the new context (formats.md 4.17).
        if count(last.get("total_tokens")) and not any(last.get(name) for name in _PARTS):
            return Told.AFTER, last
        if total is not None and total == self._total:
            return Told.REPEAT, last
        self._total, self.seen = total, True
        self.context = count(last.get("total_tokens"))
        return Told.STEP, last


_PARTS = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens")


def usage_of(step: str, last: dict[str, Any]) -> tuple[Usage, str | None]:
    """The usage of a step and, where the figures contradict each other, what is wrong with them."""
    whole, cached = count(last.get("input_tokens")), count(last.get("cached_input_tokens"))
    usage = Usage(step, whole, cached, None, count(last.get("output_tokens")))
    usage.reasoning = count(last.get("reasoning_output_tokens"))
    if whole is None or cached is None:
        return usage, None
    usage.input = max(0, whole - cached)
    return usage, "more cached input tokens than input tokens" if cached > whole else None
