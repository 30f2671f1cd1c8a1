"""Everything that the step page shows, put together from reads of bounded size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from contextlab.core.measuring.calibrations import InUse
from contextlab.queries import changes as differences
from contextlab.queries import context as contexts
from contextlab.queries import step as steps
from contextlab.queries.calibrations import calibration_at
from contextlab.queries.changes import Changes, Part
from contextlab.queries.context import Entry, Fold, Gap
from contextlab.queries.layered import steps_between
from contextlab.queries.marks import Mark, read_marks
from contextlab.queries.scope import Reading, Scope
from contextlab.queries.shares import Share, shares
from contextlab.queries.step import Seen

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
    compactions: Sequence[Mark] = ()
    """Those of the view in force from exactly this step on."""
    compaction_numbers: Mapping[int, int] = field(default_factory=dict)
    """Number of the compaction by the step at which it took effect."""
    compaction_before: int | None = None
    compaction_after: int | None = None
    changes: Changes | None = None
    shares: Sequence[Share] | None = None
    entries: Sequence[Entry] = ()
    parts: Sequence[Part] = ()
    calibration: InUse | None = None
    """What the calibrated figure rests on; None where that was not kept."""
    recalibrated: bool = False
    """Something else is in use by now: the figures are made anew in the background."""

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
    def shown_too_much(self) -> int | None:
        """By how much the log's calibrated size exceeds the reported input; None where it does not."""
        hidden = self.report.hidden_tokens if self.report else None
        return -hidden if hidden is not None and hidden < 0 else None

    @property
    def faults(self) -> Sequence[str]:
        """Faults of the log among the items in memory."""
        return self.report.source_faults if self.report else ()

    @property
    def over_limit(self) -> bool:
        """Whether the provider accepted a larger prompt than the limit allows, which disproves the limit."""
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
        if self.report is None or (self.recorded and self.head.reported is not None):
            return self.head.reported
        calibrated = self.report.calibrated_tokens
        return self.report.projected_tokens if calibrated is None else calibrated


def step_page(seen: Seen, number: int, wanted: Wanted, whole: Seen | None = None) -> StepPage | None:
    """The page of a step; None when the session has no such step. `whole` is the view of which `seen` is the layer that
    the step lies in: the steps beside it may lie in another one."""
    near = steps.read_around(seen, *steps.around(number))
    head = near.heads.get(number)
    if head is None:
        return None
    turn, scope = steps.turn_line(seen, head.turn), near.scope(seen, number)
    if scope is None:
        return StepPage(head, turn, seen.recorded)
    used, outdated = calibration_at(seen.view_id, head.model)
    marks, reading, found = read_marks(seen, number), Reading(scope), differences.changes(scope)
    before, after = marks.around(number)
    shared = whole is not None and not whole.recorded
    lines = steps_between(whole or seen, *steps.around(number)) if shared else near.lines()
    return StepPage(
        head, turn, seen.recorded, near.reports[number], scope, lines=lines, compactions=marks.here,
        compaction_numbers=marks.numbers(), compaction_before=before, compaction_after=after, changes=found,
        shares=shares(reading), entries=entries(reading, wanted),
        parts=differences.listing(scope, found) if wanted.show == "changes" else (), calibration=used,
        recalibrated=outdated,
    )  # fmt: skip


def entries(reading: Reading, wanted: Wanted) -> list[Entry]:
    """The list that an address asks for; with an item in it if it stood in memory at this step."""
    if wanted.show == "changes":
        return []
    if wanted.show == "cleared":
        return contexts.cleared_list(reading, wanted.before)
    if wanted.show == "left-out":
        return contexts.left_out_list(reading, wanted.before)
    found = contexts.context_list(reading, wanted.before)
    item, upto = wanted.item, reading.scope.upto
    if item is None or item >= upto:
        return found
    if not any(_holds(entry, item) for entry in found):
        found = contexts.context_list(reading, min(upto, item + BESIDE))
    return contexts.selected_fold(found, item)


def _holds(entry: Entry, position: int) -> bool:
    if isinstance(entry, Gap):
        return False
    if isinstance(entry, Fold):
        return entry.first <= position <= entry.last
    return entry.item.position == position
