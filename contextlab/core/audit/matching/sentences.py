"""Facts that are sentences: rules, corrections, decisions and questions, judged by their objects.

| the text has                                                   | verdict                                       |
|----------------------------------------------------------------|-----------------------------------------------|
| the sentence itself (letters and figures alike)                | kept                                          |
| an object of it, in a sentence that gives an order (any        | kept                                          |
| language)                                                      |                                               |
| an object of it, told otherwise                                | partial for a rule or correction, else kept   |
| some of its objects                                            | partial                                       |
| no object, but most of its other words in a sentence with an   | kept: it was translated or put in other words |
| order                                                          |                                               |
| none of it                                                     | dropped                                       |
"""

from __future__ import annotations

import math
import re

from contextlab.core.audit.kinds import RULE, USER_CORRECTION
from contextlab.core.audit.matching.corpus import find_word
from contextlab.core.audit.matching.index import Index, Sentence
from contextlab.core.audit.matching.judgement import DROPPED, Case, Judgement, kept, partial
from contextlab.core.audit.results import Fact

ORDERING = (RULE, USER_CORRECTION)
_HITS = 12
_KEEPS = re.compile(r"\b(?:keep|leave|stays?|bleib\w*)\b|保持|保留|維持", re.IGNORECASE)


def judge_sentence(case: Case, fact: Fact) -> Judgement:
    """A rule, a correction, a decision or a question."""
    index = case.index
    whole = index.folded.find(fact.text.lower()[:160].rstrip("…"))
    if whole >= 0:
        return kept(whole, whole + len(fact.text))
    exact = sorted(word[1:] for word in fact.words if word[0] == "=")
    soft = frozenset(word for word in fact.words if word[0] != "=")
    if exact:
        judged = _by_objects(index, fact, exact, soft)
        if judged is not None:
            return judged
    return _by_words(index, fact, soft)


def _by_objects(index: Index, fact: Fact, exact: list[str], soft: frozenset[str]) -> Judgement | None:
    """The verdict by names, paths and quoted words; None where the text has none of them."""
    places = {word: hits for word in exact if (hits := _hits(index, word))}
    if not places:
        return None
    ordering, keeps = fact.kind in ORDERING, _KEEPS.search(fact.text) is not None
    for hits in places.values():
        for at, size in hits:
            sentence = index.sentence_at(at)
            if sentence is None or (ordering and not sentence.orders):
                continue
            if keeps and "delete" in sentence.words and "delete" not in soft:
                continue  # what had to stay was removed
            if 2 * len(places) > len(exact):
                return kept(at, at + size)
            return partial(at, at + size, f"Of {len(exact)} things that it names, {len(places)} stand there.")
    named = [
        (at, size)
        for hits in places.values()
        for at, size in hits
        if not index.folded.startswith("/", at + size)
    ]
    if not named:
        return DROPPED  # only files below a folder are named
    at, size = named[0]
    return partial(at, at + size, "What it is about stands there, but not what was said of it.")


def _hits(index: Index, word: str) -> list[tuple[int, int]]:
    """The places of a name, a path, a quoted word."""
    hits: list[tuple[int, int]] = []
    at = 0
    if " " in word and not index.folded.count(word):
        return _together(index, word)
    trimmed = word.strip("/") if "/" in word else word
    forms = [word] if trimmed == word else [word, trimmed]
    if "/" in trimmed:
        last = trimmed.rpartition("/")[2]
        if "." in last:
            forms.append(last)
    for form in forms:
        at = 0
        while len(hits) < _HITS and (at := find_word(index.folded, form, at)) >= 0:
            hits.append((at, len(form)))
            at += len(form)
        if hits:
            return hits
    at = index.find_name(word) if word.isascii() and len(word) > 3 else -1
    return [(at, len(word))] if at >= 0 else []


def _together(index: Index, words: str) -> list[tuple[int, int]]:
    """Where all words of a command or of a quoted phrase stand in one sentence."""
    parts = words.split()
    for sentence in index.sentences:
        line = index.folded[sentence.start : sentence.end]
        if all(find_word(line, part) >= 0 for part in parts):
            return [(sentence.start, sentence.end - sentence.start)]
    return []


def _by_words(index: Index, fact: Fact, soft: frozenset[str]) -> Judgement:
    """The verdict by the words of its clause, for what names nothing, or was translated."""
    if not soft or not index.sentences:
        return DROPPED
    ordering = fact.kind in ORDERING

    def rank(one: Sentence) -> tuple[int, bool]:
        return len(one.words & soft), one.orders

    best = max(index.sentences, key=rank)
    ordered = (
        max((one for one in index.sentences if one.orders), key=rank, default=best) if ordering else best
    )
    enough = math.ceil(0.5 * len(soft)) if len(soft) > 3 else math.ceil(0.6 * len(soft))
    if len(ordered.words & soft) >= max(1, enough) and (ordered.orders or not ordering):
        return kept(ordered.start, ordered.end)
    if len(best.words & soft) >= max(2, enough):
        return partial(best.start, best.end, "Its words stand there, but not as an order.")
    if len(ordered.words & soft) >= max(2, math.ceil(0.4 * len(soft))):
        return partial(ordered.start, ordered.end, "Some of its words stand there.")
    return DROPPED
