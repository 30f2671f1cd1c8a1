"""Several compressors, one after the other; each gets what the one before it left. None among them is skipped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from contextlab.core.compaction import Compressor, Deps
from contextlab.core.documents.options import Options
from contextlab.core.errors import PolicyError
from contextlab.core.items import Item
from contextlab.core.summarising.compressing import PLACE, copies, needs_model, read_compressor


@dataclass(slots=True, frozen=True)
class Chain:
    """Applies its members in order; without any it copies."""

    kind: ClassVar[str] = "chain"
    members: tuple[Compressor | None, ...] = ()

    @classmethod
    def from_options(cls, options: Mapping[str, object], mode: str) -> Self:
        """Read `members`, a list of objects with a kind each (or null); raises PolicyError."""
        given = Options(options, ("members",), PLACE)
        members, place = options.get("members", []), given.place("members")
        if not isinstance(members, list | tuple):
            raise PolicyError("must be a list of compressors", place)
        read = (
            None if one is None else read_compressor(one, mode, f"{place}[{n}]")
            for n, one in enumerate(members)
        )
        return cls(tuple(read))

    @property
    def needs_model(self) -> bool:
        """Whether one of its members asks a model."""
        return any(member is not None and needs_model(member) for member in self.members)

    def compress(self, items: Sequence[Item], deps: Deps) -> list[Item]:
        """What the last member left."""
        left = copies(items)
        for member in self.members:
            if member is not None:
                left = member.compress(left, deps)
        return left


COMPRESSOR = Chain
