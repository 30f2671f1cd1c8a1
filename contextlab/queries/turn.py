"""Turns: the table of a session's turns, and one turn with its steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Max, Min, OuterRef, QuerySet, Subquery, Value

from contextlab.core.items import KIND_CODE, Kind
from contextlab.queries.items import COLUMNS, ItemRow, item_rows
from contextlab.queries.layered import reports_of, steps_between
from contextlab.queries.marks import Mark, marks_between
from contextlab.queries.step import REPORT_COLUMNS, ReportFigures, Seen, StepLine
from contextlab.store.models import ItemRecord, StepRecord, TurnRecord

TURNS = 50
STEPS = 60


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A turn with the report of its last step. Turn 0 is what stands before the first prompt."""

    number: int
    title: str
    trigger: str
    status: str
    first_step: int | None
    last_step: int | None
    ts: datetime | None
    low: int | None
    """Smallest and largest context of its steps, counted or estimated as the report says."""
    high: int | None
    report: ReportFigures | None
    compactions: Sequence[Mark]
    """Those of the view that took effect in it, or would have."""

    @property
    def steps(self) -> int:
        """Number of its model calls."""
        if self.first_step is None or self.last_step is None:
            return 0
        return self.last_step - self.first_step + 1


@dataclass(frozen=True, slots=True)
class TurnTable:
    """A page of turns."""

    rows: Sequence[TurnRow]
    before: int | None
    """Number to continue from towards the beginning, None at it."""
    after: int | None

    @property
    def largest(self) -> int:
        """Largest context at the end of one of them."""
        return max((row.report.projected_tokens or 0 for row in self.rows if row.report), default=0)


@dataclass(frozen=True, slots=True)
class TurnPage:
    """One turn."""

    row: TurnRow
    prompt: Sequence[ItemRow]
    """The user items that it begins with."""
    lines: Sequence[StepLine]
    before: int | None
    """Step from which the list of steps continues towards the beginning of the turn."""
    after: int | None


def turn_table(seen: Seen, first: int, rows: int = TURNS) -> TurnTable:
    """The turns from number `first` on."""
    start = max(first, 0)
    found = list(_turns(seen).filter(number__gte=start).order_by("number").values_list(*_COLUMNS)[: rows + 1])
    shown = found[:rows]
    made = _rows(seen, shown)
    if start <= 1 and (opening := before_first_turn(seen)) is not None:
        made = [opening, *made]
    return TurnTable(
        made, max(start - rows, 0) if start > 1 else None, found[rows][0] if len(found) > rows else None
    )


def before_first_turn(seen: Seen) -> TurnRow | None:
    """The steps before the first turn as a turn 0; None when there are none."""
    steps = StepRecord.objects.filter(session_id=seen.session_id, revision=seen.revision)
    if steps.filter(number=1, turn=0).first() is None:
        return None
    last = steps.filter(turn=0).order_by("-number").values_list("number", flat=True).first()
    return _rows(seen, [(0, "", "", "", 1, last, None, *_extremes(seen, 1, last or 1))])[0]


def turn_page(seen: Seen, number: int, first: int | None) -> TurnPage | None:
    """A turn with its steps from `first` on; None when the session has no such turn."""
    found = list(_turns(seen).filter(number=number).values_list(*_COLUMNS))
    row = _rows(seen, found)[0] if found else before_first_turn(seen) if number == 0 else None
    if row is None:
        return None
    start, end = row.first_step, row.last_step
    if start is None or end is None:
        return TurnPage(row, _prompt(seen, number), (), None, None)
    at = min(max(first or start, start), end)
    stop = min(at + STEPS - 1, end)
    lines = steps_between(seen, at, stop)
    before = max(at - STEPS, start) if at > start else None
    return TurnPage(row, _prompt(seen, number), lines, before, stop + 1 if stop < end else None)


_COLUMNS = ("number", "title", "trigger", "status", "first_step", "last_step", "ts", "low", "high")


def _turns(seen: Seen) -> QuerySet[TurnRecord, Any]:
    turns = TurnRecord.objects.filter(session_id=seen.session_id, revision=seen.revision)
    of_turn = reports_of(seen).filter(step__gte=OuterRef("first_step"), step__lte=OuterRef("last_step"))
    whole = of_turn.annotate(one=Value(1)).values("one")  # a turn may lie in two views
    low = whole.annotate(size=Min("projected_tokens")).values("size")
    high = whole.annotate(size=Max("projected_tokens")).values("size")
    return turns.annotate(low=Subquery(low), high=Subquery(high))


def _extremes(seen: Seen, first: int, last: int) -> tuple[int | None, int | None]:
    found = (
        reports_of(seen)
        .filter(step__range=(first, last))
        .aggregate(low=Min("projected_tokens"), high=Max("projected_tokens"))
    )
    return found["low"], found["high"]


def _rows(seen: Seen, turns: Sequence[tuple[Any, ...]]) -> list[TurnRow]:
    ends = [last for _, _, _, _, _, last, *_ in turns if last is not None]
    reports = reports_of(seen).filter(step__in=ends).values_list(*REPORT_COLUMNS)
    by_step = {values[0]: ReportFigures(*values) for values in reports}
    first = min((start for _, _, _, _, start, *_ in turns if start is not None), default=0)
    marks = marks_between(seen, first, max(ends, default=0))
    rows = []
    for number, title, trigger, status, start, end, ts, low, high in turns:
        inside = [
            mark for mark in marks if start is not None and end is not None and start <= mark.step <= end
        ]
        report = by_step.get(end) if end is not None else None
        rows.append(TurnRow(number, title, trigger, status, start, end, ts, low, high, report, inside))
    return rows


def _prompt(seen: Seen, number: int) -> list[ItemRow]:
    """The user items at the beginning of a turn: what was asked, and what the agent put beside it."""
    turns = TurnRecord.objects.filter(session_id=seen.session_id, revision=seen.revision, number=number)
    first = turns.values_list("first_position", flat=True).first() or 0
    records = ItemRecord.objects.filter(
        session_id=seen.session_id, revision=seen.revision, turn=number,
        position__gte=first, position__lt=first + 30, kind__in=(KIND_CODE[Kind.USER], KIND_CODE[Kind.SYSTEM]),
    )  # fmt: skip
    return item_rows(records.order_by("position").values_list(*COLUMNS)[:8])
