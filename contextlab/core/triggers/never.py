"""Never: memory is compacted by hand only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from contextlab.core.compaction import Decision, Deps, Snapshot
from contextlab.core.documents.options import refuse_unknown
from contextlab.core.measuring.figures import Figures


@dataclass(slots=True, frozen=True)
class NeverTrigger:
    """Never due."""

    kind: ClassVar[str] = "never"

    @classmethod
    def from_options(cls, options: Mapping[str, object], mode: str) -> Self:  # noqa: ARG003 - the same in both
        """There are no options; raises PolicyError at one."""
        refuse_unknown(options, (), "trigger")
        return cls()

    def decide(self, snapshot: Snapshot, deps: Deps) -> Decision:  # noqa: ARG002 - part of the protocol
        """Not due."""
        return Decision(False, "never")

    def judge(self, figures: Figures) -> Decision:  # noqa: ARG002 - whatever they are
        """Not due."""
        return Decision(False, "never")


TRIGGER = NeverTrigger
