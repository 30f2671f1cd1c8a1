"""Strategy 3: as strategy 2, but up to the last answer, whatever its age.

| what  | rule                                                                                                |
|-------|-----------------------------------------------------------------------------------------------------|
| gate  | at least last_keep messages; `gate_s3: false` takes the gate away                                   |
| where | before the last answer; without an answer nowhere                                                   |
| else  | as in protected_large.py                                                                            |
"""

from __future__ import annotations

from typing import ClassVar

from contextlab.core.auto_context.offloading import answered_end, any_large, offload_large
from contextlab.core.auto_context.work import Change, Work
from contextlab.core.items import Reason


class Large:
    """Large texts before the last answer."""

    change: ClassVar[Change] = Change("large", "LARGE_MESSAGE_OFFLOAD", Reason.STRATEGY_3)
    needs_model: ClassVar[bool] = False

    def fires(self, work: Work) -> bool:
        """Whether there is a large text."""
        return any_large(work, answered_end(work.view, work.options))

    def run(self, work: Work) -> bool:
        """Put large texts aside, the newest first."""
        return offload_large(work, answered_end(work.view, work.options), self.change)
