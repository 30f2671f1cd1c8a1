"""The fact ledger: the facts of the items that left, against what is said in their place.

    left items --> facts --> each judged against the summary, else against the items that stayed --> verdict

| verdict     | when                                                                                             |
|-------------|--------------------------------------------------------------------------------------------------|
| kept        | the summary says it, or an item that stayed does                                                 |
| changed     | the summary gives its subject another value, and no item that stayed has the right one           |
| partial     | the summary says something of it                                                                 |
| cannot_tell | the summary has no text (encrypted), and no item that stayed says it                             |
| resupplied  | dropped, but a later result or person brings it back; a lost rule, correction or decision stays  |
|             | dropped where a person had to say it again: that is a consequence                                |
| dropped     | none of these                                                                                    |

The same ledger serves a recorded compaction, one that is not made yet, and a projection (no summary: what the step
cannot see). Listed are facts of LISTED weight or more, and every rule, correction and change; others are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from contextlab.core.audit.extract.dimensions import dimensions
from contextlab.core.audit.extract.found import Found
from contextlab.core.audit.extract.sentences import objects
from contextlab.core.audit.facts import Extractor
from contextlab.core.audit.kinds import DECISION, OPEN_QUESTION, RULE, USER_CORRECTION
from contextlab.core.audit.language.orders import gives_order
from contextlab.core.audit.matching.corpus import Corpus
from contextlab.core.audit.matching.index import Index
from contextlab.core.audit.matching.judgement import Case
from contextlab.core.audit.matching.judging import judge
from contextlab.core.audit.matching.tokens import token_of
from contextlab.core.audit.matching.visible import seen_in
from contextlab.core.audit.merging import Facts
from contextlab.core.audit.results import Entry, Fact, FactVerdict, Folded, Ledger
from contextlab.core.audit.source import ASSISTANT, CALL, RESULT, USER, SourceItem

LISTED = 22.0
MOST = 160
"""Facts in the list of one ledger, beyond rules, corrections and changes."""
SENTENCES = (RULE, USER_CORRECTION, DECISION, OPEN_QUESTION)
ALWAYS = (RULE, USER_CORRECTION)
_RANK = {
    FactVerdict.CHANGED: 1.6,
    FactVerdict.DROPPED: 1.0,
    FactVerdict.PARTIAL: 0.6,
    FactVerdict.RESUPPLIED: 0.5,
    FactVerdict.CANNOT_TELL: 0.4,
    FactVerdict.KEPT: 0.2,
}
_KEPT, _DROPPED, _CHANGED = FactVerdict.KEPT, FactVerdict.DROPPED, FactVerdict.CHANGED
_LOST = (_DROPPED, _CHANGED)


@dataclass(slots=True, frozen=True)
class Replacement:
    """What stands in the place of the items that left. `summary` None: nothing, or (opaque) nothing readable."""

    summary: str | None
    opaque: bool = False


class Bookkeeper:
    """Makes the ledgers of one session; texts are read once for all of them."""

    def __init__(self, extractor: Extractor) -> None:
        """Later items are looked up in corpora of the whole session, made when first needed."""
        self.extractor = extractor
        self._later: dict[str, Corpus] = {}

    def ledger(
        self, left: Sequence[int], stayed: Sequence[int], replacement: Replacement, upto: int | None
    ) -> Ledger:
        """The ledger of items that left; `upto`: items from here on came later (None: there are none)."""
        source = self.extractor.source
        items = source.items(left)
        facts = self.extractor.facts(left)
        corpus = Corpus(items)
        stay = source.items(stayed)
        unsaid = [item for item in (*items, *stay) if item.voice in (CALL, RESULT)]
        told = None
        if replacement.summary:
            told = Case(Index(replacement.summary), corpus, Corpus(unsaid), facts, self._said(stay))
        remaining = Corpus(stay)
        entries = [self._entry(fact, told, remaining, replacement) for fact in facts.facts]
        if upto is not None:
            entries = [self._later_on(entry, upto) for entry in entries]
        return _ledger(entries, facts, len(items), sum(len(item.text) for item in items))

    def _said(self, stay: list[SourceItem]) -> dict[str, list[Found]]:
        """The numbers that items which stayed say, by dimension: a summary may speak of them."""
        said: dict[str, list[Found]] = {}
        for item in stay:
            if item.voice in (USER, ASSISTANT):
                for one in self.extractor.read(item.position).found:
                    if one.amount is not None:
                        for dimension in dimensions(one):
                            said.setdefault(dimension, []).append(one)
        return said

    def _entry(self, fact: Fact, told: Case | None, remaining: Corpus, replacement: Replacement) -> Entry:
        said = judge(told, fact) if told is not None else None
        if said is not None and said.verdict == _KEPT:
            return Entry(fact, _KEPT, None, told.index.place(said.start, said.end), why=said.why)  # type: ignore[union-attr]
        seen = seen_in(remaining, fact)
        if seen is not None:
            return Entry(fact, _KEPT, None, None, seen, why="An item that stayed says it.")
        if said is not None and told is not None:
            place = told.index.place(said.start, said.end) if said.start >= 0 else None
            return Entry(fact, said.verdict, said.became, place, why=said.why)
        if replacement.opaque:
            why = "The summary cannot be read."
            return Entry(fact, FactVerdict.CANNOT_TELL, why=why)
        why = "No item that stayed says it."
        return Entry(fact, _DROPPED, why=why)

    def _later_on(self, entry: Entry, upto: int) -> Entry:
        """Whether what was lost came back later."""
        if entry.verdict not in _LOST or entry.fact.weight < LISTED:
            return entry
        fact = entry.fact
        back = [
            at
            for voice in (USER, RESULT)
            if (at := self._found_later(fact, self._corpus(voice), upto, voice)) is not None
        ]
        if not back:
            return entry
        first = min(back)
        stays = entry.verdict == _CHANGED or (
            fact.kind in SENTENCES and self.extractor.source.item(first).voice == USER
        )
        return replace(entry, verdict=entry.verdict if stays else FactVerdict.RESUPPLIED, resupplied_at=first)

    def _corpus(self, voice: str) -> Corpus:
        corpus = self._later.get(voice)
        if corpus is None:
            source = self.extractor.source
            items = source.items(range(len(source)))
            corpus = self._later[voice] = Corpus(item for item in items if item.voice == voice)
        return corpus

    def _found_later(self, fact: Fact, corpus: Corpus, upto: int, voice: str) -> int | None:
        if fact.kind in SENTENCES:
            return _sentence_again(fact, corpus, upto) if voice == USER else None
        word = token_of(fact)
        found = corpus.find(word, upto - 1) if word else None
        return None if found is None else found[0]


def _sentence_again(fact: Fact, corpus: Corpus, upto: int) -> int | None:
    """The first later words of a person that name what a sentence is about, as an order."""
    exact = {word for word in fact.words if word[0] == "="}
    if exact:
        hits = [found for word in exact if (found := corpus.find(word[1:], upto - 1)) is not None]
        return min(hits)[0] if hits else None
    start = corpus.start_of(upto)
    for line in corpus.text[start : start + 100_000].splitlines():
        if gives_order(line[:600]):
            words = objects(line[:600])
            if len(words & fact.words) >= max(2, -(-3 * len(fact.words) // 5)):
                return corpus.item_at(max(start, corpus.text.find(line, start)))[0]
    return None


def rank(entry: Entry) -> float:
    """What a person should read first: heavy facts, and changes before losses before remains."""
    return entry.fact.weight * _RANK[entry.verdict]


def _ledger(entries: list[Entry], facts: Facts, items: int, characters: int) -> Ledger:
    counts = Counter((entry.fact.kind, entry.verdict) for entry in entries)
    always, others = [], []
    for entry in entries:
        if entry.fact.kind in ALWAYS or entry.verdict == _CHANGED:
            always.append(entry)
        elif entry.fact.weight >= LISTED:
            others.append(entry)
    others = sorted(others, key=rank, reverse=True)[:MOST]
    listed = sorted(always + others, key=lambda entry: (-rank(entry), entry.fact.position))
    shown = Counter((entry.fact.kind, entry.verdict) for entry in listed)
    folded = [
        Folded(kind, verdict, count - shown[kind, verdict])
        for (kind, verdict), count in counts.items()
        if count > shown[kind, verdict]
    ]
    return Ledger(
        tuple(listed),
        tuple(sorted(folded, key=lambda one: (-one.count, one.kind))),
        tuple((kind, verdict, count) for (kind, verdict), count in sorted(counts.items())),
        items,
        characters,
        facts.superseded,
        replace(facts.limits, facts_over=facts.limits.facts_over),
    )
