"""The audit of a session as pages and the API show it: findings, the ledger of each compaction, decay."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import zstandard

from contextlab.core.audit.results import FactKind, FactVerdict, Severity
from contextlab.queries.ledger_lines import (
    FOLDED_PLACES,
    ConsequenceGroup,
    FactLine,
    bounded,
    consequence_groups,
    fact_line,
    in_order,
)
from contextlab.store.items import session_items
from contextlab.store.models import FindingRecord, Session, SessionAudit

FACTS = 80
"""Facts of a page."""
GROUPS = 40
"""Rows of consequences of a page."""
CHUNK = 500
ITEMS = ("source_item", "visible_item", "resupplied_item")
"""Items that a fact names."""
VERDICTS = tuple(str(verdict) for verdict in FactVerdict)
KINDS = tuple(str(kind) for kind in FactKind)
SEVERITIES = tuple(str(severity) for severity in Severity)


@dataclass(frozen=True, slots=True)
class FindingLine:
    """Something to look at."""

    key: str
    kind: str
    severity: str
    title: str
    compaction: int | None
    micro: bool
    step: int | None
    positions: Sequence[int]
    dismissed: bool


@dataclass(frozen=True, slots=True)
class CompactionLine:
    """A compaction with what became of its facts."""

    number: int
    micro: bool
    origin: str
    evidence: str | None
    step: int
    opaque: bool
    items: int
    summary: int | None
    """Position of the summary."""
    counts: Sequence[tuple[str, int]]
    """(verdict, facts), listed and folded, in the order of VERDICTS."""
    consequences: int

    @property
    def facts(self) -> int:
        """All of them."""
        return sum(number for _, number in self.counts)

    def count(self, verdict: str) -> int:
        """Facts with a verdict."""
        return dict(self.counts).get(verdict, 0)


@dataclass(frozen=True, slots=True)
class DecayLine:
    """Facts of one kind that left at one compaction, and how many of them survived it and each later one."""

    kind: str
    compaction: int
    facts: int
    surviving: Sequence[int | None]


@dataclass(frozen=True, slots=True)
class AuditPage:
    """A session's audit. `current` is false where the session has grown since."""

    compactions: Sequence[CompactionLine]
    findings: Sequence[FindingLine]
    dismissed: int
    decay: Sequence[DecayLine]
    generations: int
    """Compactions that the decay goes over."""
    current: bool
    made_at: datetime


@dataclass(frozen=True, slots=True)
class LedgerQuery:
    """What of a ledger is wanted."""

    verdict: str = ""
    kind: str = ""
    first: int = 0
    """Number of the first fact, from 0; what is nonsense becomes a page's first."""
    came: int = 0
    """Number of the first row of consequences, from 0."""
    facts: int = FACTS
    groups: int = GROUPS
    places: int = FOLDED_PLACES


@dataclass(frozen=True, slots=True)
class LedgerPage:
    """One compaction's ledger, filtered and paged. What is changed and lost rules come first, then the heaviest."""

    line: CompactionLine
    facts: Sequence[FactLine]
    matching: int
    first: int
    """Number of the first fact shown, from 0."""
    kinds: Sequence[tuple[str, int]]
    """Listed facts by kind."""
    folded: Sequence[tuple[str, str, int]]
    """(kind, verdict, how many) that are counted and not listed."""
    superseded: int
    limits: Sequence[tuple[str, int]]
    came: Sequence[ConsequenceGroup]
    """Consequences, one row for a fact and a kind."""
    came_first: int
    came_all: int
    """Rows over all pages; the single consequences are `line.consequences`."""


def audit_page(session: Session, found: SessionAudit) -> AuditPage:
    """The page of a stored audit."""
    answer = payload(found)
    lines = [compaction_line(one, False) for one in answer["compactions"]]
    lines += [compaction_line(one, True) for one in answer["micro_compactions"]]
    lines.sort(key=lambda line: (line.step, line.micro))
    all_findings = findings(session, dismissed=True)
    decay = [
        DecayLine(row["kind"], row["compaction"], row["facts"], row["surviving"]) for row in answer["decay"]
    ]
    return AuditPage(
        lines,
        [one for one in all_findings if not one.dismissed],
        sum(one.dismissed for one in all_findings),
        decay,
        max((len(row.surviving) for row in decay), default=0),
        (found.revision, found.items) == (session.revision, session.items),
        found.made_at,
    )


def findings(session: Session, dismissed: bool = False, most: int = 100) -> list[FindingLine]:
    """What to look at, the heaviest first."""
    rows = FindingRecord.objects.filter(session=session)
    if not dismissed:
        rows = rows.filter(dismissed_at=None)
    return [
        FindingLine(
            row.key, row.kind, row.severity, row.title, row.compaction, row.micro, row.step, row.positions,
            row.dismissed_at is not None,
        )
        for row in rows.order_by("-weight", "id")[:most]
    ]  # fmt: skip


def ledger_page(
    found: SessionAudit, number: int, micro: bool, query: LedgerQuery = LedgerQuery()
) -> LedgerPage | None:
    """The ledger of a compaction; None where there is no such one."""
    answer = payload(found)
    one = next((row for row in answer[_group(micro)] if row["number"] == number), None)
    if one is None:
        return None
    listed = in_order(one["facts"])
    matching = [
        row
        for row in listed
        if (not query.verdict or row["verdict"] == query.verdict)
        and (not query.kind or row["kind"] == query.kind)
    ]
    first = page_start(query.first, query.facts, len(matching))
    groups = consequence_groups(one)
    came = page_start(query.came, query.groups, len(groups))
    kinds = [(name, sum(row["kind"] == name for row in listed)) for name in KINDS]
    return LedgerPage(
        compaction_line(one, micro),
        [fact_line(row) for row in matching[first : first + query.facts]],
        len(matching),
        first,
        [(name, count) for name, count in kinds if count],
        [(row["kind"], row["verdict"], row["count"]) for row in one["folded"]],
        one["superseded"],
        [(name.replace("_", " "), count) for name, count in one["limits"].items() if count],
        bounded(groups[came : came + query.groups], query.places),
        came,
        len(groups),
    )


def compaction_line(one: dict[str, Any], micro: bool) -> CompactionLine:
    """A compaction's values as a line."""
    counts = dict.fromkeys(VERDICTS, 0)
    for row in one["facts"]:
        counts[row["verdict"]] += 1
    for row in one["folded"]:
        counts[row["verdict"]] += row["count"]
    summary = one["summary_items"][0] if one["summary_items"] else None
    return CompactionLine(
        one["number"], micro, one["origin"], one["evidence"], one["step"], one["opaque"],
        one["items_summarised"], summary, tuple(counts.items()), len(one["consequences"]),
    )  # fmt: skip


def payload(found: SessionAudit) -> dict[str, Any]:
    """The stored values."""
    answer: dict[str, Any] = json.loads(zstandard.ZstdDecompressor().decompress(bytes(found.payload)))
    return answer


def positions_in(answer: dict[str, Any]) -> set[int]:
    """Every position that stands in stored values."""
    found: set[int] = set()
    for one in (*answer["compactions"], *answer["micro_compactions"]):
        found.update(one["summary_items"])
        for row in one["facts"]:
            found.update(row[name] for name in ITEMS if row[name] is not None)
        found.update(row["item"] for row in one["consequences"])
    for row in answer["findings"]:
        found.update(row["items"])
    return found


def native_ids(session: Session, positions: Iterable[int]) -> dict[int, str]:
    """The ids of items in their log, by position."""
    records = session_items(session)
    wanted, found = sorted(positions), dict[int, str]()
    for start in range(0, len(wanted), CHUNK):
        some = records.filter(position__in=wanted[start : start + CHUNK])
        found.update(some.values_list("position", "native_id"))
    return found


def with_ids(answer: dict[str, Any], ids: dict[int, str]) -> dict[str, Any]:
    """The stored values with the items' own ids in the place of positions, as the command line tells them."""
    for one in (*answer["compactions"], *answer["micro_compactions"]):
        one["summary_items"] = [ids.get(at) for at in one["summary_items"]]
        _named(one["facts"], ITEMS, ids)
        _named(one["consequences"], ("item",), ids)
    for row in answer["findings"]:
        row["items"] = [ids.get(at) for at in row["items"]]
    return answer


def _named(rows: Iterable[dict[str, Any]], names: Sequence[str], ids: dict[int, str]) -> None:
    for row in rows:
        for name in names:
            row[name] = ids.get(row[name])


def _group(micro: bool) -> str:
    return "micro_compactions" if micro else "compactions"


def page_start(wanted: int, most: int, there: int) -> int:
    """The first row of the page on which a row is; of the last page where there are not so many."""
    return max(0, min(wanted, there - 1)) // most * most
