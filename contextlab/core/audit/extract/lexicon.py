"""The words of a text, each distinct one looked at once; most say nothing and are known to, they cost next to nothing.

| looked at | known from then on as                                                             |
|-----------|-----------------------------------------------------------------------------------|
| facts     | what a word says (tokens.py)                                                      |
| hints     | a word without which a text holds no number in words, or decides nothing          |
| neither   | dull: dropped from all later texts in one pass                                    |
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import filterfalse

from contextlab.core.audit.extract.found import Found, moved
from contextlab.core.audit.extract.tokens import LONGEST, facts_of

COUNTS, DECIDES, FOREIGN, PORTS = 1, 2, 4, 8
"""Hints: a text holds no number in words without the first, no decision without the second or third, nothing but ASCII
and signs without the third; an output without the fourth does not speak of ports."""
COUNTING = frozenset(
    "two three four five six seven eight nine ten twelve fifteen twenty thirty fifty".split()
)
_DECIDING = re.compile(r"deci|entsch|beschlossen|(?:agreed|settled|opted|going|go|wir|we|we'll|let's)\Z")
"""A word like these stands in everything that decides (evidence/rules.py), its last letters before a blank."""
_RUNS = re.compile(r"[!-~]++")
_PORT = re.compile(r"[Pp]orts?\b|ポート|端口")
_FOREIGN = re.compile("[À-ɏ’\u3000-\u9fff\uac00-\ud7ff\uff00-\uffef]")
"""Letters of other alphabets, and the apostrophe that may stand in their words and in ours."""
_MOST = 65_536
"""Words that are remembered; then they are forgotten, all at once."""
_NOTHING: tuple[tuple[Found, ...], int] = ((), 0)
_TOO_LONG = -1


class Lexicon:
    """Words that were met, with what they say."""

    def __init__(self, spoken: bool) -> None:
        """`spoken`: the words of somebody who speaks: identifiers are facts, and there are hints."""
        self._spoken = spoken
        self._dull: set[str] = set()
        self._known: dict[str, tuple[tuple[Found, ...], int]] = {}

    def read(self, text: str, start: int = 0) -> tuple[list[Found], int, int]:
        """The facts of a text's words at the first place of each, how many words were too long, and the hints.

        Places count from `start`, where the text begins in its item.
        """
        found: list[Found] = []
        too_long, hints = 0, self._hints_of(text)
        known = self._known
        words = filterfalse(self._dull.__contains__, text.split())
        for word in dict.fromkeys(words if text.isascii() else _plain(words)):
            facts, hint = known.get(word) or self._look(word)
            if facts:
                at = start + text.find(word)
                found += [moved(one, at) for one in facts]
            if hint == _TOO_LONG:
                too_long += 1
            else:
                hints |= hint
        return found, too_long, hints

    def _hints_of(self, text: str) -> int:
        """What more than single words let expect."""
        if text.isascii():
            return 0
        if self._spoken:
            return FOREIGN if is_foreign(text) else 0
        return PORTS if _PORT.search(text) else 0

    def _look(self, word: str) -> tuple[tuple[Found, ...], int]:
        if len(word) > LONGEST:
            return (), _TOO_LONG
        said = facts_of(word, self._spoken), _hint(word) if self._spoken else _speaks_of_port(word)
        if not word.isprintable():
            return said  # in a text with other letters it is cut at its signs
        if len(self._dull) + len(self._known) >= _MOST:
            self._dull.clear()
            self._known.clear()
        if said == _NOTHING:
            self._dull.add(word)
        else:
            self._known[word] = said
        return said


def _plain(words: Iterable[str]) -> Iterator[str]:
    """The runs of visible ASCII in words."""
    for word in words:
        if word.isascii() and word.isprintable():
            yield word
        else:
            yield from _RUNS.findall(word)


def _hint(word: str) -> int:
    low = word.lower()
    return (COUNTS if low in COUNTING else 0) | (DECIDES if _DECIDING.search(low) else 0)


def _speaks_of_port(word: str) -> int:
    return PORTS if "ort" in word and _PORT.search(word) else 0


def is_foreign(text: str) -> bool:
    """Whether a text has letters of another alphabet; dashes, arrows and pictures are none."""
    return not text.isascii() and _FOREIGN.search(text) is not None


SPOKEN, SILENT = Lexicon(spoken=True), Lexicon(spoken=False)


def token_facts(text: str) -> list[Found]:
    """The facts of what somebody says in single words."""
    return SPOKEN.read(text)[0]
