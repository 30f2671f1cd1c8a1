"""Tool results of at least so many characters: all that stand in memory together, or a single one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from contextlab.core.compaction import Decision, Deps, Snapshot
from contextlab.core.documents.options import Options
from contextlab.core.measuring.figures import Figures
from contextlab.core.measuring.memory_size import result_sizes


@dataclass(slots=True, frozen=True)
class ToolResultSizeTrigger:
    """Due when all results together have grown large, or one of them has."""

    kind: ClassVar[str] = "tool_result_size"
    min_chars: int = 1
    each: bool = False

    @classmethod
    def from_options(cls, options: Mapping[str, object], mode: str) -> Self:  # noqa: ARG003 - the same in both
        """Read `min_chars` and `each`; raises PolicyError."""
        given = Options(options, ("min_chars", "each"), "trigger")
        return cls(given.required("min_chars", least=1), given.switch("each", False))

    def decide(self, snapshot: Snapshot, deps: Deps) -> Decision:  # noqa: ARG002 - part of the protocol
        """Due or not, with the figures."""
        sizes = result_sizes(snapshot.items)
        return self._judge(max(sizes, default=0) if self.each else sum(sizes))

    def judge(self, figures: Figures) -> Decision:
        """The same by figures alone."""
        return self._judge(figures.largest_result if self.each else figures.result_chars)

    def _judge(self, measured: int) -> Decision:
        rule = f"{'largest tool result' if self.each else 'tool results'} >= {self.min_chars:,} chars"
        return Decision(measured >= self.min_chars, rule, measured, self.min_chars)


TRIGGER = ToolResultSizeTrigger
