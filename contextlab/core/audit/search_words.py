"""Words of texts as an index keeps them, so that what the index does not find is not there.

| text | words |
|---|---|
| letters and digits, any alphabet with spaces | the whole run, case folded |
| Chinese, Japanese, Korean, Thai and their like | each two neighbours, and the last letter of the run by itself |
| a run longer than LONGEST | cut every LONGEST letters from its start |
| backslash escapes (`\\n` inside JSON) | the text a second time, with the escapes undone |

Words are written in ASCII letters and digits only (other letters as numbers, each in its place), so that every
database splits and compares them alike. A text is indexed in pieces of PIECE words that overlap by PHRASE - 1: each
run of up to PHRASE words stands in one piece as a whole. What the index finds is compared with the text itself
(`SearchQuery.find`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from unicodedata import normalize

LONGEST = 64
PIECE = 240
"""Words of one piece; PostgreSQL keeps 255 places of a word."""
PHRASE = 16
"""Words of a query that the index looks for in a row; what follows is compared with the text."""
QUERY_CHARS = 1000

_RUNS = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
"""Alphabets without spaces between words (and Korean, whose words grow endings)."""

_WORD = re.compile(rf"[{_RUNS}]+|[^\W_{_RUNS}]+")
_ASCII_WORD = re.compile(r"[a-z0-9]+")
_IN_RUN = re.compile(rf"[{_RUNS}]")
_LETTER = re.compile(rf"[^\W_{_RUNS}]")
"""A letter or digit of a word. The class is large: compiled once, not into the pattern of each query."""
_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|([nrtbf"/\\]))')
_PLAIN = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", '"': '"', "/": "/", "\\": "\\"}


class NoWordsError(ValueError):
    """A query without a letter or digit: nothing that an index could look for."""


def variants(text: str) -> list[str]:
    """The readings of a text that are indexed: itself, and with its backslash escapes undone where it has any."""
    if "\\" not in text:
        return [text]
    undone = _ESCAPE.sub(_undone, text)
    return [text] if undone == text else [text, undone]


def words(text: str) -> list[str]:
    """All words of a text in their order, as the index writes them."""
    if text.isascii():
        found = _ASCII_WORD.findall(text.lower())
        return (
            found
            if all(len(word) <= LONGEST for word in found)
            else [part for word in found for part in _cut(word)]
        )
    return [part for word in _WORD.findall(_folded(text)) for part in _parts(word, whole=True)]


def pieces(found: list[str]) -> Iterator[list[str]]:
    """The words of a text in pieces that overlap; none of a text without words."""
    start = 0
    while start < len(found):
        yield found[start : start + PIECE]
        if start + PIECE >= len(found):
            return
        start += PIECE - (PHRASE - 1)


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A text that is looked for: as whole words, whatever the case; a `*` at its end lets the last word go on."""

    text: str
    phrase: tuple[str, ...]
    """Words to be found in a row."""
    open_end: bool
    """Whether the last word of the phrase may be the beginning of a longer one."""
    pattern: re.Pattern[str]
    """The text itself; whether a word goes on before or behind a find is looked at apart (`begins`, `ends`)."""
    begins: bool
    """Whether a word begins with it: no letter or digit stands before it."""
    ends: bool

    def find(self, text: str, most: int = 1) -> list[tuple[int, int]]:
        """Where it stands in a text: (start, end) of the first `most` places."""
        text = text if text.isascii() else normalize("NFC", text)
        found: list[tuple[int, int]] = []
        at = 0
        while len(found) < most and (match := self.pattern.search(text, at)) is not None:
            start, end = match.span()
            if (self.begins and _LETTER.match(text[start - 1 : start])) or (
                self.ends and _LETTER.match(text[end : end + 1])
            ):
                at = start + 1
                continue
            found.append((start, end))
            at = end
        return found


def query(text: str) -> SearchQuery:
    """What to look for; raises NoWordsError, and ValueError for a text that is too long."""
    asked = normalize("NFC", " ".join(text.split()))
    if len(asked) > QUERY_CHARS:
        raise ValueError(f"a text of more than {QUERY_CHARS} characters")
    goes_on = asked.endswith("*") and len(asked) > 1
    asked = asked.removesuffix("*") if goes_on else asked
    runs = _WORD.findall(_folded(asked))
    if not runs:
        raise NoWordsError("a search needs a letter or a digit")
    # Behind the last letter of a run at the very end the text may go on with another.
    ends_in_run = bool(_IN_RUN.match(_folded(asked)[-1:])) or (goes_on and bool(_IN_RUN.match(runs[-1])))
    found = [part for run in runs[:-1] for part in _parts(run, whole=True)]
    found += _parts(runs[-1], whole=not ends_in_run)
    one_letter = ends_in_run and len(runs[-1]) == 1
    cut = len(found) > PHRASE
    open_end = ((goes_on and not ends_in_run) or one_letter) and not cut
    begins, ends = _is_letter(asked[0]), not goes_on and _is_letter(asked[-1])
    return SearchQuery(asked, tuple(found[:PHRASE]), open_end, _pattern(asked), begins, ends)


def may_change(asked: SearchQuery) -> bool:
    """Whether `near` could find anything for it in any text."""
    return bool(_changes(asked.text)[1])


def near(text: str, asked: SearchQuery) -> str | None:
    """The place in a text that says the same with one word changed: `port 8433` for `port 8443`; None without one.

    Only for two words or more, one of them with a digit: there another value is a change, elsewhere another subject.
    """
    runs, patterns = _changes(asked.text)
    for pattern in patterns:
        for found in pattern.finditer(text):
            if _WORD.findall(_folded(found.group())) != runs:
                return found.group()
    return None


@lru_cache(maxsize=64)
def _changes(asked: str) -> tuple[list[str], list[re.Pattern[str]]]:
    """The words of a text, and what to look for: one pattern for each word with a digit, in which that one differs."""
    runs = _WORD.findall(_folded(asked))
    if not 2 <= len(runs) <= PHRASE:
        return runs, []
    patterns = []
    for at, run in enumerate(runs):
        if any(letter.isdigit() for letter in run):
            parts = [
                r"[^\W_]*\d[^\W_]*" if number == at else re.escape(one) for number, one in enumerate(runs)
            ]
            pattern = r"(?<![^\W_])" + r"[\W_]{1,3}".join(parts) + r"(?![^\W_])"
            patterns.append(re.compile(pattern, re.IGNORECASE))
    return runs, patterns


def _pattern(asked: str) -> re.Pattern[str]:
    return re.compile(r"\s+".join(re.escape(part) for part in asked.split(" ")), re.IGNORECASE)


def _is_letter(letter: str) -> bool:
    return letter.isalnum() and not _IN_RUN.match(letter)


def _folded(text: str) -> str:
    return normalize("NFC", text).casefold()


def _parts(word: str, whole: bool) -> list[str]:
    """A run as words of the index; unless `whole`, it may go on in the text behind its last letter."""
    if not _IN_RUN.match(word):
        return [_written(part) for part in _cut(word)]
    pairs = [_written(word[at : at + 2]) for at in range(len(word) - 1)]
    return [*pairs, _written(word[-1])] if whole or not pairs else pairs


def _cut(word: str) -> list[str]:
    return [word[at : at + LONGEST] for at in range(0, len(word), LONGEST)]


def _written(word: str) -> str:
    if word.isascii():
        return word
    return "".join(letter if letter.isascii() else f"u{ord(letter):05x}" for letter in word)


def _undone(found: re.Match[str]) -> str:
    code = found.group(1)
    if code is None:
        return _PLAIN[found.group(2)]
    letter = chr(int(code, 16))
    return letter if letter == "\x00" or not "\ud800" <= letter <= "\udfff" else "\ufffd"
