"""Items and summary of at least so many tokens, counted or estimated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from contextlab.core.compaction import Decision, Deps, Snapshot
from contextlab.core.documents.options import Options
from contextlab.core.measuring.figures import Figures
from contextlab.core.measuring.memory_size import snapshot_tokens


@dataclass(slots=True, frozen=True)
class TokensTrigger:
    """Items and summary of at least so many tokens, counted or estimated."""

    kind: ClassVar[str] = "tokens"
    min_tokens: int = 0

    @classmethod
    def from_options(cls, options: Mapping[str, object], mode: str) -> Self:  # noqa: ARG003 - the same in both
        """Read `min_tokens`; raises PolicyError."""
        return cls(Options(options, ("min_tokens",), "trigger").required("min_tokens", least=1))

    def decide(self, snapshot: Snapshot, deps: Deps) -> Decision:
        """Due or not, with the figures."""
        return self._judge(snapshot_tokens(snapshot, deps.count))

    def judge(self, figures: Figures) -> Decision:
        """The same by figures alone."""
        return self._judge(figures.tokens)

    def _judge(self, measured: int) -> Decision:
        rule = f"tokens >= {self.min_tokens:,}"
        return Decision(measured >= self.min_tokens, rule, measured, self.min_tokens)


TRIGGER = TokensTrigger
