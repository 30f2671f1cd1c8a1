"""What a summary claims that the user agreed to, and which of it no words of the user support.

| a claim                                                | is supported by                                            |
|--------------------------------------------------------|------------------------------------------------------------|
| each entry of the user confirmations                   | an item of the user (no injected one) among its items      |
| an entry of another list that says the user agreed     | the same                                                   |
| a goal that says so, unless rules took it from a log   | nothing: it names no item                                  |
| a line of the text that stands in no list and says so  | nothing                                                    |

Text that stands in no list: a summary without lists, and an earlier summary that a policy carries on as it was.
What says so is told in agreement.py.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from contextlab.core.committing.agreement import says_so
from contextlab.core.compaction import CompactResult, Line, Sections
from contextlab.core.items import Injected, Item, Kind
from contextlab.core.sections import HEADINGS, render_sections

CONFIRMATIONS = "user_confirmations"
OWN_WORDS = (Injected.QUEUED, Injected.MIDTURN)
"""Injected items that are a user's words all the same: typed while the agent worked."""
NO_WORDS = "(no words of the user are known for this)"
Claim = tuple[str, Line]
"""The section (`summary` for the text itself), and the entry."""


def claims_of(result: CompactResult, standing: str = "") -> list[Claim]:
    """All that a result says the user agreed to; `standing`: the summary of the memory after it, if it is another."""
    lists = [(name, line) for name in HEADINGS for line in getattr(result.sections, name)]
    found = [(name, line) for name, line in lists if name == CONFIRMATIONS or says_so(line.text)]
    goal = result.sections.goal or ""
    if result.method != "rules" and says_so(goal):
        found.insert(0, ("goal", Line(goal)))
    told = [goal, *(line.text for _, line in lists)]
    known = {same_claim(part) for text in told for part in text.splitlines()}
    texts = dict.fromkeys(text for whole in (result.summary, standing) for text in _claims_in(whole))
    return [*found, *(("summary", Line(text)) for text in texts if same_claim(text) not in known)]


def same_claim(text: str) -> str:
    """A claim as it is compared: as an entry of a list, rendered in a text, or marked there."""
    return " ".join(text.strip().removeprefix("- ").removesuffix(NO_WORDS).split()).casefold()


def _claims_in(summary: str) -> list[str]:
    """Lines of a text that say so, and all under the heading of confirmations."""
    found, heading = [], ""
    for line in summary.splitlines():
        if line.startswith("#"):
            heading = line.strip("# ")
        elif says_so(line) or (heading == HEADINGS[CONFIRMATIONS] and line.startswith("- ")):
            found.append(line.strip().removeprefix("- "))
    return found


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
