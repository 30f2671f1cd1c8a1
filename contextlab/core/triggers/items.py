"""More entries than a number (the summary is not one of them)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from contextlab.core.compaction import Decision, Deps, Snapshot
from contextlab.core.documents.options import Options
from contextlab.core.measuring.figures import Figures
from contextlab.core.measuring.memory_size import count_entries


@dataclass(slots=True, frozen=True)
class ItemsTrigger:
    """More entries than a number (the summary is not one of them)."""

    kind: ClassVar[str] = "items"
    max_items: int = 0

    @classmethod
    def from_options(cls, options: Mapping[str, object], mode: str) -> Self:  # noqa: ARG003 - the same in both
        """Read `max_items`; raises PolicyError."""
        return cls(Options(options, ("max_items",), "trigger").required("max_items"))

    def decide(self, snapshot: Snapshot, deps: Deps) -> Decision:  # noqa: ARG002 - part of the protocol
        """Due or not, with the figures."""
        return self._judge(count_entries(snapshot.items))

    def judge(self, figures: Figures) -> Decision:
        """The same by figures alone."""
        return self._judge(figures.entries)

    def _judge(self, measured: int) -> Decision:
        rule = f"items > {self.max_items:,}"
        return Decision(measured > self.max_items, rule, measured, self.max_items)


TRIGGER = ItemsTrigger
