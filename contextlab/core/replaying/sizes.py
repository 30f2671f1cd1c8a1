"""Sizes of a session's items for replay: tokens as counted or estimated, hidden reasoning, placeholders.

Visible text is calibrated in one go (`ratio` x tokens + `per_block` x blocks); reasoning is hidden and has its own
size, taken from what the provider reported for its step or from the length of its signature.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from contextlab.core.items import KIND_CODE, Kind, estimate_tokens
from contextlab.core.measuring.calibrations import Calibrations, InUse
from contextlab.core.measuring.models import (
    Calibration,
    calibration_for,
    claude,
    plain_name,
    reasoning_size,
)
from contextlab.core.projecting.stand_ins import result_cleared
from contextlab.core.projection import TokenCount
from contextlab.core.report import Report
from contextlab.core.timeline import UNKNOWN, Step, Timeline

REASONING = KIND_CODE[Kind.REASONING]


class Sizes:
    """Sizes by position. `count` counts placeholders; without it they are estimated."""

    def __init__(self, timeline: Timeline, count: TokenCount | None = None) -> None:
        """Read the columns once."""
        self.timeline = timeline
        self.count = count
        sizes = zip(timeline.tokens, timeline.estimates, strict=True)
        self.tokens = array("q", [estimate if size == UNKNOWN else size for size, estimate in sizes])
        self.of_text: TokenCount = estimate_tokens if count is None else count
        """Tokens of a placeholder's text."""
        self.hidden = hidden_reasoning(timeline, self.tokens)

    def cleared_texts(self, results: Sequence[int], where: Sequence[int]) -> list[str]:
        """The placeholders of the results at these positions. A call names its tool if it is in the source too."""
        timeline = self.timeline
        tools, ids, pairs = timeline.tools, timeline.call_ids, timeline.pairs
        calls = [pairs[position] for position in results]
        # As timeline.call_id says, for thousands of results that have their call.
        return [
            result_cleared(tools.get(call) if where[call] >= 0 else None, ids.get(call) or ids.get(position))
            for call, position in zip(calls, results, strict=True)
        ]


def hidden_reasoning(timeline: Timeline, tokens: array[int]) -> dict[int, int]:
    """Calibrated size of each reasoning item, by position."""
    sizes: dict[int, int] = {}
    starts = [step.upto for step in timeline.steps]
    shared: set[int] = set()
    is_claude = lru_cache(maxsize=None)(lambda model: claude(model) is not None)
    for position in [place for place, kind in enumerate(timeline.kinds) if kind == REASONING]:
        number = bisect_right(starts, position)
        step = timeline.steps[number - 1] if number else None
        if step is None or (step.reasoning is None and not is_claude(step.model)):
            sizes[position] = tokens[position]
        elif step.reasoning is not None:
            # One figure for the whole step: its first reasoning item carries it.
            sizes[position] = 0 if number in shared else step.reasoning
            shared.add(number)
        else:
            sizes[position] = reasoning_size(step.model, timeline.opaque[position], tokens[position])
    return sizes


@dataclass(slots=True)
class Sent:
    """What a context consists of, for calibration."""

    visible: int = 0
    """Tokens that are not reasoning."""
    blocks: int = 0
    """Content blocks that are not reasoning."""
    tool_blocks: int = 0
    """Calls and results among them."""
    hidden: int = 0
    """Calibrated tokens of reasoning."""


def calibrate(report: Report, step: Step, sent: Sent, calibrations: Calibrations) -> None:
    """Fill in the calibrated figure and what the provider reported."""
    instead = calibrations.instead
    fitted = instead.get(plain_name(step.model)) if instead else None
    calibration, exact = _calibration(step.model, fitted)
    size = calibration.apply(sent.visible, sent.blocks)
    if exact:
        size += round(_TOOL_MORE * sent.tool_blocks + _MESSAGE_MORE * (sent.blocks - sent.tool_blocks))
    report.calibrated_tokens = size + sent.hidden
    report.reasoning_tokens, report.blocks = sent.hidden, sent.blocks
    report.band = calibration.band
    report.reported_input_tokens = step.prompt_tokens


# Measured on Codex sessions: 7.8 tokens on top of a message, 10.7 on top of a call or a result; the table of models
# has one figure for both. With it, single steps are off by 18 tokens (p90), with these by 12.
_TABLE = 9
_MESSAGE_MORE, _TOOL_MORE = 7.8 - _TABLE, 10.7 - _TABLE


@lru_cache(maxsize=256)
def _calibration(model: str | None, instead: InUse | None) -> tuple[Calibration, bool]:
    """The model's calibration, and whether its blocks are told apart by kind."""
    calibration = calibration_for(model) if instead is None else instead.calibration
    return calibration, calibration.ratio == 1.0 and calibration.per_block == _TABLE
