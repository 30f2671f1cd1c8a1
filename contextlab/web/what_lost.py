"""What a compaction lost, on its page: its facts by kind, and the heaviest that are gone or say another thing now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from contextlab.core.audit.results import FactVerdict, Ledger

MOST_FACTS = 8
GONE = (FactVerdict.CHANGED, FactVerdict.DROPPED)
Count = tuple[str, str, int]
"""Kind, verdict, how many."""


@dataclass(frozen=True, slots=True)
class KindRow:
    """Facts of one kind."""

    kind: str
    total: int
    visible: int
    """Those that the summary or an item that stayed says."""
    counts: Sequence[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class GoneFact:
    """A fact that is gone, or changed."""

    verdict: str
    kind: str
    text: str
    became: str | None
    position: int


@dataclass(frozen=True, slots=True)
class WhatLost:
    """The card."""

    kinds: Sequence[KindRow]
    gone: Sequence[GoneFact]
    gone_total: int

    @property
    def total(self) -> int:
        """All facts."""
        return sum(row.total for row in self.kinds)


def of_ledger(ledger: Ledger) -> WhatLost:
    """Of one that was made here."""
    gone = [
        GoneFact(entry.verdict, entry.fact.kind, entry.fact.text, entry.became, entry.fact.position)
        for entry in ledger.entries
        if entry.verdict in GONE
    ]
    return _what_lost(((kind, verdict, count) for kind, verdict, count in ledger.counts), gone)


def of_audit(compaction: dict[str, Any]) -> WhatLost:
    """Of one of a log, from its stored audit."""
    facts = compaction["facts"]
    counts = [(row["kind"], row["verdict"], 1) for row in facts]
    counts += [(row["kind"], row["verdict"], row["count"]) for row in compaction["folded"]]
    gone = [
        GoneFact(row["verdict"], row["kind"], row["text"], row["became"], row["source_item"])
        for row in facts
        if row["verdict"] in GONE
    ]
    return _what_lost(counts, gone)


def _what_lost(counts: Iterable[Count], gone: Sequence[GoneFact]) -> WhatLost:
    kinds: dict[str, dict[str, int]] = {}
    for kind, verdict, count in counts:
        found = kinds.setdefault(str(kind), dict.fromkeys(map(str, FactVerdict), 0))
        found[str(verdict)] += count
    rows = [
        KindRow(kind, sum(found.values()), found["kept"] + found["partial"], tuple(found.items()))
        for kind, found in kinds.items()
    ]
    total = sum(found[str(verdict)] for found in kinds.values() for verdict in GONE)
    # What was changed misleads; what was dropped is only missing.
    heaviest = sorted(gone, key=lambda fact: fact.verdict != FactVerdict.CHANGED)
    return WhatLost(sorted(rows, key=lambda row: -row.total), heaviest[:MOST_FACTS], total)
