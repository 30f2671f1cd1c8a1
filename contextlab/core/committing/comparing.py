"""Two results of one memory, section by section: what both say, and what only one of them says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from contextlab.core.sections import HEADINGS

LISTS = (*HEADINGS, "read_files", "modified_files")


@dataclass(frozen=True, slots=True)
class Compared:
    """One section of both results; texts in the order in which each says them."""

    section: str
    both: tuple[str, ...]
    first: tuple[str, ...]
    """Only in the first."""
    second: tuple[str, ...]

    @property
    def same(self) -> bool:
        """Whether both say the same."""
        return not self.first and not self.second


def compare(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[Compared]:
    """All sections, goal first; results are given as the command line's contract names them."""
    return [_compared(name, first, second) for name in ("goal", *LISTS)]


def _compared(name: str, first: Mapping[str, Any], second: Mapping[str, Any]) -> Compared:
    one, other = _texts(first.get(name)), _texts(second.get(name))
    known, others = {_same(text) for text in one}, {_same(text) for text in other}
    return Compared(
        name,
        tuple(text for text in one if _same(text) in others),
        tuple(text for text in one if _same(text) not in others),
        tuple(text for text in other if _same(text) not in known),
    )


def _texts(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [] if value is None else [value]
    return [str(one.get("text", "")) if isinstance(one, Mapping) else str(one) for one in values]


def _same(text: str) -> str:
    return " ".join(text.split()).casefold()
