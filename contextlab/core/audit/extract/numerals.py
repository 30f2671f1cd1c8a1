"""Numbers in words: three tries, 三次. Whether a text may have any, its single words tell (lexicon.py)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from contextlab.core.audit.extract.lexicon import COUNTING, COUNTS, FOREIGN
from contextlab.core.audit.language.normalise import NUMBER_WORDS, UNITS, unit

Numeral = tuple[str, float, int, int]
"""Dimension, value, start and end."""
_COUNTED = re.compile(r" ([a-z]{3,12})\b")
_EASTERN = re.compile(r"([一二两三四五六七八九十])(次|回|个|個|天|日間|人|台|行|分钟|秒|小时|時間|つ)")


def numerals(text: str, hints: int) -> Iterator[Numeral]:
    """The numbers in words of a text that are more than one of something."""
    for start, end, told, counted in _latin(text) if hints & COUNTS else ():
        if (known := unit(counted)) is not None and known[0] not in ("size", "item", "line"):
            value = NUMBER_WORDS[told] * known[1]
            if value > 1:
                yield known[0], value, start, end
    for match in _EASTERN.finditer(text) if hints & FOREIGN else ():
        dimension, factor = UNITS[match.group(2)]
        value = NUMBER_WORDS[match.group(1)] * factor
        if value > 1:
            yield dimension, value, match.start(), match.end()


def _latin(text: str) -> Iterator[tuple[int, int, str, str]]:
    """The numbers in words with the word behind each: start and end of both, the two in lower case."""
    low = text.lower()
    low = low if len(low) == len(text) else text  # where a letter becomes two, places are others
    found: list[tuple[int, int, str, str]] = []
    for told in COUNTING:
        at = low.find(told)
        while at >= 0:
            end = at + len(told)
            if not _in_word(low[at - 1 : at]) and (behind := _COUNTED.match(low, end)) is not None:
                found.append((at, behind.end(), told, behind.group(1)))
            at = low.find(told, end)
    last = 0
    for one in sorted(found):
        if one[0] >= last:  # two of three tests: the three belongs to the two
            last = one[1]
            yield one


def _in_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"
