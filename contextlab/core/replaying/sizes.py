"""Sizes of a session's items for replay: tokens as counted or estimated, hidden reasoning, placeholders.

Visible text is calibrated in one go (`ratio` x tokens + `per_block` x blocks); reasoning is hidden and has its own
size, taken from what the provider reported for its step or from the length of its signature.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right

from contextlab.core.items import KIND_CODE, Kind, estimate_tokens
from contextlab.core.models import calibration_for, claude, reasoning_size
from contextlab.core.projection import TokenCount
from contextlab.core.report import Report
from contextlab.core.stand_ins import result_cleared
from contextlab.core.timeline import UNKNOWN, Step, Timeline

REASONING = KIND_CODE[Kind.REASONING]


class Sizes:
    """Sizes by position. `count` counts placeholders; without it they are estimated."""

    def __init__(self, timeline: Timeline, count: TokenCount | None = None) -> None:
        """Read the columns once."""
        self.timeline = timeline
        self.count = count
        self.tokens = array("q", timeline.tokens)
        for position, tokens in enumerate(self.tokens):
            if tokens == UNKNOWN:
                self.tokens[position] = timeline.estimates[position]
        self.hidden = hidden_reasoning(timeline, self.tokens)

    def of_text(self, text: str) -> int:
        """Tokens of a placeholder's text."""
        return estimate_tokens(text) if self.count is None else self.count(text)

    def cleared_text(self, position: int, call: int) -> str:
        """The placeholder of the result at `position`, whose call (UNKNOWN if there is none) may name the tool."""
        tool = self.timeline.tools.get(call) if call != UNKNOWN else None
        return result_cleared(tool, self.timeline.call_ids.get(position))


def hidden_reasoning(timeline: Timeline, tokens: array[int]) -> dict[int, int]:
    """Calibrated size of each reasoning item, by position."""
    sizes: dict[int, int] = {}
    starts = [step.upto for step in timeline.steps]
    shares: dict[int, int] = {}
    for position, kind in enumerate(timeline.kinds):
        if kind != REASONING:
            continue
        number = bisect_right(starts, position)
        step = timeline.steps[number - 1] if number else None
        if step is None or (step.reasoning is None and claude(step.model) is None):
            sizes[position] = tokens[position]
        elif step.reasoning is not None:
            # One figure for the whole step: its first reasoning item carries it.
            sizes[position] = 0 if number in shares else step.reasoning
            shares[number] = position
        else:
            sizes[position] = reasoning_size(step.model, timeline.opaque[position], tokens[position])
    return sizes


def calibrate(report: Report, step: Step, visible: int, blocks: int, hidden: int) -> None:
    """Fill in the calibrated figure: `visible` tokens in `blocks` content blocks, and `hidden` reasoning."""
    calibration = calibration_for(step.model)
    report.calibrated_tokens = calibration.apply(visible, blocks) + hidden
    report.band = calibration.band
    report.reported_input_tokens = step.prompt_tokens
