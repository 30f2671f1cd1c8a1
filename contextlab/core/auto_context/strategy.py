"""What a strategy offers, and the order in which they are tried."""

from __future__ import annotations

from typing import ClassVar, Protocol

from contextlab.core.auto_context.work import Change, Work


class Strategy(Protocol):
    """One way to make a memory smaller."""

    change: ClassVar[Change]
    needs_model: ClassVar[bool]

    def fires(self, work: Work) -> bool:
        """Whether it finds something to work on; asks no model and changes nothing."""
        ...

    def run(self, work: Work) -> bool:
        """Whether it changed something; raises ModelError."""
        ...


def strategies() -> tuple[Strategy, ...]:
    """All six, in the order in which they are tried."""
    from contextlab.core.auto_context.current_large import CurrentLarge
    from contextlab.core.auto_context.current_round import CurrentRound
    from contextlab.core.auto_context.large import Large
    from contextlab.core.auto_context.previous_rounds import PreviousRounds
    from contextlab.core.auto_context.protected_large import ProtectedLarge
    from contextlab.core.auto_context.tool_runs import ToolRuns

    return (ToolRuns(), ProtectedLarge(), Large(), PreviousRounds(), CurrentLarge(), CurrentRound())


def run_first(work: Work) -> bool:
    """Let the first strategy that changes something do its work; False when none does."""
    for strategy in strategies():
        if strategy.run(work):
            work.strategies.append(strategy.change.strategy)
            return True
    return False
