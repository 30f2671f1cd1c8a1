"""A summary (or the items that stayed) as facts are looked up in it: read once, in the ways that kinds need."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

from contextlab.core.audit.extract.dimensions import dimensions
from contextlab.core.audit.extract.found import Found
from contextlab.core.audit.extract.lexicon import SPOKEN
from contextlab.core.audit.extract.numbers import number_facts
from contextlab.core.audit.extract.outcomes import FAILS, FAILURES
from contextlab.core.audit.kinds import ANY_PATH, PATH, TICKET
from contextlab.core.audit.language.normalise import canonical, narrow, path_parts
from contextlab.core.audit.language.orders import gives_order
from contextlab.core.audit.language.pieces import marked
from contextlab.core.audit.language.subjects import around
from contextlab.core.audit.language.words import content
from contextlab.core.audit.matching.corpus import find_word
from contextlab.core.audit.results import Fact, FactKind, Place

LONGEST = 400_000
"""Characters of a text that are taken apart; behind them words are only searched for."""
_PLACES = 20
"""Places of the same figures that are looked at."""
_ENDS = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])|\n+")
_PLAIN_ENDS = re.compile(r"[.!?\n](?:(?<=\n)\n*|\s+)")
"""The same for ASCII, where an end begins with a sign that can be looked for; the sign belongs to the sentence."""
_LINE_END = re.compile(r"\n")
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_HEADING = re.compile(r"\s{0,12}(?:#{1,6} |\*\*|\d{1,2}[.)] |[-*] \*\*)|.{1,80}[:：]\**\s*\Z")
_RULES_HEADING = re.compile(
    r"constraint|rule|requirement|preference|guideline|restriction|do not|don't|must|never|convention|"
    r"instruction|boundar|"
    r"regel|vorgabe|约束|约定|规则|要求|限制|偏好|禁止|ルール|制約|規則|約束|注意|指示|方針",
    re.IGNORECASE,
)


class Sentence:
    """A sentence, looked at closer when it is asked."""

    __slots__ = ("_orders", "_text", "_under", "_words", "end", "start")

    def __init__(self, text: str, start: int, end: int, under: bool) -> None:
        """A piece of a text; `under`: it stands under a heading of rules."""
        self.start, self.end, self._text, self._under = start, end, text, under
        self._words: frozenset[str] | None = None
        self._orders: bool | None = None

    @property
    def words(self) -> frozenset[str]:
        """Its content words."""
        if self._words is None:
            self._words = content(self._text[self.start : min(self.end, self.start + 2_000)])
        return self._words

    @property
    def orders(self) -> bool:
        """Whether it says what must, may or must not be; also where it stands under a heading that does."""
        if self._orders is None:
            self._orders = self._under or gives_order(
                self._text[self.start : min(self.end, self.start + 2_000)]
            )
        return self._orders


class Index:
    """One text, taken apart when it is first asked."""

    def __init__(self, text: str) -> None:
        """The text as it is."""
        self.text = narrow(text)
        self.close = self.text[:LONGEST]
        self._spots: dict[str, list[int]] = {}
        self._figures: dict[str, list[tuple[int, frozenset[str]]]] = {}

    @cached_property
    def folded(self) -> str:
        """The text in one case."""
        return self.text.lower()

    @cached_property
    def between_slashes(self) -> frozenset[str]:
        """What stands between slashes in it, in one case: the middle of a path is among them."""
        return frozenset(self.folded.split("/"))

    @cached_property
    def found(self) -> list[Found]:
        """Its facts of words and figures."""
        found, _, hints = SPOKEN.read(self.close)
        return found + number_facts(self.close, hints)

    @cached_property
    def by_key(self) -> dict[tuple[str, str, str], Found]:
        """Its facts by kind, subject and value."""
        return {one.key: one for one in reversed(self.found)}

    @cached_property
    def amounts(self) -> dict[str, list[Found]]:
        """Its numbers by dimension."""
        made: dict[str, list[Found]] = defaultdict(list)
        for one in self.found:
            if one.amount is not None:
                for dimension in dimensions(one):
                    made[dimension].append(one)
        return made

    @cached_property
    def of_kind(self) -> dict[FactKind, list[Found]]:
        """Its facts by kind."""
        made: dict[FactKind, list[Found]] = defaultdict(list)
        for one in self.found:
            made[one.kind].append(one)
        return made

    @cached_property
    def names(self) -> dict[str, str]:
        """Its names, without case and joints, as they stand there."""
        made: dict[str, str] = {}
        for name in dict.fromkeys(_NAME.findall(self.close)):
            if len(name) > 2:
                made.setdefault(canonical(name), name)
        return made

    def find_name(self, name: str) -> int:
        """Where a name stands, in any case and with any joints; -1 for nowhere."""
        written = self.names.get(canonical(name))
        return -1 if written is None else self.text.find(written)

    @cached_property
    def failing(self) -> list[Sentence]:
        """Its sentences that tell of a failure."""
        sentences = self.sentences
        if len(self.folded) == len(self.text):  # else a letter became two: places are others
            sentences = [sentences[at] for at in marked(self.folded, FAILURES, self._sentence_starts)]
        return [one for one in sentences if FAILS.search(self.text, one.start, min(one.end, one.start + 600))]

    @cached_property
    def paths(self) -> dict[str, list[tuple[tuple[str, ...], Found]]]:
        """Its paths by their last part."""
        made: dict[str, list[tuple[tuple[str, ...], Found]]] = defaultdict(list)
        for kind in ANY_PATH:
            for one in self.of_kind.get(kind, ()):
                parts = path_parts(one.subject)
                if parts:
                    made[parts[-1]].append((parts, one))
        return made

    @cached_property
    def sentences(self) -> list[Sentence]:
        """Its sentences."""
        made: list[Sentence] = []
        at, under, text = 0, False, self.close
        for stop, following in _ends(text):
            head = text[at : min(stop, at + 120)]
            if head and not head.isspace():
                if _may_head(head) and _HEADING.match(head):
                    under = _RULES_HEADING.search(head) is not None
                made.append(Sentence(text, at, stop, under))
            at = following
        return made

    def spots(self, word: str) -> list[int]:
        """The numbers of the first sentences that have a word."""
        found = self._spots.get(word)
        if found is None:
            found = self._spots[word] = []
            at = self.folded.find(word)
            while at >= 0 and len(found) < 12:
                number = bisect_right(self._sentence_starts, at) - 1
                if number >= 0 and (not found or found[-1] != number):
                    found.append(number)
                at = self.folded.find(word, at + len(word))
        return found

    @cached_property
    def _sentence_starts(self) -> list[int]:
        return [one.start for one in self.sentences]

    def sentence_at(self, offset: int) -> Sentence | None:
        """The sentence that a place stands in."""
        at = bisect_right(self._sentence_starts, offset) - 1
        return self.sentences[at] if at >= 0 else None

    def place(self, start: int, end: int) -> Place:
        """A place with its line."""
        return Place(start, end, bisect_left(self._line_ends, start) + 1)

    @cached_property
    def _line_ends(self) -> list[int]:
        return [match.start() for match in _LINE_END.finditer(self.text)]

    def figures(self, form: str) -> list[tuple[int, frozenset[str]]]:
        """The first places of figures, with the content words around each."""
        found = self._figures.get(form)
        if found is None:
            found, at = [], find_word(self.text, form)
            while at >= 0 and len(found) < _PLACES:
                found.append((at, around(self.text, at, at + len(form))))
                at = find_word(self.text, form, at + 1)
            self._figures[form] = found
        return found

    def context(self, one: Found) -> frozenset[str]:
        """The content words around one of its facts."""
        return one.words or around(self.text, one.start, one.end)


def _ends(text: str) -> Iterator[tuple[int, int]]:
    """Where each sentence ends, and where the next begins."""
    if text.isascii():
        for match in _PLAIN_ENDS.finditer(text):
            start, end = match.span()
            yield start if text[start] == "\n" else start + 1, end
    else:
        for match in _ENDS.finditer(text):
            yield match.span()
    yield len(text), len(text)


def _may_head(head: str) -> bool:
    """Whether a sentence begins or ends like a heading: most do neither."""
    first, last = head.lstrip()[0], head.rstrip().rstrip("*")[-1:]
    return first in "#*-" or first.isdigit() or last in (":", "：")


def folded_word(one: Found | Fact) -> str:
    """The word of a fact in one case: of a path its last part, of a ticket as it is written."""
    if one.kind == PATH:
        return one.subject.replace("\\", "/").rstrip("/").rpartition("/")[2].lower()
    if one.kind == TICKET:
        return (one.shown if isinstance(one, Found) else one.text).lower()
    return (one.value or one.subject).lower()
