"""What a summary claims that the user agreed to, and which of it no words of the user support.

| a claim                                                | is supported by                                            |
|--------------------------------------------------------|------------------------------------------------------------|
| each entry of the user confirmations                   | an item of the user (no injected one) among its items      |
| an entry of another list that says the user agreed     | the same                                                   |
| a goal that says so, unless rules took it from a log   | nothing: it names no item                                  |
| a line of a summary without lists that says so         | nothing                                                    |

What says so is told in agreement.py.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from contextlab.core.committing.agreement import says_so
from contextlab.core.compaction import CompactResult, Line, Sections
from contextlab.core.items import Injected, Item, Kind
from contextlab.core.sections import HEADINGS, is_empty, render_sections

CONFIRMATIONS = "user_confirmations"
OWN_WORDS = (Injected.QUEUED, Injected.MIDTURN)
"""Injected items that are a user's words all the same: typed while the agent worked."""
NO_WORDS = "(no words of the user are known for this)"
Claim = tuple[str, Line]
"""The section (`summary` for the text itself), and the entry."""


def claims_of(result: CompactResult) -> list[Claim]:
    """All that a result says the user agreed to."""
    lists = [(name, line) for name in HEADINGS for line in getattr(result.sections, name)]
    found = [(name, line) for name, line in lists if name == CONFIRMATIONS or says_so(line.text)]
    if (goal := result.sections.goal) and result.method != "rules" and says_so(goal):
        found.insert(0, ("goal", Line(goal)))
    if not is_empty(result.sections):
        return found
    return [("summary", Line(text.strip())) for text in result.summary.splitlines() if says_so(text)]


def unsupported(claims: Iterable[Claim], said: Collection[str]) -> list[Claim]:
    """The claims that point to none of the items that the user said."""
    return [(name, line) for name, line in claims if not set(line.items).intersection(said)]


def words_of_user(items: Iterable[Item]) -> set[str]:
    """Ids of the items that are a user's own words."""
    own = (None, *OWN_WORDS)
    return {item.id for item in items if item.kind == Kind.USER and item.injected in own}


def marked(sections: Sections, said: Collection[str]) -> str:
    """The sections as text, each confirmation without words of the user marked as that."""
    lines = [
        line if set(line.items).intersection(said) else Line(f"{line.text} {NO_WORDS}", line.items)
        for line in sections.user_confirmations
    ]
    return render_sections(replace(sections, user_confirmations=lines))
