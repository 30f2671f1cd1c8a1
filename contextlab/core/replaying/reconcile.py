"""What the provider reported against what the log shows: the unrecorded rest, and changes that no event explains."""

from __future__ import annotations

from contextlab.core.report import Report
from contextlab.core.timeline import Step

CHANGED = "changed_outside_log"
LEAST_FALL = 2_000
"""Tokens that a fall must exceed to be more than noise."""
FALL_SHARE = 0.02
CACHED_SHARE = 0.9
"""A provider that reads less of the previous context from its cache than this share has missed the prefix."""
UNCACHED_FALL_SHARE = 0.5
"""Where no step of the session has a cache figure, a fall must take more than this share of what is explained."""


class Reconciler:
    """Follows the unrecorded part from step to step of a segment.

    A segment ends where the log records a change (a mark) or the model changes. Within it the unrecorded part
    (system prompt, tools, reminders) stays about the same; where it falls by more than LEAST_FALL and FALL_SHARE
    while the cached prefix is missed, something left the context that the log does not tell of.

    A provider that reports no cache figures at all never says that the prefix was missed, and a small fall alone is
    no evidence: sizes are calibrated, hidden reasoning comes and goes, a reminder is left out. There only a fall of
    more than half is a finding: no band of a calibrated size is that wide. Once a session has a single cache figure,
    a step without one is simply unknown.
    """

    def __init__(self) -> None:
        """No step seen."""
        self._hidden: int | None = None
        self._reported: int | None = None
        self._model: str | None = None
        self._cache_known = False
        """Whether any step so far has a cache figure."""

    def compare(self, step: Step, report: Report, marked: bool) -> None:
        """Fill in `hidden_tokens` and `finding` of a step's report; `marked` if the log records a change before it."""
        reported = step.prompt_tokens
        self._cache_known |= step.cache_read is not None or step.cache_write is not None
        if reported is None or report.calibrated_tokens is None:
            return
        report.hidden_tokens = reported - report.calibrated_tokens
        same = not marked and step.model == self._model
        if same and self._fell(step, report.calibrated_tokens, reported):
            report.finding = CHANGED
        self._hidden, self._reported, self._model = report.hidden_tokens, reported, step.model

    def _fell(self, step: Step, visible: int, reported: int) -> bool:
        if self._hidden is None or self._reported is None:
            return False
        explained = visible + self._hidden
        fall = explained - reported
        if fall <= max(LEAST_FALL, FALL_SHARE * explained):
            return False
        if not self._cache_known:
            return fall > UNCACHED_FALL_SHARE * explained
        return step.cache_read is not None and step.cache_read < CACHED_SHARE * min(self._reported, reported)
