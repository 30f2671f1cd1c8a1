"""A fact as it is found in one text, before the same facts of several items are put together."""

from __future__ import annotations

from typing import NamedTuple

from contextlab.core.audit.results import FactKind


class Found(NamedTuple):
    """A detail at its place in a text. `key` is what the same detail has in common wherever it stands."""

    kind: FactKind
    subject: str
    value: str
    shown: str
    start: int
    end: int
    strong: bool = False
    """The subject alone says what the value is of: a setting's name, a host for its port."""
    amount: float | None = None
    """Of a number its value in base units."""
    words: frozenset[str] = frozenset()
    """Content words around it."""
    stale: bool = False
    """The text itself says that it is no longer so (from 30 to 60: the 30)."""

    @property
    def key(self) -> tuple[str, str, str]:
        """Kind, subject and value."""
        return self.kind, self.subject, self.value


def moved(one: Found, by: int) -> Found:
    """The same detail so many characters further on."""
    if not by:
        return one
    kind, subject, value, told, start, end, strong, amount, words, stale = one
    return Found(kind, subject, value, told, start + by, end + by, strong, amount, words, stale)
