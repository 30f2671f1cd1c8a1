"""Step reports and spans of views, written in batches that touch only what changed.

Reports go in blocks of BLOCK steps; a view keeps a digest of each block that is stored, changed in the same transaction
as the block's rows, so that a session that grew by a step writes one block and not 20,000 reports.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from typing import Any

import msgspec
from django.db import transaction

from contextlab.core.items import VERDICT_CODE
from contextlab.core.report import Report
from contextlab.core.spans import Span
from contextlab.services.figures import is_counted
from contextlab.services.work import Work
from contextlab.store.batch import Batch
from contextlab.store.bulk import bulk_update
from contextlab.store.models import Run, SpanRecord, StepReport, View

BLOCK = 256
BATCH = 4000
"""Rows of one transaction."""

REPORT_COLUMNS = (
    "view_id", "step", "source_items", "projected_items", "dropped_items", "pinned_items", "cleared_items",
    "reasoning_cleared_items", "offloaded_items", "summarised_items", "source_entries", "projected_entries",
    "dropped_entries", "source_chars", "projected_chars", "source_tokens", "projected_tokens", "counted",
    "calibrated_tokens", "reasoning_tokens", "blocks", "band", "hidden_tokens", "limits_hit", "head_end", "tail_start",
    "composition", "finding",
    "notes", "source_faults",
)  # fmt: skip
SPAN_COLUMNS = ("view_id", "first_item", "last_item", "verdict", "reason", "first_step", "end_step")
VIEW_COLUMNS = (
    "version", "digests", "chart", "steps", "stale", "counted", "revision", "calibrations", "recalibrate",
)  # fmt: skip
MOST_FAULTS = 50
"""Faults of the source that a step's row lists."""

Row = tuple[Any, ...]


class Superseded(Exception):
    """Somebody else is projecting this view, or has since."""


def report_row(step: int, report: Report) -> Row:
    """REPORT_COLUMNS without the view."""
    limits = (
        report.item_limit_applied
        | report.character_limit_applied << 1
        | report.token_limit_applied << 2
        | report.over_budget << 3
    )
    return (
        step, report.source_items, report.projected_items, report.dropped_items, report.pinned_items,
        report.cleared_items, report.reasoning_cleared_items, report.offloaded_items, report.summarised_items,
        report.source_entries, report.projected_entries, report.dropped_entries, report.source_chars,
        report.projected_chars, report.source_tokens, report.projected_tokens, is_counted(report),
        report.calibrated_tokens, report.reasoning_tokens, report.blocks, report.band, report.hidden_tokens, limits,
        report.head_end, report.tail_start,
        list(report.composition), report.finding or "", report.notes, report.source_faults[:MOST_FAULTS],
    )  # fmt: skip


def span_row(span: Span) -> Row:
    """SPAN_COLUMNS without the view."""
    reason = span.reason or ""
    verdict = VERDICT_CODE[span.verdict]
    return span.first_item, span.last_item, verdict, str(reason), span.first_step, span.end_step


class ViewWriter:
    """Writes the rows of views, one view after the other; small ones share a transaction."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._batch = Batch()
        self._rows = 0
        self._old_reports: list[tuple[View, int, int | None]] = []
        self._old_spans: list[int] = []
        self._touched: dict[int, View] = {}
        self._block: list[Row] = []
        self._number = 0
        self._done = 0

    def add_report(self, view: View, row: Row) -> None:
        """The report of the view's next step."""
        self._block.append(row)
        if len(self._block) == BLOCK:
            self._end_block(view)

    def end(self, view: View, spans: Sequence[Span]) -> None:
        """All reports of the view are given: write its spans, and remove reports of steps that are no more."""
        self._end_block(view)
        if len(view.digests) > self._number:
            self._old_reports.append((view, _first_of(view, self._number), None))
            del view.digests[self._number :]
        self._number = 0
        self._write_spans(view, [span_row(span) for span in spans])
        self._touched[view.pk] = view

    def flush(self, doing: str = "projecting") -> None:
        """Write what was collected; raises Superseded (nothing is written then), Lost or Cancelled."""
        with transaction.atomic():
            if self._work.run.kind == Run.Kind.PROJECT:
                self._work.check_in(self._done, self._work.run.total, doing)
            else:
                self._work.still_ours(doing)
            _save(self._touched.values())
            for view, first, last in self._old_reports:
                rows = StepReport.objects.filter(view=view, step__gte=first)
                (rows if last is None else rows.filter(step__lte=last)).delete()
            for start in range(0, len(self._old_spans), 500):
                SpanRecord.objects.filter(pk__in=self._old_spans[start : start + 500]).delete()
            self._batch.write()
        self._old_reports, self._old_spans, self._touched, self._rows = [], [], {}, 0

    def _end_block(self, view: View) -> None:
        if not self._block:
            return
        rows, self._block = self._block, []
        number, self._number = self._number, self._number + 1
        self._done += len(rows)
        digest = hashlib.sha1(msgspec.json.encode(rows), usedforsecurity=False).hexdigest()
        if number < len(view.digests) and view.digests[number] == digest:
            return
        self._make_room(len(rows))
        if number < len(view.digests):
            first = _first_of(view, number)
            self._old_reports.append((view, first, first + BLOCK - 1))
        view.digests[number : number + 1] = [digest]
        self._touched[view.pk] = view
        self._add(StepReport, REPORT_COLUMNS, view, rows)

    def _write_spans(self, view: View, rows: list[Row]) -> None:
        """Exchange those spans that differ from the stored ones."""
        known: dict[Row, int] = {}
        if view.version:
            stored = SpanRecord.objects.filter(view=view).values_list("id", *SPAN_COLUMNS[1:])
            known = {tuple(row): key for key, *row in stored}
        fresh = [row for row in rows if known.pop(row, None) is None]
        self._old_spans += known.values()
        for start in range(0, len(fresh), BATCH):
            some = fresh[start : start + BATCH]
            self._make_room(len(some))
            self._add(SpanRecord, SPAN_COLUMNS, view, some)

    def _make_room(self, rows: int) -> None:
        """Write what was collected if these rows would be too many with it; before their digest is set."""
        if self._rows + rows > BATCH:
            self.flush()

    def _add(self, model: Any, columns: Sequence[str], view: View, rows: list[Row]) -> None:
        self._touched[view.pk] = view
        self._batch.add(model, columns, [(view.pk, *row) for row in rows])
        self._rows += len(rows)


def _first_of(view: View, block: int) -> int:
    """The first step of a block; a view on top of a branch has none before the branch's step."""
    return (view.base_step or 1) + block * BLOCK


def _save(views: Collection[View]) -> None:
    """Write the views' own rows, unless somebody else has written one of them since it was read."""
    rows = [
        (
            view.version + 1, view.digests, view.chart, view.steps, view.stale, view.counted, view.revision,
            view.calibrations, view.recalibrate,
            view.pk, view.version,
        )
        for view in views
    ]  # fmt: skip
    if bulk_update(View, VIEW_COLUMNS, rows, where=("id", "version")) != len(rows):
        raise Superseded
    for view in views:
        view.version += 1
