"""The one word by which a fact is looked up in a text as it stands."""

from __future__ import annotations

import re

from contextlab.core.audit.kinds import (
    COMMAND,
    COMMIT,
    ERROR,
    PATH,
    PATH_LINE,
    PORT,
    QUANTITY,
    SETTING,
    TICKET,
    URL,
)
from contextlab.core.audit.matching.corpus import find_word
from contextlab.core.audit.results import Fact

_FIGURES = re.compile(r"\d[\d.,_]*\d|\d")


def token_of(fact: Fact) -> str:
    """The word by which a fact is looked up; empty for what no single word tells."""
    if fact.kind == PATH:
        return fact.subject.replace("\\", "/").rstrip("/").rpartition("/")[2]
    if fact.kind == PATH_LINE:
        return f"{fact.subject.rpartition('/')[2]}:{fact.value}"
    if fact.kind == COMMAND:
        return fact.subject
    if fact.kind == COMMIT:
        return fact.value[:7]
    if fact.kind == QUANTITY:
        return fact.text
    if fact.kind == SETTING and fact.value.isdigit() and len(fact.value) < 4:
        return fact.text
    if fact.kind == ERROR:
        return fact.subject or (fact.value if not fact.words else "")
    if fact.kind in (URL, TICKET):
        return fact.text
    return fact.value


def figures_of(fact: Fact) -> str:
    """The figures of a value as they were written."""
    told = fact.text.rpartition("=")[2] if "=" in fact.text else fact.text
    found = _FIGURES.search(told)
    return fact.value if fact.kind == PORT or found is None else found.group()


def says(text: str, fact: Fact) -> bool:
    """Whether a text has the word of a fact."""
    word = token_of(fact)
    return bool(word) and find_word(text, word) >= 0
