"""At least so many entries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from contextlab.core.compaction import Decision, Deps, Snapshot
from contextlab.core.documents.options import Options
from contextlab.core.measuring.figures import Figures
from contextlab.core.measuring.memory_size import count_entries


@dataclass(slots=True, frozen=True)
class MessagesTrigger:
    """At least so many entries."""

    kind: ClassVar[str] = "messages"
    min_messages: int = 0

    @classmethod
    def from_options(cls, options: Mapping[str, object], mode: str) -> Self:  # noqa: ARG003 - the same in both
        """Read `min_messages`; raises PolicyError."""
        return cls(Options(options, ("min_messages",), "trigger").required("min_messages", least=1))

    def decide(self, snapshot: Snapshot, deps: Deps) -> Decision:  # noqa: ARG002 - part of the protocol
        """Due or not, with the figures."""
        return self._judge(count_entries(snapshot.items))

    def judge(self, figures: Figures) -> Decision:
        """The same by figures alone."""
        return self._judge(figures.entries)

    def _judge(self, measured: int) -> Decision:
        rule = f"messages >= {self.min_messages:,}"
        return Decision(measured >= self.min_messages, rule, measured, self.min_messages)


TRIGGER = MessagesTrigger
