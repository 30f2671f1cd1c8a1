"""What a judge says of one fact, and what all judges need to know."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from contextlab.core.audit.extract.dimensions import dimensions
from contextlab.core.audit.extract.found import Found
from contextlab.core.audit.kinds import COMMIT, PATH, PORT
from contextlab.core.audit.language.normalise import close
from contextlab.core.audit.matching.corpus import Corpus, places_of
from contextlab.core.audit.matching.index import Index, folded_word
from contextlab.core.audit.merging import Facts
from contextlab.core.audit.results import Fact, FactKind, FactVerdict

_KEPT, _PARTIAL = FactVerdict.KEPT, FactVerdict.PARTIAL
_FIGURE = re.compile(r"\d")
_TOO_COMMON = 200
"""Places of figures that are looked at: those that stand in more cannot be told apart."""
_THOROUGH = 64_000_000
"""Characters of outputs that are searched to their end for figures, all searches of a summary together."""
_FIGURES = re.compile(r"[vV]?([\d.,_]+)")


class Judgement(NamedTuple):
    """A verdict with the place in the text that it rests on."""

    verdict: FactVerdict
    start: int = -1
    end: int = -1
    became: str | None = None
    why: str = ""


DROPPED = Judgement(FactVerdict.DROPPED, why="Nothing of it stands there.")


def kept(start: int, end: int, why: str = "") -> Judgement:
    """It stands at this place."""
    return Judgement(_KEPT, start, end, None, why)


def partial(start: int, end: int, why: str) -> Judgement:
    """Something of it stands at this place."""
    return Judgement(_PARTIAL, start, end, None, why)


@dataclass
class Case:
    """A text under audit: its index, the source that it should tell, and which of its words the source never had."""

    index: Index
    corpus: Corpus
    """The texts of the items that left (what a summary was made of)."""
    outputs: Corpus
    """What nobody said: the results and calls among them, and among the items that stayed."""
    facts: Facts
    said: Mapping[str, Sequence[Found]] = field(default_factory=dict)
    """The numbers that items which stayed say, by dimension."""
    taken: dict[tuple[FactKind, int, int], str] = field(default_factory=dict)
    """Places that already count as another value's change, by kind."""
    _suspects: dict[FactKind, list[tuple[str, int, Found]]] = field(default_factory=dict)
    _known: dict[tuple[FactKind, int, int], bool] = field(default_factory=dict)
    _told: dict[tuple[str, ...], list[Found]] = field(default_factory=dict)
    _agreeing: dict[tuple[tuple[str, ...], float], list[Found]] = field(default_factory=dict)
    _unexplained: dict[tuple[str, ...], list[Found]] = field(default_factory=dict)
    _scanned: int = 0

    def suspects(self, kind: FactKind) -> list[tuple[str, int, Found]]:
        """The words of a kind that are no fact of the source, each once, with their length."""
        made = self._suspects.get(kind)
        if made is None:
            known = {folded_word(fact) for fact in self.facts.facts if fact.kind == kind}
            told = {folded_word(one): one for one in reversed(self.index.of_kind.get(kind, []))}
            made = self._suspects[kind] = [
                (word, len(word), one) for word, one in told.items() if word not in known
            ]
        return made

    def invented(self, one: Found) -> bool:
        """Whether the source never had this word of the text."""
        key = one.kind, one.start, one.end
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._has(one)
        return not known

    def _has(self, one: Found) -> bool:
        word = self.index.text[one.start : one.end]
        if one.kind == PATH:
            word = one.subject.replace("\\", "/").rstrip("/").rpartition("/")[2]
        elif one.kind == COMMIT:
            word = one.value[:7]
        text = self.corpus.text
        return word in text or (not word.islower() and word.lower() in text)

    def knows_amount(self, one: Found) -> bool:
        """Whether the source has this number of this dimension somewhere."""
        key = one.kind, one.start, one.end
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._knows(one)
        return known

    def _knows(self, one: Found) -> bool:
        context, amount = self.index.context(one), one.amount
        assert amount is not None
        for dimension in dimensions(one):
            for value, several in self.facts.amounts_of(dimension).items():
                if close(amount, value, dimension) and any(_meet(known.words, context) for known in several):
                    return True
            for known in self.said.get(dimension, ()):
                if (
                    known.amount is not None
                    and close(amount, known.amount, dimension)
                    and _meet(known.words, context)
                ):
                    return True
        return self._in_results(one)

    def told(self, dimensions: tuple[str, ...]) -> list[Found]:
        """The text's numbers of these dimensions, those of the first before the others."""
        made = self._told.get(dimensions)
        if made is None:
            made = self.index.amounts.get(dimensions[0], [])
            for dimension in dimensions[1:]:
                made = made + [one for one in self.index.amounts.get(dimension, ()) if one not in made]
            self._told[dimensions] = made
        return made

    def agreeing(self, dimensions: tuple[str, ...], amount: float) -> list[Found]:
        """Those that tell this amount of the first dimension."""
        made = self._agreeing.get((dimensions, amount))
        if made is None:
            least, most = 0.8 * amount, 1.25 * amount  # further off nothing is close
            made = self._agreeing[dimensions, amount] = [
                one
                for one in self.told(dimensions)
                if one.amount is not None
                and least <= one.amount <= most
                and close(one.amount, amount, dimensions[0])
            ]
        return made

    def unexplained(self, dimensions: tuple[str, ...]) -> list[Found]:
        """Those that may be the change of another: the source never had them, or they have a name."""
        made = self._unexplained.get(dimensions)
        if made is None:
            made = self._unexplained[dimensions] = [
                one
                for one in self.told(dimensions)
                if not one.stale and one.amount is not None and (one.strong or not self.knows_amount(one))
            ]
        return made

    def _in_results(self, one: Found) -> bool:
        """Long results are not read for numbers: look there, for long ones alone, for short ones with their unit."""
        told = self.index.text[one.start : one.end]
        figures = _FIGURES.match(told)
        raw = figures.group(1).rstrip(".,") if figures and one.kind != PORT else one.value
        forms = {raw, raw.replace(",", "").replace("_", ""), one.value}
        if len(_FIGURE.findall(raw)) >= 4:
            return any(self.outputs.has(form) for form in forms)
        unit = told[figures.end() :].strip(" -").lower() if figures else ""
        name = one.shown.partition("=")[0].strip().lower() if "=" in one.shown else one.subject
        return any(self._near(form, (unit or name)[:5], bool(unit)) for form in forms)

    def _near(self, figures: str, word: str, behind: bool) -> bool:
        """Whether an output has the figures with this word right behind them, or (a name) near."""
        text, size = self.outputs.text, len(word) + 2
        self._scanned += len(text)
        places = list(islice(places_of(text, figures, self._scanned <= _THOROUGH), _TOO_COMMON))
        for at in places:
            end = at + len(figures)
            if word in (text[end : end + size] if behind else text[max(0, at - 16) : end + 16]).lower():
                return True
        return len(places) == _TOO_COMMON

    def only_port(self, fact: Fact) -> bool:
        """Whether the source speaks of one port alone."""
        return {one.value for one in self.facts.amounts.get("port", ())} == {fact.value}

    def take(self, one: Found, value: str) -> bool:
        """Whether this place may count as the change of a value: of one value only."""
        return self.taken.setdefault((one.kind, one.start, one.end), value) == value


def _meet(words: frozenset[str], context: frozenset[str]) -> bool:
    """Whether two places share a word, or one of them has none."""
    return not words or not context or not words.isdisjoint(context)


def nearly(left: str, right: str) -> bool:
    """Whether two words differ by a slip: figures changed, or one or two letters."""
    if left == right or not left or not right or abs(len(left) - len(right)) > 2:
        return False
    if len(left) == len(right) and _FIGURE.sub("0", left) == _FIGURE.sub("0", right):
        return sum(a != b for a, b in zip(left, right, strict=True)) <= 4
    longest, shortest = max(len(left), len(right)), min(len(left), len(right))
    before = 0
    while before < shortest and left[before] == right[before]:
        before += 1
    behind = 0
    while behind < shortest - before and left[-1 - behind] == right[-1 - behind]:
        behind += 1
    return longest - before - behind <= 2 and before + behind >= 0.7 * longest and longest >= 6
