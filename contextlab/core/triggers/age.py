"""Time: the last compaction is at least so many seconds ago. Whoever asks brings the clock (`Deps.age`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from contextlab.core.compaction import Decision, Deps, Snapshot
from contextlab.core.documents.options import Options


@dataclass(slots=True, frozen=True)
class AgeTrigger:
    """Due when memory has waited long enough and there is something in it; never due when nobody tells the time."""

    kind: ClassVar[str] = "age"
    min_seconds: int = 1

    @classmethod
    def from_options(cls, options: Mapping[str, object], mode: str) -> Self:  # noqa: ARG003 - the same in both
        """Read `min_seconds`; raises PolicyError."""
        return cls(Options(options, ("min_seconds",), "trigger").required("min_seconds", least=1))

    def decide(self, snapshot: Snapshot, deps: Deps) -> Decision:
        """Due or not, with the figures."""
        rule = f"age >= {self.min_seconds:,} s"
        if deps.age is None or not snapshot.items:
            return Decision(False, rule, None, self.min_seconds)
        return Decision(deps.age >= self.min_seconds, rule, int(deps.age), self.min_seconds)


TRIGGER = AgeTrigger
