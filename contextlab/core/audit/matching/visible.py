"""Whether items that stayed still say a fact: verbatim, since nobody put them in other words.

A name stands there as a word, a sentence with its first letters, a number with its figures among words that it shares.
"""

from __future__ import annotations

from contextlab.core.audit.kinds import (
    DECISION,
    ERROR,
    OPEN_QUESTION,
    PORT,
    QUANTITY,
    RULE,
    SETTING,
    USER_CORRECTION,
    VERSION,
)
from contextlab.core.audit.language.words import content
from contextlab.core.audit.matching.corpus import Corpus, find_word
from contextlab.core.audit.matching.tokens import figures_of, token_of
from contextlab.core.audit.results import Fact

_NUMBERS = (QUANTITY, PORT, SETTING, VERSION)
_SENTENCES = (RULE, USER_CORRECTION, DECISION, OPEN_QUESTION)
_TRIES = 12


def seen_in(corpus: Corpus, fact: Fact) -> int | None:
    """Position of an item that says it, None where none does."""
    if not corpus.text:
        return None
    if fact.kind in _SENTENCES or (fact.kind == ERROR and fact.words):
        at = corpus.text.find(fact.text[:160].rstrip("…"))
    elif fact.kind in _NUMBERS:
        at = _among_words(corpus.text, fact)
    else:
        at = find_word(corpus.text, token_of(fact))
    return corpus.item_at(at)[0] if at >= 0 else None


def _among_words(text: str, fact: Fact) -> int:
    figures, at = figures_of(fact), 0
    if len(figures) >= 4:
        return find_word(text, figures)
    for _ in range(_TRIES):
        at = find_word(text, figures, at)
        if at < 0:
            return -1
        if not fact.words or content(text[max(0, at - 80) : at + 50].replace("_", " ")) & fact.words:
            return at
        at += len(figures)
    return -1
