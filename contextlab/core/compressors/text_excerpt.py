"""The first characters of what was said: texts of user and assistant, one a line, as one user message.

No model is asked. An earlier excerpt among the items is continued, not quoted with its heading.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from contextlab.core.compaction import Deps
from contextlab.core.documents.options import Options
from contextlab.core.items import Injected, Item, Kind
from contextlab.core.summarising.compressing import EXCERPT_HEADING, PLACE, new_id
from contextlab.core.turns import has_text

_SAID = frozenset({Kind.USER, Kind.ASSISTANT, Kind.SUMMARY})


@dataclass(slots=True, frozen=True)
class TextExcerpt:
    """Cuts what was said to a number of characters (code points).

    Raises ValueError unless that is positive.
    """

    kind: ClassVar[str] = "text_excerpt"
    needs_model: ClassVar[bool] = False
    max_characters: int = 4_000

    def __post_init__(self) -> None:
        """Refuse a length of nothing."""
        if self.max_characters <= 0:
            raise ValueError(f"max_characters must be positive, not {self.max_characters}")

    @classmethod
    def from_options(cls, options: Mapping[str, object], mode: str) -> Self:  # noqa: ARG003 - the same in both
        """Read `max_characters`; raises PolicyError."""
        return cls(Options(options, ("max_characters",), PLACE).number("max_characters", 4_000, least=1))

    def compress(self, items: Sequence[Item], deps: Deps) -> list[Item]:
        """One user message; nothing for no items."""
        if not items:
            return []
        said = (item.text.removeprefix(EXCERPT_HEADING).rstrip("\n") for item in items if _speaks(item))
        excerpt = "".join(f"{text}\n" for text in said)[: self.max_characters]
        name = new_id(deps, "excerpt", items)
        return [Item(name, Kind.USER, EXCERPT_HEADING + excerpt, injected=Injected.SYNTHETIC)]


COMPRESSOR = TextExcerpt


def _speaks(item: Item) -> bool:
    return item.kind in _SAID and has_text(item)
