"""At least so many turns that no summary stands for yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from contextlab.core.compaction import Decision, Deps, Snapshot
from contextlab.core.documents.options import Options
from contextlab.core.measuring.figures import Figures
from contextlab.core.measuring.memory_size import count_turns


@dataclass(slots=True, frozen=True)
class PendingTurnsTrigger:
    """At least so many turns that no summary stands for yet."""

    kind: ClassVar[str] = "pending_turns"
    min_turns: int = 0

    @classmethod
    def from_options(cls, options: Mapping[str, object], mode: str) -> Self:  # noqa: ARG003 - the same in both
        """Read `min_turns`; raises PolicyError."""
        return cls(Options(options, ("min_turns",), "trigger").required("min_turns", least=1))

    def decide(self, snapshot: Snapshot, deps: Deps) -> Decision:  # noqa: ARG002 - part of the protocol
        """Due or not, with the figures."""
        return self._judge(count_turns(snapshot.items))

    def judge(self, figures: Figures) -> Decision:
        """The same by figures alone."""
        return self._judge(figures.turns)

    def _judge(self, measured: int) -> Decision:
        rule = f"pending turns >= {self.min_turns:,}"
        return Decision(measured >= self.min_turns, rule, measured, self.min_turns)


TRIGGER = PendingTurnsTrigger
