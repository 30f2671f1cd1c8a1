"""The facts of several items put together and weighed.

| rule      |                                                                                                    |
|-----------|----------------------------------------------------------------------------------------------------|
| one fact  | same kind, subject and value; a file by any of its paths; a number only where words around it meet |
| overtaken | a setting or version that later has another value; a quantity that a later sentence changes; a     |
|           | rule that the person takes back: counted, no facts                                                 |
| weight    | by kind, times who says it, plus how often                                                         |
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from contextlab.core.audit.extract.dimensions import dimensions, dimensions_of
from contextlab.core.audit.extract.found import Found
from contextlab.core.audit.extract.items import Read
from contextlab.core.audit.extract.outcomes import is_editing
from contextlab.core.audit.extract.sentences import questions, withdrawals
from contextlab.core.audit.kinds import (
    ANY_PATH,
    COMMAND,
    COMMIT,
    DECISION,
    ERROR,
    IDENTIFIER,
    OPEN_QUESTION,
    PATH,
    PATH_LINE,
    PORT,
    QUANTITY,
    RULE,
    SETTING,
    TICKET,
    URL,
    USER_CORRECTION,
    VERSION,
)
from contextlab.core.audit.language.paths import PathGroups
from contextlab.core.audit.language.subjects import around
from contextlab.core.audit.neighbours import Neighbours
from contextlab.core.audit.results import Fact, FactKind, Limits
from contextlab.core.audit.source import ASSISTANT, CALL, RESULT, USER, SourceItem

BASE: dict[FactKind, float] = {
    RULE: 90, USER_CORRECTION: 80, DECISION: 56, PORT: 60, SETTING: 50,
    ERROR: 46, OPEN_QUESTION: 44, TICKET: 46, COMMIT: 40, URL: 42,
    VERSION: 38, PATH_LINE: 30, QUANTITY: 30, PATH: 26, COMMAND: 20,
    IDENTIFIER: 14,
}  # fmt: skip
VOICE = {USER: 1.3, ASSISTANT: 1.0, CALL: 0.9, RESULT: 0.5}
_LIGHT = {
    "date": 0.3, "line": 0.5, "exit": 0.6, "item": 0.6, "amount": 0.5, "character": 0.6, "test": 0.6,
    "file": 0.6, "error": 0.6, "row": 0.6, "step": 0.6, "message": 0.6, "token": 0.6, "status": 0.7, "request": 0.6,
    "job": 0.6, "session": 0.6, "user": 0.6, "page": 0.6, "column": 0.6, "pixel": 0.6,
}  # fmt: skip
"""Quantities that go up and down while people work weigh less."""
_UPDATES = re.compile(
    r"\b(?:now|raise|raised|lower|lowered|increase|increased|decrease|decreased|reduce|reduced|change|changed|"
    r"bump|bumped|"
    r"update|updated|switch|switched|set|make it|instead|moved?|jetzt|erhöht?|geändert)\b|改|变|増|減|上げ|"
    r"下げ|今は|现在|现为",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Facts:
    """The facts of several items, the heaviest first, with all values that were ever given."""

    facts: list[Fact]
    amounts: dict[str, list[Found]]
    """Every number with a dimension, overtaken ones too."""
    said: dict[tuple[FactKind, str], set[str]]
    """Values by kind and subject, of the kinds that are asked for them."""
    superseded: int
    limits: Limits
    groups: PathGroups
    _neighbours: dict[str, Neighbours] = field(default_factory=dict)
    _by_amount: dict[str, dict[float, list[Found]]] = field(default_factory=dict)

    def files_named(self, last: str) -> Sequence[tuple[str, ...]]:
        """The files whose path ends with this part."""
        return self.groups.by_last.get(last, ())

    def is_anothers(self, fact: Fact, context: frozenset[str]) -> bool:
        """Whether a place with these words around it speaks of another fact of the same dimension."""
        for dimension in dimensions_of(fact.kind, fact.subject, fact.text):
            near = self._neighbours.get(dimension)
            if near is None:
                near = self._neighbours[dimension] = Neighbours(self.amounts.get(dimension, ()))
            if near.has_another(fact.value, fact.words, context):
                return True
        return False

    def amounts_of(self, dimension: str) -> dict[float, list[Found]]:
        """The numbers of a dimension by their value in base units."""
        made = self._by_amount.get(dimension)
        if made is None:
            made = self._by_amount[dimension] = {}
            for one in self.amounts.get(dimension, ()):
                if one.amount is not None:
                    made.setdefault(one.amount, []).append(one)
        return made


class Merger:
    """Puts together what several items say."""

    def __init__(self, items: list[SourceItem], reads: list[Read]) -> None:
        self.items, self.reads = items, reads
        self.groups = PathGroups(one.subject for read in reads for one in read.found if one.kind in ANY_PATH)
        self.made: dict[tuple[str, str, str], list[_Making]] = {}
        self.amounts: dict[str, list[Found]] = defaultdict(list)
        self.said: dict[tuple[FactKind, str], set[str]] = defaultdict(set)
        self.told: set[tuple[tuple[str, str, str], frozenset[str]]] = set()
        self.superseded = 0

    def facts(self) -> Facts:
        for item, read in zip(self.items, self.reads, strict=True):
            for one in read.found:
                self._take(item, one)
        self._ask()
        self._withdraw()
        self._overtake()
        facts = [made.fact() for several in self.made.values() for made in several if not made.gone]
        facts.sort(key=lambda fact: (-fact.weight, fact.position, fact.offset))
        return Facts(facts, self.amounts, self.said, self.superseded, self._limits(), self.groups)

    def _take(self, item: SourceItem, one: Found) -> None:
        kind, subject, value, words = one.kind, one.subject, one.value, one.words
        if kind in ANY_PATH:
            name = self.groups.name(subject)
            if name != subject:
                one, subject = one._replace(subject=name), name
        key = (kind, subject, value)
        if one.amount is not None and (key, words) not in self.told:
            self.told.add((key, words))
            for dimension in dimensions(one):
                self.amounts[dimension].append(one)
        if kind in _SAID:
            self.said[kind, subject].add(value)
        several = self.made.get(key)
        if several is None:
            several = self.made[key] = []
        if one.stale:
            return
        for made in several:
            if kind != QUANTITY or not made.words or not words or not made.words.isdisjoint(words):
                made.again(item, one)
                return
        if len(several) < 6:
            several.append(_Making(item, one))

    def _ask(self) -> None:
        """Questions at the end of what was said, that nobody answered among these items."""
        talk = [item for item in self.items if item.voice == USER or item.kind == "assistant"]
        if talk:
            for one in questions(talk[-1].text[-8_000:]):
                self.made.setdefault(one.key, []).append(_Making(talk[-1], one))

    def _withdraw(self) -> None:
        rules = [made for several in self.made.values() for made in several if made.found.kind == RULE]
        if not rules:
            return
        for item in self.items:
            if item.voice != USER:
                continue
            for words in withdrawals(item.text):
                for made in rules:
                    if made.last < item.position and _shares(made.found.words, words):
                        made.gone = True
                        self.superseded += 1

    def _overtake(self) -> None:
        by_subject: dict[tuple[FactKind, str], list[_Making]] = defaultdict(list)
        for several in self.made.values():
            for made in several:
                kind = made.found.kind
                if (kind in (SETTING, VERSION) and made.found.strong) or kind == QUANTITY:
                    by_subject[kind, made.found.subject].append(made)
        for (kind, _), several in by_subject.items():
            several.sort(key=lambda made: made.first)
            for at, old in enumerate(several[:200]):
                for new in several[at + 1 : 200]:
                    if (
                        new.first > old.last
                        and new.found.value != old.found.value
                        and self._updates(kind, old, new)
                    ):
                        old.gone = True
                        self.superseded += 1
                        break

    def _updates(self, kind: FactKind, old: _Making, new: _Making) -> bool:
        if kind != QUANTITY:
            return True
        shared = old.words & new.words
        if not shared or 2 * len(shared) < min(len(old.words), len(new.words)):
            return False
        text = new.item.text
        return _UPDATES.search(text[max(0, new.found.start - 60) : new.found.end + 30]) is not None

    def _limits(self) -> Limits:
        sums = [sum(column) for column in zip(*(read.limits for read in self.reads), strict=True)] or [0] * 4
        return Limits(*sums)


class _Making:
    """A fact while it is put together."""

    __slots__ = ("edited", "first", "found", "gone", "item", "last", "mentions", "voice", "words")

    def __init__(self, item: SourceItem, found: Found) -> None:
        self.item, self.found = item, found
        self.first = self.last = item.position
        self.voice, self.mentions, self.words, self.gone = item.voice, 1, found.words, False
        self.edited = found.kind == PATH and item.voice == CALL and is_editing(item)

    def again(self, item: SourceItem, found: Found) -> None:
        if item.position > self.last:
            self.last = item.position
        self.mentions += 1
        if found.words and len(self.words) < 40:
            self.words |= found.words
        voice = item.voice
        if voice != self.voice and VOICE[voice] > VOICE[self.voice]:
            self.voice = voice
            if found.kind not in ANY_PATH:
                self.item, self.found = item, found
        if voice == CALL and not self.edited and found.kind == PATH:
            self.edited = is_editing(item)

    def fact(self) -> Fact:
        found, item = self.found, self.item
        words = self.words
        if not words and found.kind in _IN_CONTEXT:
            words = around(item.text, found.start, found.end)
        return Fact(
            found.kind, found.subject, found.value, found.shown, item.position, found.start, found.end - found.start,
            self._weight(), self.voice, self.mentions, self.last, words,
        )  # fmt: skip

    def _weight(self) -> float:
        kind = self.found.kind
        weight = BASE[kind] * VOICE[self.voice] * _LIGHT.get(self.found.subject, 1.0)
        if self.found.subject == "time" and "." in self.found.shown:
            weight *= 0.6
        if kind == PATH and self.edited:
            weight += 18
        if kind == COMMAND and self.found.value not in ("", "0"):
            weight += 14
        weight += min(14.0, 4 * math.log2(self.mentions))
        return round(min(99.0, weight), 1)


_SAID = frozenset({PATH_LINE, PORT, QUANTITY, SETTING, VERSION})
_IN_CONTEXT = frozenset({TICKET, COMMIT, URL, PORT, SETTING, VERSION})


def _shares(rule: frozenset[str], back: frozenset[str]) -> bool:
    """Whether a sentence that takes something back is about a rule."""
    exact = {word for word in rule if word[0] == "="}
    if exact & back:
        return True
    soft = rule - exact
    return bool(soft) and len(soft & back) >= max(1, math.ceil(len(soft) / 2))
