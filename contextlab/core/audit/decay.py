"""Decay: of the facts that first left at a compaction, how many could still be seen after it, and after each next.

A fact survives a compaction if its summary, or an item that stayed, says it; it may come back (a later summary that
tells it again, after a result brought it back). Facts are those of LISTED weight or more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from contextlab.core.audit.ledger import LISTED
from contextlab.core.audit.matching.judgement import Case
from contextlab.core.audit.matching.judging import judge
from contextlab.core.audit.results import DecayRow, Entry, FactKind, FactVerdict, Ledger

_SURVIVES = (FactVerdict.KEPT, FactVerdict.PARTIAL)


@dataclass(slots=True)
class Generation:
    """One compaction, as decay needs it; `case` None: no text that could be read."""

    number: int
    ledger: Ledger
    case: Case | None
    opaque: bool


def decay(generations: Sequence[Generation]) -> tuple[DecayRow, ...]:
    """Rows by cohort and kind, the most facts first within a cohort."""
    rows: list[DecayRow] = []
    for at, first in enumerate(generations):
        by_kind: dict[FactKind, list[Entry]] = defaultdict(list)
        for entry in first.ledger.entries:
            if entry.fact.weight >= LISTED:
                by_kind[entry.fact.kind].append(entry)
        for kind, entries in sorted(by_kind.items(), key=lambda pair: (-len(pair[1]), pair[0])):
            surviving: list[int | None] = [_at_once(entries, first)]
            surviving += [_later(entries, later) for later in generations[at + 1 :]]
            rows.append(DecayRow(kind, first.number, len(entries), tuple(surviving)))
    return tuple(rows)


def _at_once(entries: list[Entry], first: Generation) -> int | None:
    if first.opaque and any(entry.verdict == FactVerdict.CANNOT_TELL for entry in entries):
        return None
    return sum(entry.verdict in _SURVIVES for entry in entries)


def _later(entries: list[Entry], later: Generation) -> int | None:
    if later.opaque or later.case is None:
        return None
    return sum(judge(later.case, entry.fact).verdict in _SURVIVES for entry in entries)
