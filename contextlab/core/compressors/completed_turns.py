"""Each completed turn becomes its question and its answer.

What stands before the first turn, and turns without an answer, are kept whole (the rules stand in core/turns.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from contextlab.core.budget import Mode
from contextlab.core.compaction import Deps
from contextlab.core.documents.options import read_mode, refuse_unknown
from contextlab.core.items import Item
from contextlab.core.summarising.compressing import PLACE, copies
from contextlab.core.turns import split_turns


@dataclass(slots=True, frozen=True)
class CompletedTurns:
    """Folds every completed turn."""

    kind: ClassVar[str] = "completed_turns"
    needs_model: ClassVar[bool] = False
    mode: Mode = "safe"

    @classmethod
    def from_options(cls, options: Mapping[str, object], mode: str) -> Self:
        """There are no options; raises PolicyError at one."""
        refuse_unknown(options, (), PLACE)
        return cls(read_mode(mode))

    def compress(self, items: Sequence[Item], deps: Deps) -> list[Item]:  # noqa: ARG002 - part of the protocol
        """The items without what lies between a question and its answer."""
        safe = self.mode == "safe"
        gone: set[int] = set()
        for turn in split_turns(items)[1]:
            gone |= set(turn.indices()) - set(turn.folded(safe))
        return copies(item for index, item in enumerate(items) if index not in gone)


COMPRESSOR = CompletedTurns
