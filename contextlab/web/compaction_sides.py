"""Before and after side by side: the figures of both memories, their tokens by kind, and what became of the items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from contextlab.core.items import KIND_CODE, Kind
from contextlab.queries.compaction import CompactionPage
from contextlab.queries.compaction_sides import MOST_RUNS, Stretch, both_sides, left_at, stretches
from contextlab.queries.recorded_compaction import Memory, RecordedCompaction
from contextlab.store.models import Session

SUMMARY = KIND_CODE[Kind.SUMMARY]
Row = tuple[str, str, int | None, int | None]
"""Label, where the figure comes from, before, after."""


@dataclass(frozen=True, slots=True)
class Sides:
    """What the panel shows. None is unknown."""

    rows: Sequence[Row]
    before: Sequence[int] = ()
    after: Sequence[int] = ()
    """Tokens by kind; empty where they cannot be told."""
    source: str = ""
    """Where the tokens by kind come from."""
    runs: Sequence[Stretch] = ()
    runs_more: int = 0
    totals: Sequence[tuple[str, int]] = ()
    """Verdicts with their number of items, over all runs."""
    linked: bool = True
    """False where the session was read anew since: positions are of another revision."""
    carried: bool = False
    """Whether an earlier summary of the log stood among the items."""

    @property
    def scale(self) -> int:
        """Full width of both bars."""
        return max(sum(self.before), sum(self.after))


def of_log(session: Session, found: RecordedCompaction) -> Sides:
    """Of a compaction that the log records."""
    before, after = found.before, found.after
    source = next((one.source for one in (before, after) if one), "")
    (items, tokens, told), (items_after, tokens_after, told_after) = _figures(before), _figures(after)
    rows: list[Row] = [
        ("items in context", "", items, items_after),
        ("tokens of what the log shows", source, tokens, tokens_after),
        ("input", "reported", told, told_after),
        ("tokens", "logged", found.pre_tokens, found.post_tokens),
    ]
    runs = left_at(session, found.at_step)
    return Sides(
        rows, _kinds(before), _kinds(after), source, runs[:MOST_RUNS], max(0, len(runs) - MOST_RUNS), _totals(runs)
    )  # fmt: skip


def of_run(session: Session, page: CompactionPage) -> Sides:
    """Of one that was made here."""
    report: dict[str, Any] = page.report or {}
    linked = page.revision == session.revision
    found = stretches(page.fates)
    before, after = (both_sides(session, found, page.tokens_after) if linked else None) or ((), ())
    rows: list[Row] = [
        ("items", "", report.get("source_items"), report.get("projected_items")),
        ("entries", "", report.get("source_entries"), report.get("projected_entries")),
        ("tokens", page.token_source, page.tokens_before, page.tokens_after),
        ("characters", "", report.get("source_chars"), report.get("projected_chars")),
    ]
    return Sides(
        rows, before, after, page.token_source if before else "", found[:MOST_RUNS],
        max(0, len(found) - MOST_RUNS), _totals(found), linked, bool(before and before[SUMMARY]),
    )  # fmt: skip


def _figures(memory: Memory | None) -> tuple[int | None, int | None, int | None]:
    return (memory.items, memory.tokens, memory.reported) if memory else (None, None, None)


def _totals(found: Sequence[Stretch]) -> list[tuple[str, int]]:
    sums: dict[str, int] = {}
    for run in found:
        sums[run.verdict] = sums.get(run.verdict, 0) + run.count
    return list(sums.items())


def _kinds(memory: Memory | None) -> Sequence[int]:
    return [tokens or 0 for tokens in memory.composition] if memory else ()
