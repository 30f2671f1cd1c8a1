"""A compaction that a log records, as its page shows it: what is known, and None for what is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from contextlab.adapters.prices import price_of
from contextlab.core.measuring.sums import sum_of_known
from contextlab.queries.items import ItemRow, read_items
from contextlab.queries.log_sizes import Sides, Stated, sizes_of
from contextlab.store.items import session_items
from contextlab.store.models import CompactionRecord, Session, StepRecord, StepReport, View
from contextlab.store.texts import read_texts

SHOWN_SUMMARY = 48 * 1024
"""Bytes of a summary that a page shows; its item has all of it."""
CHUNK = 500


@dataclass(frozen=True, slots=True)
class Memory:
    """A step's context: items and tokens, and where the tokens come from."""

    step: int
    items: int
    tokens: int | None
    source: str
    reported: int | None
    """Input tokens as the provider reported them."""
    composition: Sequence[int] = ()
    """Tokens by kind, in the order of KINDS (ui left out)."""


@dataclass(frozen=True, slots=True)
class Summariser:
    """The request that wrote the summary, where the agent logged it beside the session. Figures are reported."""

    session: UUID
    model: str
    input_tokens: int | None
    """The whole prompt, what came from the cache included."""
    cached_tokens: int | None
    output_tokens: int | None
    seconds: float | None
    cost: Decimal | None
    prices: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class RecordedCompaction:
    """One compaction of a log."""

    number: int
    at_step: int
    """The first step that saw the memory after it; behind the last step where none did."""
    origin: str
    trigger: str
    pre_tokens: int | None
    post_tokens: int | None
    tokens_saved: int | None
    opaque: bool
    items_summarised: int | None
    ts: datetime | None
    summary: ItemRow | None
    summary_text: str
    summary_cut: bool
    sizes: Sides
    """Tokens before and after."""
    before: Memory | None
    after: Memory | None
    previous: int | None
    following: int | None
    summariser: Summariser | None = None


def recorded_compaction(session: Session, number: int) -> RecordedCompaction | None:
    """A compaction by its number; None when the log has no such one."""
    records = CompactionRecord.objects.filter(session=session, revision=session.revision, micro=False)
    found = records.filter(number=number).first()
    if found is None:
        return None
    near = set(records.filter(number__in=(number - 1, number + 1)).values_list("number", flat=True))
    item, text = _summary(session, found.summary)
    return RecordedCompaction(
        number, found.at_step, found.origin, found.trigger, found.pre_tokens, found.post_tokens, found.tokens_saved,
        found.opaque, found.items_summarised, found.ts, item, text,
        item is not None and item.text_length > SHOWN_SUMMARY, sizes_of([_stated(session, found)])[0],
        _memory(session, found.at_step - 1), _memory(session, found.at_step),
        number - 1 if number - 1 in near else None, number + 1 if number + 1 in near else None,
        _summariser(session, records, found),
    )  # fmt: skip


def numbers_by_step(session: Session) -> dict[int, int]:
    """Number of each compaction of the log by the first step that saw the memory after it."""
    records = CompactionRecord.objects.filter(session=session, revision=session.revision, micro=False)
    return dict(records.values_list("at_step", "number"))


def number_of_summary(session: Session, position: int) -> int | None:
    """The compaction of the log whose summary is the item at this position."""
    records = CompactionRecord.objects.filter(session=session, revision=session.revision, micro=False)
    return records.filter(summary=position).values_list("number", flat=True).first()


def turn_of(session: Session, step: int | None) -> int | None:
    """The turn of a step, of the last one for a step behind it; None where there is none."""
    steps = StepRecord.objects.filter(session=session, revision=session.revision, number__lte=step or 0)
    return steps.order_by("-number").values_list("turn", flat=True).first() or None


def positions_of(session: Session, names: Sequence[str]) -> Mapping[str, int]:
    """Where items of these ids stand in the session; those that are not in its log are left out."""
    records = session_items(session)
    found: dict[str, int] = {}
    for start in range(0, len(names), CHUNK):
        rows = records.filter(native_id__in=names[start : start + CHUNK])
        found.update(rows.values_list("native_id", "position"))
    return found


def ids_at(session: Session, positions: Sequence[int]) -> Mapping[int, str]:
    """The ids of the items at these positions; those that there are not are left out."""
    records = session_items(session)
    return dict(records.filter(position__in=positions).values_list("position", "native_id"))


def _stated(session: Session, found: CompactionRecord) -> Stated:
    return Stated(session.pk, session.revision, found.at_step, found.pre_tokens, found.post_tokens)


def _summary(session: Session, position: int | None) -> tuple[ItemRow | None, str]:
    if position is None:
        return None, ""
    item = read_items(session.pk, session.revision, [position]).get(position)
    place = session_items(session).filter(position=position)
    refs = list(place.values_list("position", "text_segment", "text_offset", "text_length"))
    return item, read_texts(session.pk, session.revision, refs, SHOWN_SUMMARY).get(position, "")


def _memory(session: Session, step: int) -> Memory | None:
    """What stood in the context of a step of the log; None before the first, behind the last, and while unknown."""
    recorded = View.Kind.RECORDED
    reports = StepReport.objects.filter(view__session=session, view__kind=recorded, step=step)
    report = reports.filter(view__revision=session.revision).first()
    if report is None:
        return None
    steps = StepRecord.objects.filter(session=session, revision=session.revision, number=step)
    parts = steps.values_list("input", "cache_read", "cache_write").first() or ()
    return Memory(
        step, report.projected_items, report.projected_tokens, "counted" if report.counted else "estimated",
        sum_of_known(parts), tuple(report.composition or ()),
    )  # fmt: skip


def _summariser(
    session: Session, records: QuerySet[CompactionRecord], found: CompactionRecord
) -> Summariser | None:
    """The request that ended last before the compaction was recorded, and after the one before it was."""
    if found.ts is None:
        return None
    runs = Session.objects.filter(parent=session, role="compaction", last_at__lte=found.ts)
    before = records.filter(number=found.number - 1).values_list("ts", flat=True).first()
    if before is not None:
        runs = runs.filter(last_at__gt=before)
    run = runs.order_by("-last_at").first()
    return None if run is None else _usage_of(run)


def _usage_of(run: Session) -> Summariser:
    read = sum_of_known([run.input_tokens, run.cache_read_tokens, run.cache_write_tokens])
    priced = price_of(run.model, read, run.output_tokens, run.cache_read_tokens)
    took = (run.last_at - run.started_at).total_seconds() if run.last_at and run.started_at else None
    return Summariser(
        run.uid, run.model, read, run.cache_read_tokens, run.output_tokens, took,
        priced.cost if priced else None, priced.prices if priced else None,
    )  # fmt: skip
