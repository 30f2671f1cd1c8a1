"""Many texts as one, to look words up in; a hit stands on its own, not inside of another word or number."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator

from contextlab.core.audit.source import SourceItem

_DIGITS = frozenset("0123456789")
_HITS = 300
"""Places that are looked at before a word counts as not found on its own."""


class Corpus:
    """Texts of items in order."""

    def __init__(self, items: Iterable[SourceItem]) -> None:
        """Joined by line ends."""
        self.positions: list[int] = []
        self._starts: list[int] = []
        parts: list[str] = []
        at = 0
        for item in items:
            self.positions.append(item.position)
            self._starts.append(at)
            parts.append(item.text)
            at += len(item.text) + 1
        self.text = "\n".join(parts)

    def find(self, word: str, behind: int = -1) -> tuple[int, int] | None:
        """Position of the first item behind a position that has the word, and the offset in it."""
        start = 0
        if behind >= 0:
            at = bisect_right(self.positions, behind)
            if at >= len(self._starts):
                return None
            start = self._starts[at]
        found = find_word(self.text, word, start)
        if found < 0:
            return None
        at = bisect_right(self._starts, found) - 1
        return self.positions[at], found - self._starts[at]

    def has(self, word: str) -> bool:
        """Whether any item has the word."""
        return find_word(self.text, word) >= 0

    def item_at(self, offset: int) -> tuple[int, int]:
        """Position of the item at an offset of the joined text, and the offset in it."""
        at = max(0, bisect_right(self._starts, offset) - 1)
        return self.positions[at], offset - self._starts[at]

    def start_of(self, position: int) -> int:
        """Where the first item at or behind a position begins."""
        at = bisect_left(self.positions, position)
        return self._starts[at] if at < len(self._starts) else len(self.text)


def places_of(text: str, figures: str, thorough: bool = True) -> Iterator[int]:
    """Where figures stand on their own: not inside of another number.

    Unless `thorough`, a long row of places inside of other numbers ends the search.
    """
    if thorough and figures[:1] in _DIGITS and figures[-1:] in _DIGITS and text.count(figures) > _HITS:
        told = re.escape(figures)
        pattern = rf"{told}(?<![0-9]{told})(?<!\d[.,]{told})(?![0-9])(?![.,]\d)"
        yield from (match.start() for match in re.finditer(pattern, text))
        return
    at = find_word(text, figures)
    while at >= 0:
        yield at
        at = find_word(text, figures, at + 1)


def find_word(text: str, word: str, start: int = 0) -> int:
    """Where a word stands on its own, -1 where it does not."""
    at = text.find(word, start) if word else -1
    if at < 0:
        return -1
    size, first, last = len(word), word[0].isalnum(), word[-1].isalnum()
    figures_first, figures_last = word[0].isdigit(), word[-1].isdigit()
    for _ in range(_HITS):
        before, behind = text[at - 1 : at] if at else "", text[at + size : at + size + 2]
        joined = (
            first
            and before.isalnum()
            and before.isascii()
            and (figures_first == before.isdigit() or not figures_first)
        )
        if figures_first and (before in (".", ",") and text[at - 2 : at - 1].isdigit()):
            joined = True
        runs_on = (
            last
            and behind[:1].isalnum()
            and behind[:1].isascii()
            and (figures_last == behind[:1].isdigit() or not figures_last)
        )
        if figures_last and behind[:1] in (".", ",") and behind[1:].isdigit():
            runs_on = True
        if not joined and not runs_on:
            return at
        at = text.find(word, at + 1)
        if at < 0:
            return -1
    return -1
