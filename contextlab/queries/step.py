"""The step page: one model call, what it saw and what it did not, without reading the session around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from contextlab.queries.context import Scope
from contextlab.store.models import CompactionRecord, StepRecord, StepReport, TurnRecord

STEPS_AROUND = 8
SMALL_GAP = 100
"""Items. Shorter stretches are folded inside the list like any other."""


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
    ts: datetime | None

    @property
    def reported(self) -> int | None:
        """The provider's whole input: input + cache reads + cache writes."""
        parts = [part for part in (self.input, self.cache_read, self.cache_write) if part is not None]
        return sum(parts) if parts else None


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
class CompactionLine:
    """A compaction that the log records, as a mark."""

    number: int
    micro: bool
    at_step: int
    trigger: str
    pre_tokens: int | None
    post_tokens: int | None
    tokens_saved: int | None
    opaque: bool
    summary: int | None
    items_summarised: int | None
    ts: datetime | None


COMPACTION_COLUMNS = tuple(field.name for field in fields(CompactionLine))


def step_head(session_id: int, revision: int, number: int) -> StepHead | None:
    """A step by its number; None when the session has no such step."""
    records = StepRecord.objects.filter(session_id=session_id, revision=revision, number=number)
    values = records.values_list(*HEAD_COLUMNS).first()
    return StepHead(*values) if values else None


def step_report(view_id: int, number: int) -> ReportFigures | None:
    """The report of a step in a view; None when the view has not come so far."""
    values = StepReport.objects.filter(view_id=view_id, step=number).values_list(*REPORT_COLUMNS).first()
    return ReportFigures(*values) if values else None


def scope_of(session_id: int, revision: int, view_id: int, head: StepHead, report: ReportFigures) -> Scope:
    """What a list of the step's context needs."""
    return Scope(
        session_id, revision, view_id, head.number, head.upto,
        _previous_upto(session_id, revision, head.number), *_gap(report),
    )  # fmt: skip


def _gap(report: ReportFigures) -> tuple[int, int]:
    """The stretch that is left out as a whole; (0, 0) where there is none worth to be told apart from its tail."""
    start, end = report.head_end, report.tail_start
    if start is None or end is None or end - start < max(SMALL_GAP, 1):
        return 0, 0
    return start, end


def _previous_upto(session_id: int, revision: int, number: int) -> int:
    before = StepRecord.objects.filter(session_id=session_id, revision=revision, number=number - 1)
    return before.values_list("upto", flat=True).first() or 0


def steps_between(session_id: int, revision: int, view_id: int, first: int, last: int) -> list[StepLine]:
    """The steps of a range, in order, with their composition in the view."""
    heads = StepRecord.objects.filter(session_id=session_id, revision=revision, number__range=(first, last))
    reports = StepReport.objects.filter(view_id=view_id, step__range=(first, last))
    found = {
        step: (tokens, composition, finding)
        for step, tokens, composition, finding in reports.values_list(
            "step", "projected_tokens", "composition", "finding"
        )
    }
    columns = ("number", "turn", "input", "cache_read", "cache_write")
    lines = []
    for number, turn, *parts in heads.order_by("number").values_list(*columns):
        known = [part for part in parts if part is not None]
        tokens, composition, finding = found.get(number, (None, (), ""))
        lines.append(StepLine(number, turn, sum(known) if known else None, tokens, composition, finding))
    return lines


def around(number: int) -> tuple[int, int]:
    """The steps shown beside a step, as a range."""
    return max(1, number - STEPS_AROUND), number + STEPS_AROUND


def turn_line(session_id: int, revision: int, number: int) -> TurnLine:
    """What a turn asked, its first and last step; turn 0 is what stands before the first one."""
    turns = TurnRecord.objects.filter(session_id=session_id, revision=revision, number=number)
    found = turns.values_list("title", "first_step", "last_step").first()
    return TurnLine(number, *(found or ("", None, None)))


def compactions_at(session_id: int, revision: int, step: int) -> list[CompactionLine]:
    """The log's compactions in force from exactly this step on."""
    return _compactions(session_id, revision, at_step=step)[:4]


def compactions_around(session_id: int, revision: int, step: int) -> tuple[int | None, int | None]:
    """Steps at which the nearest compaction before and after this step took effect."""
    marks = CompactionRecord.objects.filter(session_id=session_id, revision=revision, micro=False)
    steps = marks.order_by("number").values_list("at_step", flat=True)
    before = steps.filter(at_step__lt=step).last()
    return before, steps.filter(at_step__gt=step).first()


def compaction_numbers(session_id: int, revision: int, steps: Sequence[int]) -> dict[int, int]:
    """Number of the compaction that took effect at each of these steps, where one did."""
    marks = CompactionRecord.objects.filter(session_id=session_id, revision=revision, micro=False)
    return dict(marks.filter(at_step__in=set(steps)).values_list("at_step", "number"))


def _compactions(session_id: int, revision: int, **where: Any) -> list[CompactionLine]:
    marks = CompactionRecord.objects.filter(session_id=session_id, revision=revision, **where)
    return [
        CompactionLine(*values)
        for values in marks.order_by("micro", "number").values_list(*COMPACTION_COLUMNS)
    ]
