"""Reconciliation of a session: a sheet for each of its steps, from the rows of its recorded view."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db.models import F

from contextlab.core.audit.reconcile import Measure, Sheet, Summary, Unexplained, share_below, sheets
from contextlab.core.items import KINDS, Kind, Reason
from contextlab.core.measuring.calibrations import InUse
from contextlab.core.measuring.sums import sum_of_known
from contextlab.core.timeline import FLAG_MEDIA
from contextlab.queries.calibrations import calibrations_of
from contextlab.queries.kept import Kept
from contextlab.store.items import session_items
from contextlab.store.models import (
    CompactionRecord,
    MarkRecord,
    Session,
    StepRecord,
    StepReport,
    View,
)

LISTED = 200
"""Unexplained steps that are listed at most."""

_REPORT = (
    "step", "calibrated_tokens", "band", "projected_tokens", "finding", "composition", "reasoning_tokens",
)  # fmt: skip
_REASONING = KINDS.index(Kind.REASONING)
_STEP = ("number", "upto", "model", "input", "cache_read", "cache_write", "restart")


@dataclass(frozen=True, slots=True)
class CalibratedWith:
    """A model of the session, and what its figures are calibrated with."""

    model: str
    used: InUse


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """How the figures of a session add up. Errors are shares of the reported input; None where nothing is compared."""

    calibrations: Sequence[CalibratedWith]
    outdated: bool
    """Something else is in force by now: the figures are made anew in the background."""
    steps: int
    """Steps of the session."""
    reported: int
    """Of these, steps with a reported input and a calibrated size."""
    segments: int
    compared: int
    """Steps that are no anchor."""
    error_p50: float | None
    """Of the rest: what findings say is told apart from it."""
    error_p90: float | None
    step_error_p90: float | None
    """Anchored anew at each step."""
    beyond_band: int
    inside_band: float | None
    """The share of compared steps whose rest lies inside its band."""
    unexplained: Sequence[Sheet]
    """Steps with a finding, in order, LISTED of them at most."""
    unexplained_total: int
    sheets: Sequence[Sheet]
    """Of the steps that were asked for."""


def reconciliation(session: Session, first: int = 1, most: int = 100) -> Reconciliation:
    """The sheets of steps [first, first + most), and what all of them come to."""
    view = recorded(session)
    found, summary = _whole(session)
    used = [CalibratedWith(model, one) for model, one in calibrations_of(view)]
    unexplained = [sheet for sheet in found if sheet.unexplained is not None]
    return Reconciliation(
        used, bool(view and view.recalibrate), session.steps, summary.steps, summary.segments, len(summary.errors),
        share_below(summary.rests, 0.5), share_below(summary.rests, 0.9), share_below(summary.step_errors, 0.9),
        summary.beyond_band, summary.inside_band, unexplained[:LISTED], len(unexplained),
        found[first - 1 : first - 1 + most],
    )  # fmt: skip


def recorded(session: Session) -> View | None:
    """The recorded view, where it was made of what is stored now."""
    return View.objects.filter(session=session, name="recorded", revision=session.revision).first()


_kept: Kept[tuple[list[Sheet], Summary]] = Kept(100_000)


def _whole(session: Session) -> tuple[list[Sheet], Summary]:
    view = recorded(session)

    def make() -> tuple[list[Sheet], Summary]:
        found = list(sheets_of(session))
        return found, Summary().add(found)

    return _kept.get(session, view, make)


def step_sheet(session: Session, step: int) -> Sheet | None:
    """The sheet of one step; None where the recorded view has not come so far."""
    found = _whole(session)[0][step - 1 : step]
    return found[0] if found else None


def unexplained_steps(session: Session) -> list[tuple[int, Unexplained, int]]:
    """(step, what, tokens) of each finding, for the session's short list."""
    return [
        (sheet.step, sheet.unexplained, abs(sheet.since_last or 0))
        for sheet in _whole(session)[0]
        if sheet.unexplained is not None
    ]


def sheets_of(session: Session) -> Iterator[Sheet]:
    """The sheets of all steps, as far as the recorded view goes."""
    view = recorded(session)
    if view is None:
        return iter(())
    marks = MarkRecord.objects.filter(session=session, revision=session.revision)
    middle = session.results_without_call > 0 or marks.filter(reason=Reason.EARLIER_FILE).exists()
    return sheets(_measures(session, view), starts_in_the_middle=middle)


def _measures(session: Session, view: View) -> Iterator[Measure]:
    own = {"session": session, "revision": session.revision}
    reports = StepReport.objects.filter(view=view)
    figures = {row[0]: row for row in reports.values_list(*_REPORT).iterator(chunk_size=5000)}
    marks = set(MarkRecord.objects.filter(**own).values_list("at_step", flat=True))
    compacted = set(CompactionRecord.objects.filter(**own, micro=False).values_list("at_step", flat=True))
    media = media_steps(session)
    rows = StepRecord.objects.filter(**own).order_by("number").values_list(*_STEP)
    for number, _, model, fresh, read, write, restart in rows.iterator(chunk_size=5000):
        if number not in figures:
            return
        _, calibrated, band, tokens, finding, kinds, reasoning = figures[number]
        hidden = kinds[_REASONING] if len(kinds) > _REASONING else 0
        counted = None if tokens is None else tokens - hidden
        yield Measure(
            number, model, sum_of_known((fresh, read, write)), calibrated, band, counted, number in marks,
            number in compacted, bool(restart), bool(finding), media.get(number, 0),
            reasoning,
        )  # fmt: skip


def media_steps(session: Session) -> dict[int, int]:
    """Pictures and files by the first step that could see them."""
    rows = session_items(session)
    found: dict[int, int] = {}
    flagged = rows.annotate(with_media=F("flags").bitand(FLAG_MEDIA)).filter(with_media__gt=0)
    for step in flagged.values_list("first_step", flat=True):
        found[step] = found.get(step, 0) + 1
    return found
