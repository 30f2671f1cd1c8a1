"""Without a model: what a budget keeps stays, and a line says how much went.

| rule                                                                                                     |
|----------------------------------------------------------------------------------------------------------|
| due when memory has more entries than `max_items`; other limits alone never make it due                  |
| the default projector decides what is kept, with all limits of the budget                                |
| in safe mode an unanswered prompt stays too (only max_items 0 takes it)                                  |
| the summary: a marker, the earlier summary, the counts; what an earlier one of these said is not repeated |

It fills no section: the items that are gone are dropped, not summarised, and it says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

from contextlab.core.budget import Budget
from contextlab.core.compaction import CompactResult, Decision, Deps, Outcome, Snapshot
from contextlab.core.documents.options import LIMITS, read_budget
from contextlab.core.items import Verdict
from contextlab.core.measuring.figures import Figures
from contextlab.core.measuring.memory_size import context_items, snapshot_entries
from contextlab.core.projection import project
from contextlab.core.report import Report
from contextlab.core.summarising.cut import open_prompt
from contextlab.core.summarising.outcomes import fate_kept

MARKER = "AI4J_COMPACT_SUMMARY"
EARLIER = "Existing summary:"
CLOSING = "What was left out is no longer in this memory; look it up again before relying on it."
_COUNTS = re.compile(r"Context projection: \d+/\d+ items retained(, \d+ dropped)?\.")


@dataclass(slots=True, frozen=True)
class StructuredSummary:
    """Keeps what the budget keeps; says nothing about the content of the rest."""

    kind: ClassVar[str] = "structured_summary"
    needs_model: ClassVar[bool] = False
    budget: Budget = field(default_factory=Budget)

    @classmethod
    def from_options(cls, options: Mapping[str, object], mode: str) -> Self:
        """Read the limits of a budget; raises PolicyError."""
        return cls(read_budget(options, LIMITS, mode, "compaction"))

    def should_compact(self, snapshot: Snapshot | None) -> Decision:
        """Due when there are more entries than max_items."""
        return more_entries(snapshot, self.budget.max_items)

    def judge(self, figures: Figures) -> Decision:
        """The same by figures alone."""
        return by_entries(figures.entries, self.budget.max_items)

    def compact(self, snapshot: Snapshot | None, deps: Deps) -> Outcome:
        """Keep what the budget keeps; never fails, and answers for an empty memory too."""
        snapshot = snapshot or Snapshot()
        prompt = open_prompt(snapshot.items) if self.budget.safe else None
        held = deps.pins | ({prompt} if prompt else set())
        shown = context_items(snapshot)
        items = [replace(item, pinned=item.pinned or item.id in held) for item in shown]
        seen = project(items, self.budget, deps.count)
        result = CompactResult(summary=self._summary(snapshot, seen.report), strategy="structured-summary")
        result.report = seen.report
        fates = {item.id: fate_kept(item, deps) for item in snapshot.items}
        fates |= {item.id: fate for item, fate in zip(shown, seen.fates, strict=True)}
        kept = tuple(item for item in snapshot.items if fates[item.id].verdict != Verdict.DROPPED)
        if prompt in fates and fates[prompt].verdict == Verdict.PINNED:
            fates[prompt] = fate_kept(next(item for item in snapshot.items if item.id == prompt), deps)
        covered = tuple(item for item, fate in fates.items() if fate.verdict == Verdict.DROPPED)
        memory = Snapshot(kept, result.summary, result, snapshot.version)
        return Outcome(result, memory=memory, fates=fates, covered=covered)

    def _summary(self, snapshot: Snapshot, report: Report) -> str:
        earlier = (snapshot.summary or "").strip()
        if self.budget.safe:
            earlier = without_mechanical_lines(earlier)
        dropped = f", {report.dropped_entries} dropped" if report.dropped_entries else ""
        counts = (
            f"Context projection: {report.projected_entries}/{report.source_entries} items retained{dropped}."
        )
        return "\n".join([MARKER, *([EARLIER, earlier] if earlier else []), counts, CLOSING])


POLICY = StructuredSummary


def more_entries(snapshot: Snapshot | None, limit: int | None) -> Decision:
    """The decision of policies that go by the number of entries: strictly more than the limit."""
    return by_entries(snapshot_entries(snapshot) if snapshot else 0, limit)


def by_entries(entries: int, limit: int | None) -> Decision:
    """The same, of so many entries."""
    if limit is None:
        return Decision(False, "no max_items", entries)
    return Decision(entries > limit, f"items > {limit:,}", entries, limit)


def without_mechanical_lines(summary: str) -> str:
    """A summary without the lines that this policy wrote into it before."""
    lines = summary.splitlines()
    return "\n".join(
        line for line in lines if line not in (MARKER, EARLIER, CLOSING) and not _COUNTS.fullmatch(line)
    ).strip()
