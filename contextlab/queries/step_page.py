"""Everything that the step page shows, put together from reads of bounded size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contextlab.core.items import Reason
from contextlab.queries import changes as differences
from contextlab.queries import context as contexts
from contextlab.queries import step as steps
from contextlab.queries.changes import Changes, Part
from contextlab.queries.context import Entry, Fold, Gap, Scope, Share

BESIDE = 15
"""Rows shown below an item that an address points to."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The state that an address holds: which list, up to which position, which item."""

    show: str = ""
    before: int | None = None
    item: int | None = None


@dataclass(frozen=True, slots=True)
class StepPage:
    """One step of a session under a view; `scope` and all below it are None while the view has not come so far."""

    head: steps.StepHead
    turn: steps.TurnLine
    recorded: bool
    report: steps.ReportFigures | None = None
    scope: Scope | None = None
    lines: Sequence[steps.StepLine] = ()
    compactions: Sequence[steps.CompactionLine] = ()
    """Those in force from exactly this step on."""
    cuts: Sequence[int] = ()
    """Steps of `lines` at which a compaction took effect."""
    compaction_before: int | None = None
    compaction_after: int | None = None
    changes: Changes | None = None
    shares: Sequence[Share] | None = None
    entries: Sequence[Entry] = ()
    parts: Sequence[Part] = ()

    @property
    def stripped(self) -> int:
        """Reasoning items that the provider left out: the recorded view counts them as projected, with size 0."""
        return self.report.reasoning_cleared_items if self.report and self.recorded else 0

    @property
    def in_context(self) -> int:
        """Items of which something was sent."""
        return self.report.projected_items - self.stripped if self.report else 0

    @property
    def stubs(self) -> int:
        """Items of which a placeholder or a preview was sent."""
        return self.report.stubs - self.stripped if self.report else 0

    @property
    def left_out(self) -> int:
        """Items of which nothing was sent."""
        return self.report.left_out + self.stripped if self.report else 0

    @property
    def faults(self) -> Sequence[str]:
        """Faults of the log among the items in memory."""
        return self.report.source_faults if self.report else ()

    @property
    def over_limit(self) -> bool:
        """Whether the provider accepted a larger prompt than the limit allows."""
        return bool(self.head.limit and self.head.reported and self.head.reported > self.head.limit)

    @property
    def size_change(self) -> int | None:
        """How much the reported input grew since the step before."""
        before = next((line for line in self.lines if line.number == self.head.number - 1), None)
        if before is None or before.reported is None or self.head.reported is None:
            return None
        return self.head.reported - before.reported

    @property
    def fill(self) -> float | None:
        """Percent of the limit at this step: of the reported input, else of the calibrated or counted context."""
        size = self.size
        return size / self.head.limit * 100 if self.head.limit and size is not None else None

    @property
    def size(self) -> int | None:
        """The context's size by the best figure there is."""
        if self.head.reported is not None or self.report is None:
            return self.head.reported
        calibrated = self.report.calibrated_tokens
        return self.report.projected_tokens if calibrated is None else calibrated


@dataclass(frozen=True, slots=True)
class Seen:
    """A session under a view; `view_id` is None while the view has never been projected."""

    session_id: int
    revision: int
    view_id: int | None
    recorded: bool


def step_page(seen: Seen, number: int, wanted: Wanted) -> StepPage | None:
    """The page of a step; None when the session has no such step."""
    session_id, revision, view_id = seen.session_id, seen.revision, seen.view_id
    head = steps.step_head(session_id, revision, number)
    if head is None:
        return None
    turn = steps.turn_line(session_id, revision, head.turn)
    report = steps.step_report(view_id, number) if view_id is not None else None
    if report is None or view_id is None:
        return StepPage(head, turn, seen.recorded)
    scope = steps.scope_of(session_id, revision, view_id, head, report)
    before, after = steps.compactions_around(session_id, revision, number)
    lines = steps.steps_between(session_id, revision, view_id, *steps.around(number))
    cuts = steps.compaction_numbers(session_id, revision, [line.number for line in lines])
    found = differences.changes(scope)
    return StepPage(
        head, turn, seen.recorded, report, scope,
        lines=lines, cuts=tuple(cuts), compactions=steps.compactions_at(session_id, revision, number),
        compaction_before=before, compaction_after=after, changes=found, shares=contexts.shares(scope),
        entries=() if wanted.show == "changes" else entries(scope, wanted),
        parts=differences.listing(scope, found) if wanted.show == "changes" else (),
    )  # fmt: skip


def entries(scope: Scope, wanted: Wanted) -> list[Entry]:
    """The list that an address asks for; with an item in it if it stood in memory at this step."""
    if wanted.show == "cleared":
        return contexts.cleared_list(scope, wanted.before)
    if wanted.show == "left-out":
        return contexts.left_out_list(scope, wanted.before)
    found = contexts.context_list(scope, wanted.before)
    item = wanted.item
    if item is None or item >= scope.upto:
        return found
    if not any(_holds(entry, item) for entry in found):
        found = contexts.context_list(scope, min(scope.upto, item + BESIDE))
    return contexts.selected_fold(found, item)


def _holds(entry: Entry, position: int) -> bool:
    if isinstance(entry, Gap):
        return False
    if isinstance(entry, Fold):
        return entry.first <= position <= entry.last
    return entry.item.position == position


def compaction_steps(found: Sequence[Entry]) -> set[int]:
    """Steps whose compaction the folds of a list need to name."""
    return {entry.since for entry in found if isinstance(entry, Fold) and Reason.COMPACTED in entry.reasons}
