"""The goal: what the first real prompt asks for, and the latest prompt that asks for something else."""

from __future__ import annotations

from collections.abc import Container

from contextlab.core.evidence.approvals import is_approval
from contextlab.core.evidence.record import Record
from contextlab.core.evidence.words import plain, same, short, unmarked

LATEST = "Latest task: "
WIDTH = 400
LEAST = 12
"""A prompt of fewer characters names no task ("go on", "try again")."""


def goal(record: Record, leaving: Container[str], earlier: str | None) -> str | None:
    """The goal that the items which leave speak of, after what an earlier summary says it was."""
    first, _, latest = (earlier or "").partition("\n" + LATEST)
    for item in record.said:
        words = unmarked(plain(item.text))
        if item.id not in leaving or not words or words.startswith("/") or is_approval(words):
            continue
        if not first:
            first = short(words, WIDTH)
        elif len(words) >= LEAST and not words.rstrip().endswith(("?", "？")):
            latest = short(words, WIDTH)
    if not latest or same(latest) == same(first):
        return first or None
    return f"{first}\n{LATEST}{latest}"
