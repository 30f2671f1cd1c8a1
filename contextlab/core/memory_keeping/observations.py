"""Observations and session summaries: structured, findable records of what happened.

An observation is one thing that a turn brought to light; a session summary is what the whole came to. Two observations
of a session are one when their titles and narratives are (`content_hash`); a paraphrase is another one.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, fields

TYPES = ("bugfix", "feature", "refactor", "change", "discovery", "decision")
"""The configured types; the first is what an observation without a type gets. Others are kept as emitted."""
CONCEPTS = (
    "how-it-works",
    "why-it-exists",
    "what-changed",
    "problem-solution",
    "gotcha",
    "pattern",
    "trade-off",
)
"""The concepts that prompts suggest; others are kept."""


@dataclass(slots=True)
class Observation:
    """One observation. Texts are as the writer wrote them (entities too); None = not said."""

    type: str
    title: str | None = None
    subtitle: str | None = None
    narrative: str | None = None
    facts: list[str] = field(default_factory=list)
    concepts: list[str] = field(default_factory=list)
    files_read: list[str] = field(default_factory=list)
    files_modified: list[str] = field(default_factory=list)
    turn: int | None = None
    """Number of the turn that it comes from (from 1)."""
    items: tuple[str, ...] = ()
    """Ids of the items that it comes from, where that is known."""

    @property
    def says_something(self) -> bool:
        """Whether there is a title, a narrative, a fact or a concept; a subtitle or files alone say nothing."""
        return bool(self.title or self.narrative or self.facts or self.concepts)

    def content_hash(self, session: str) -> str:
        """By which a session holds the same observation once: 16 hex digits."""
        return content_hash(session, self.title, self.narrative)


@dataclass(slots=True)
class SessionSummary:
    """What a session came to; None = not said."""

    request: str | None = None
    investigated: str | None = None
    learned: str | None = None
    completed: str | None = None
    next_steps: str | None = None
    notes: str | None = None

    @property
    def says_something(self) -> bool:
        """Whether one of the main fields is there; notes alone make no summary."""
        return any(getattr(self, name) for name in MAIN_FIELDS)


SUMMARY_FIELDS = tuple(one.name for one in fields(SessionSummary))
MAIN_FIELDS = SUMMARY_FIELDS[:-1]


def content_hash(session: str, title: str | None, narrative: str | None) -> str:
    """First 16 hex digits of sha256 over session, title and narrative with NUL between, so that none runs into another.

    None and empty are the same.
    """
    text = "\0".join((session, title or "", narrative or ""))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
