"""An audit as plain values with the names of the command line's contract, for JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from contextlab.core.audit.results import Audit, CompactionAudit, Consequence, Entry, Finding, Ledger, Place

Ids = Callable[[int], str | int]
Answer = dict[str, Any]


def audit_answer(session: str, audit: Audit, ids: Ids) -> Answer:
    """A session's audit; `ids` gives the id of the item at a position. Unknown is None."""
    return {
        "session": session,
        "compactions": [compaction_answer(one, ids) for one in audit.compactions if not one.micro],
        "micro_compactions": [compaction_answer(one, ids) for one in audit.compactions if one.micro],
        "findings": [finding_answer(one, ids) for one in audit.findings],
        "decay": [
            {"kind": row.kind, "compaction": row.cohort, "facts": row.facts, "surviving": list(row.surviving)}
            for row in audit.decay
        ],
    }


def compaction_answer(one: CompactionAudit, ids: Ids) -> Answer:
    """One compaction."""
    places = {id(entry): at for at, entry in enumerate(one.ledger.entries)}
    return {
        "number": one.number,
        "step": one.at_step,
        "origin": one.origin,
        "evidence": one.evidence or None,
        "summary_items": [] if one.summary is None else [ids(one.summary)],
        "opaque": one.opaque,
        "items_summarised": one.ledger.items,
        **ledger_answer(one.ledger, ids),
        "consequences": [
            {**consequence_answer(after, ids), "fact_index": places.get(id(after.entry))}
            for after in one.consequences
        ],
    }


def ledger_answer(ledger: Ledger, ids: Ids) -> Answer:
    """A ledger: its listed facts, what is folded, and what was not read."""
    limits = ledger.limits
    return {
        "facts": [fact_answer(entry, ids) for entry in ledger.entries],
        "folded": [{"kind": one.kind, "verdict": one.verdict, "count": one.count} for one in ledger.folded],
        "superseded": ledger.superseded,
        "limits": {
            "long_words": limits.long_tokens,
            "cut_texts": limits.cut_texts,
            "cut_characters": limits.cut_characters,
            "facts_over": limits.facts_over,
        },
    }


def fact_answer(entry: Entry, ids: Ids) -> Answer:
    """A fact with its verdict."""
    fact = entry.fact
    return {
        "kind": fact.kind,
        "text": fact.text,
        "verdict": entry.verdict,
        "became": entry.became,
        "source_item": ids(fact.position),
        "summary_place": _place(entry.place),
        "weight": fact.weight,
        "why": entry.why or None,
        "subject": fact.subject or None,
        "value": fact.value or None,
        "source_offset": fact.offset,
        "mentions": fact.mentions,
        "visible_item": None if entry.visible_at is None else ids(entry.visible_at),
        "resupplied_item": None if entry.resupplied_at is None else ids(entry.resupplied_at),
    }


def consequence_answer(after: Consequence, ids: Ids) -> Answer:
    """What came of a fact."""
    return {
        "kind": after.kind,
        "fact": after.entry.fact.text,
        "step": after.step,
        "item": ids(after.position),
        "text": after.text,
        "tokens": after.tokens,
    }


def finding_answer(one: Finding, ids: Ids) -> Answer:
    """What to look at."""
    return {
        "kind": one.kind,
        "severity": one.severity,
        "title": one.title,
        "compaction": one.compaction,
        "micro": one.micro,
        "step": one.step,
        "items": [ids(at) for at in one.positions],
        "weight": one.weight,
    }


def _place(place: Place | None) -> Answer | None:
    return None if place is None else {"start": place.start, "end": place.end, "line": place.line}
