"""Strategy 2: large old texts become previews; the newest last_keep messages are protected.

| what    | rule                                                                                                    |
|---------|---------------------------------------------------------------------------------------------------------|
| gate    | at least last_keep messages                                                                             |
| where   | before the newest last_keep messages, and before the last answer if there is one                        |
| large   | a text of more than large_payload_threshold characters, strictly                                        |
| result  | only its text is replaced: id, tool and call stay; other results of the message are not touched         |
| call    | never: a message that calls keeps everything, else the results would answer nothing                     |
| stays   | what is fixed, reasoning, the question of the current round, what was compressed before, protected tools |
| becomes | the first offload_single_preview characters, `...`, and the tag                                         |

No model is asked. In reference mode a message of several results keeps only the first, as the original has it.
"""

from __future__ import annotations

from typing import ClassVar

from contextlab.core.auto_context.offloading import any_large, offload_large, protected_end
from contextlab.core.auto_context.work import Change, Work
from contextlab.core.items import Reason


class ProtectedLarge:
    """Large texts outside the protected tail."""

    change: ClassVar[Change] = Change(
        "protected_large", "LARGE_MESSAGE_OFFLOAD_WITH_PROTECTION", Reason.STRATEGY_2
    )
    needs_model: ClassVar[bool] = False

    def fires(self, work: Work) -> bool:
        """Whether there is a large text."""
        return any_large(work, protected_end(work.view, work.options))

    def run(self, work: Work) -> bool:
        """Put large texts aside, the newest first."""
        return offload_large(work, protected_end(work.view, work.options), self.change)
