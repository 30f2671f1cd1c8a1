"""The rows of a ledger: facts, and what came of them, one row for a fact and a kind of consequence.

An audit tells every consequence by itself; of one lost value there may be dozens. A page shows them as one row with the
first places, and folds the others. The order is the ledger's, heaviest first, but what was changed and the rules that
were lost go before everything: these are never folded away. Counts stay those of single consequences.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from contextlab.core.audit.results import ConsequenceKind, FactKind, FactVerdict
from contextlab.core.measuring.sums import sum_of_known

OPEN_GROUPS = 8
"""Rows of consequences that stand open."""
OPEN_FACTS = 12
PLACES = 3
"""Places of a row that stand open."""
FOLDED_PLACES = 100
"""Folded places of all rows of a page together; what goes beyond is counted."""
FEW = 2
"""So few rows are not worth folding."""
_CAME = [str(kind) for kind in ConsequenceKind]
_RULES = (FactKind.RULE, FactKind.USER_CORRECTION)
_LOST = (FactVerdict.DROPPED, FactVerdict.RESUPPLIED)


@dataclass(frozen=True, slots=True)
class FactLine:
    """A fact with its verdict; positions are places in the session."""

    kind: str
    text: str
    verdict: str
    became: str | None
    source: int
    place: str
    """Where the summary says it, for people; empty where it does not."""
    visible: int | None
    resupplied: int | None
    weight: float
    why: str | None
    mentions: int

    @property
    def stays(self) -> bool:
        """Whether it is never folded away."""
        return stays(self.kind, self.verdict)


@dataclass(frozen=True, slots=True)
class ConsequenceLine:
    """What came of a lost or changed fact."""

    step: int | None
    position: int
    text: str
    tokens: int | None


@dataclass(frozen=True, slots=True)
class ConsequenceGroup:
    """The consequences of one kind that one fact had, in the order in which they happened."""

    kind: str
    fact: str
    stays: bool
    """Whether it is never folded away."""
    count: int
    first: Sequence[ConsequenceLine]
    rest: Sequence[ConsequenceLine]
    """What is folded."""
    alike: bool
    """Whether all of them have the text of the first."""
    tokens: int | None
    """Tokens spent again, over all of them; None where nobody knows."""

    @property
    def text(self) -> str:
        """The first one's."""
        return self.first[0].text

    @property
    def folded(self) -> int:
        """Consequences behind the first ones."""
        return self.count - len(self.first)

    @property
    def unlisted(self) -> int:
        """Consequences that are only counted here."""
        return self.folded - len(self.rest)


@dataclass(frozen=True, slots=True)
class FactGroup:
    """Facts of one kind that are folded together."""

    kind: str
    facts: Sequence[FactLine]

    @property
    def counts(self) -> list[tuple[str, int]]:
        """(verdict, facts), in the order of the verdicts."""
        counts = [(str(one), sum(fact.verdict == one for fact in self.facts)) for one in FactVerdict]
        return [(verdict, number) for verdict, number in counts if number]


def stays(kind: str, verdict: str) -> bool:
    """Whether a fact is never folded away: a changed one, and a rule or correction that was lost."""
    return verdict == FactVerdict.CHANGED or (kind in _RULES and verdict in _LOST)


def fact_line(row: dict[str, Any]) -> FactLine:
    """A fact's values as a line."""
    place = row["summary_place"]
    where = f"line {place['line']}" if place else ""
    return FactLine(
        row["kind"], row["text"], row["verdict"], row["became"], row["source_item"], where, row["visible_item"],
        row["resupplied_item"], row["weight"], row["why"], row["mentions"],
    )  # fmt: skip


def folded_facts(facts: Sequence[FactLine], at_once: int = OPEN_FACTS) -> tuple[int, list[FactGroup]]:
    """How many of the facts stand open, and the others by kind, the kind of the heaviest first."""
    shown = _open([fact.stays for fact in facts], at_once)
    kinds: dict[str, list[FactLine]] = {}
    for fact in facts[shown:]:
        kinds.setdefault(fact.kind, []).append(fact)
    return shown, [FactGroup(kind, rows) for kind, rows in kinds.items()]


def open_groups(groups: Sequence[ConsequenceGroup], at_once: int = OPEN_GROUPS) -> int:
    """How many rows stand open."""
    return _open([group.stays for group in groups], at_once)


def in_order(facts: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """A ledger's facts with what is never folded first, else as they are: heaviest first."""
    return sorted(facts, key=lambda row: not stays(row["kind"], row["verdict"]))


def consequence_groups(one: dict[str, Any]) -> list[ConsequenceGroup]:
    """The rows of a stored compaction: what is never folded first, then as the ledger has its facts."""
    facts, rows = one["facts"], dict[tuple[int, str, str], list[dict[str, Any]]]()
    for row in one["consequences"]:
        at = row.get("fact_index")
        rows.setdefault((len(facts) if at is None else at, row["fact"], row["kind"]), []).append(row)
    groups = []
    for at, text, kind in sorted(rows, key=lambda key: (key[0], _CAME.index(key[2]))):
        fact = facts[at] if at < len(facts) else None
        first = fact is not None and stays(fact["kind"], fact["verdict"])
        groups.append(_group(rows[at, text, kind], first or kind == ConsequenceKind.RULE_BROKEN))
    return sorted(groups, key=lambda group: not group.stays)


def bounded(groups: Sequence[ConsequenceGroup], places: int) -> list[ConsequenceGroup]:
    """The rows with at most so many folded places over all of them."""
    found = []
    for group in groups:
        found.append(replace(group, rest=group.rest[:places]))
        places -= len(found[-1].rest)
    return found


def _group(rows: list[dict[str, Any]], first: bool) -> ConsequenceGroup:
    lines = [ConsequenceLine(row["step"], row["item"], row["text"], row["tokens"]) for row in rows]
    return ConsequenceGroup(
        rows[0]["kind"], rows[0]["fact"], first, len(lines), lines[:PLACES], lines[PLACES:],
        all(line.text == lines[0].text for line in lines), sum_of_known(line.tokens for line in lines),
    )  # fmt: skip


def _open(stay: Sequence[bool], at_once: int) -> int:
    """Rows that stand open, of rows of which those that stay come first."""
    shown = max(at_once, sum(stay))
    return len(stay) if len(stay) - shown <= FEW else shown
