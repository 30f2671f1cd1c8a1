"""Everything stays: for tests, and as the last member of a chain that may be empty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from contextlab.core.compaction import Deps
from contextlab.core.documents.options import refuse_unknown
from contextlab.core.items import Item
from contextlab.core.summarising.compressing import PLACE, copies


@dataclass(slots=True, frozen=True)
class Identity:
    """Copies its input."""

    kind: ClassVar[str] = "identity"
    needs_model: ClassVar[bool] = False

    @classmethod
    def from_options(cls, options: Mapping[str, object], mode: str) -> Self:  # noqa: ARG003 - the same in both
        """There are no options; raises PolicyError at one."""
        refuse_unknown(options, (), PLACE)
        return cls()

    def compress(self, items: Sequence[Item], deps: Deps) -> list[Item]:  # noqa: ARG002 - part of the protocol
        """Copies of the items."""
        return copies(items)


COMPRESSOR = Identity
