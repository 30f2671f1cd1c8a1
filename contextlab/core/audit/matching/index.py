"""A summary (or the items that stayed) as facts are looked up in it: read once, in the ways that kinds need."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from functools import cached_property

from contextlab.core.audit.extract.dimensions import dimensions
from contextlab.core.audit.extract.found import Found
from contextlab.core.audit.extract.numbers import number_facts
from contextlab.core.audit.extract.outcomes import FAILS
from contextlab.core.audit.extract.tokens import token_facts
from contextlab.core.audit.language.normalise import canonical, narrow, path_parts
from contextlab.core.audit.language.orders import gives_order
from contextlab.core.audit.language.subjects import around
from contextlab.core.audit.language.words import content
from contextlab.core.audit.results import Fact, FactKind, Place

LONGEST = 400_000
"""Characters of a text that are taken apart; behind them words are only searched for."""
_ENDS = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])|\n+")
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
        return token_facts(self.close)[0] + number_facts(self.close, spoken=True)

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
                made.setdefault(name if name.isalnum() and name.islower() else canonical(name), name)
        return made

    def find_name(self, name: str) -> int:
        """Where a name stands, in any case and with any joints; -1 for nowhere."""
        written = self.names.get(canonical(name))
        return -1 if written is None else self.text.find(written)

    @cached_property
    def failing(self) -> list[Sentence]:
        """Its sentences that tell of a failure."""
        return [
            one for one in self.sentences if FAILS.search(self.text, one.start, min(one.end, one.start + 600))
        ]

    @cached_property
    def paths(self) -> dict[str, list[tuple[tuple[str, ...], Found]]]:
        """Its paths by their last part."""
        made: dict[str, list[tuple[tuple[str, ...], Found]]] = defaultdict(list)
        for kind in (FactKind.PATH, FactKind.PATH_LINE):
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
        for match in [*_ENDS.finditer(text), None]:
            stop = match.start() if match else len(text)
            head = text[at : min(stop, at + 120)]
            if head and not head.isspace():
                if _HEADING.match(head):
                    under = _RULES_HEADING.search(head) is not None
                made.append(Sentence(text, at, stop, under))
            at = match.end() if match else stop
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
        return Place(start, end, self.text.count("\n", 0, start) + 1)

    def context(self, one: Found) -> frozenset[str]:
        """The content words around one of its facts."""
        return one.words or around(self.text, one.start, one.end)


def folded_word(one: Found | Fact) -> str:
    """The word of a fact in one case: of a path its last part, of a ticket as it is written."""
    if one.kind == FactKind.PATH:
        return one.subject.replace("\\", "/").rstrip("/").rpartition("/")[2].lower()
    if one.kind == FactKind.TICKET:
        return (one.shown if isinstance(one, Found) else one.text).lower()
    return (one.value or one.subject).lower()
