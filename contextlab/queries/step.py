"""The step page: one model call, what it saw and what it did not, without reading the session around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime

from django.db.models import QuerySet

from contextlab.core.measuring.sums import sum_of_known
from contextlab.queries.scope import Scope
from contextlab.store.models import StepRecord, StepReport, TurnRecord

STEPS_AROUND = 8
SMALL_GAP = 100
"""Items. Shorter stretches are folded inside the list like any other."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A session under a view; `view_id` is None while the view has never been projected."""

    session_id: int
    revision: int
    view_id: int | None
    recorded: bool


@dataclass(frozen=True, slots=True)
class StepHead:
    """A step's own facts, with what the provider reported. None = not known."""

    number: int
    native_id: str
    turn: int
    upto: int
    model: str
    limit: int | None
    limit_source: str
    exact: bool
    input: int | None
    cache_read: int | None
    cache_write: int | None
    output: int | None
    reasoning: int | None
    usage_partial: bool
    restart: str
    ts: datetime | None

    @property
    def reported(self) -> int | None:
        """The provider's whole input: input + cache reads + cache writes."""
        return sum_of_known((self.input, self.cache_read, self.cache_write))


@dataclass(frozen=True, slots=True)
class ReportFigures:
    """The stored ContextReport of a step (core.report.Report explains each figure)."""

    step: int
    source_items: int
    projected_items: int
    dropped_items: int
    pinned_items: int
    cleared_items: int
    reasoning_cleared_items: int
    offloaded_items: int
    summarised_items: int
    source_entries: int
    projected_entries: int
    dropped_entries: int
    source_chars: int
    projected_chars: int
    source_tokens: int | None
    projected_tokens: int | None
    counted: bool
    calibrated_tokens: int | None
    band: float | None
    hidden_tokens: int | None
    limits_hit: int
    head_end: int | None
    tail_start: int | None
    composition: Sequence[int]
    finding: str
    notes: Sequence[str]
    source_faults: Sequence[str]

    @property
    def token_source(self) -> str:
        """Where the token figures come from."""
        return "counted" if self.counted else "estimated"

    @property
    def stubs(self) -> int:
        """Items of which a placeholder or a preview stood in the context."""
        return self.cleared_items + self.reasoning_cleared_items + self.offloaded_items

    @property
    def left_out(self) -> int:
        """Items of which nothing stood in the context."""
        return self.dropped_items + self.summarised_items

    @property
    def band_percent(self) -> float | None:
        """Half-width of the calibrated figure's error band, in percent."""
        return None if self.band is None else self.band * 100

    @property
    def item_limit_applied(self) -> bool:
        """Whether the item limit left something out."""
        return bool(self.limits_hit & 1)

    @property
    def character_limit_applied(self) -> bool:
        """Whether the character limit left something out."""
        return bool(self.limits_hit & 2)

    @property
    def token_limit_applied(self) -> bool:
        """Whether the token limit left something out."""
        return bool(self.limits_hit & 4)

    @property
    def over_budget(self) -> bool:
        """Whether what must be kept is more than the budget."""
        return bool(self.limits_hit & 8)


REPORT_COLUMNS = tuple(field.name for field in fields(ReportFigures))
HEAD_COLUMNS = tuple(field.name for field in fields(StepHead))


@dataclass(frozen=True, slots=True)
class StepLine:
    """A step in the list of steps beside the context."""

    number: int
    turn: int
    reported: int | None
    projected_tokens: int | None
    composition: Sequence[int]
    finding: str

    @property
    def size(self) -> int | None:
        """Reported where the provider reported it, else counted or estimated."""
        return self.projected_tokens if self.reported is None else self.reported


@dataclass(frozen=True, slots=True)
class TurnLine:
    """A turn by what it asked."""

    number: int
    title: str
    first_step: int | None
    last_step: int | None


@dataclass(frozen=True, slots=True)
class Around:
    """A step and its neighbours, read at once."""

    heads: Mapping[int, StepHead]
    reports: Mapping[int, ReportFigures]
    """Those that the view has."""

    def lines(self) -> list[StepLine]:
        """The steps in order."""
        return [line_of(self.heads[number], self.reports.get(number)) for number in sorted(self.heads)]

    def scope(self, seen: Seen, number: int) -> Scope | None:
        """What lists of a step need; None where the session or the view has no such step."""
        head, report = self.heads.get(number), self.reports.get(number)
        if head is None or report is None or seen.view_id is None:
            return None
        before, report_before = self.heads.get(number - 1), self.reports.get(number - 1)
        head_end, tail_start = _gap(report)
        return Scope(
            seen.session_id, seen.revision, seen.view_id, number, head.upto,
            previous_upto=before.upto if before else 0, head_end=head_end, tail_start=tail_start,
            previous_tail=_gap(report_before)[1] if report_before else 0,
        )  # fmt: skip


def read_around(seen: Seen, first: int, last: int, among: QuerySet[StepReport] | None = None) -> Around:
    """The steps of a range with their reports: those of the view itself, or `among` those of its layers."""
    heads = StepRecord.objects.filter(
        session_id=seen.session_id, revision=seen.revision, number__range=(first, last)
    )
    own = StepReport.objects.filter(view_id=seen.view_id or 0) if among is None else among
    reports = own.filter(step__range=(first, last))
    return Around(
        {values[0]: StepHead(*values) for values in heads.values_list(*HEAD_COLUMNS)},
        {values[0]: ReportFigures(*values) for values in reports.values_list(*REPORT_COLUMNS)},
    )


def scope_at(seen: Seen, number: int) -> Scope | None:
    """What lists of a step need; None where the session or the view has no such step."""
    return read_around(seen, number - 1, number).scope(seen, number)


def _gap(report: ReportFigures) -> tuple[int, int]:
    """The stretch that is left out as a whole; (0, 0) where there is none worth to be told apart from its tail."""
    start, end = report.head_end, report.tail_start
    if start is None or end is None or end - start < max(SMALL_GAP, 1):
        return 0, 0
    return start, end


def line_of(head: StepHead, report: ReportFigures | None) -> StepLine:
    """A step as a line of a list."""
    if report is None:
        return StepLine(head.number, head.turn, head.reported, None, (), "")
    return StepLine(
        head.number, head.turn, head.reported, report.projected_tokens, report.composition, report.finding
    )


def around(number: int) -> tuple[int, int]:
    """The steps shown beside a step, as a range."""
    return max(1, number - STEPS_AROUND), number + STEPS_AROUND


def turn_line(seen: Seen, number: int) -> TurnLine:
    """What a turn asked, its first and last step; turn 0 is what stands before the first one."""
    turns = TurnRecord.objects.filter(session_id=seen.session_id, revision=seen.revision, number=number)
    found = turns.values_list("title", "first_step", "last_step").first()
    return TurnLine(number, *(found or ("", None, None)))
