"""Numbers of one dimension by the words around them: of which of them does a place speak that has such words, too?

A place of a summary is asked for by every fact of its dimension: the numbers that share its words are ranked once.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter

from contextlab.core.audit.extract.found import Found

_OF_A_WORD = 50
"""Numbers of one word that are looked at."""
_BITS = 1024
"""Words of a dimension that are bits, so that what is shared is counted without making sets."""


class Neighbours:
    """The numbers of a dimension."""

    def __init__(self, numbers: Iterable[Found]) -> None:
        """By each of their words, the first few."""
        self._with: dict[str, list[tuple[int, Found]]] = {}
        self._bits: dict[str, int] = {}
        self._ranked: dict[frozenset[str], list[tuple[int, Found]]] = {}
        for number in numbers:
            self._add(number)

    def _add(self, number: Found) -> None:
        entry: tuple[int, Found] | None = None
        for word in number.words:
            several = self._with.get(word)
            if several is None:
                several = self._with[word] = []
            elif len(several) >= _OF_A_WORD:
                continue
            entry = entry or (self._mask(number.words), number)
            several.append(entry)

    def _mask(self, words: frozenset[str]) -> int:
        """The bits of words; -1 where one has none."""
        bits, mask = self._bits, 0
        for word in words:
            bit = bits.get(word)
            if bit is None:
                if len(bits) == _BITS:
                    return -1
                bit = bits[word] = 1 << len(bits)
            mask |= bit
        return mask

    def has_another(self, value: str, words: frozenset[str], context: frozenset[str]) -> bool:
        """Whether a place with these words around it speaks of another number than this."""
        mine = len(words & context)
        for overlap, known in self._sharing(context):
            if overlap <= mine:
                return False
            shared = len(known.words & words)
            if shared == len(known.words):
                continue
            alike = known.value == value or 2 * shared >= min(len(known.words), len(words))
            if not (shared and alike):
                return True
        return False

    def _sharing(self, context: frozenset[str]) -> list[tuple[int, Found]]:
        """The numbers that share words with a place, with how many; those with most first."""
        ranked = self._ranked.get(context)
        if ranked is None:
            near = {
                id(number): (mask, number) for word in context for mask, number in self._with.get(word, ())
            }
            mine = sum([self._bits.get(word, 0) for word in context])
            ranked = [
                ((mask & mine).bit_count() if mask >= 0 else len(number.words & context), number)
                for mask, number in near.values()
            ]
            ranked.sort(key=itemgetter(0), reverse=True)
            self._ranked[context] = ranked
        return ranked
