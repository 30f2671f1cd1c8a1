"""Calibration of models from all sessions that were read: made anew once a day, by a run of its own.

    due()           the runs that are needed now, for the periodic work
    perform(work)   the run

Only steps with a reported input on both sides and exact counts are used, without a change in between, and without
reasoning that came or went (its size is not counted but calibrated).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Max, Q
from django.utils import timezone

from contextlab.core.audit.calibrate import Sample, fit, usable
from contextlab.core.items import KINDS, Kind
from contextlab.core.measuring.models import plain_name
from contextlab.services import runs
from contextlab.services.runs import Priority
from contextlab.services.work import Outcome, Work
from contextlab.store.models import (
    MarkRecord,
    ModelCalibration,
    Run,
    RunState,
    Session,
    StepRecord,
    StepReport,
    View,
    Workspace,
)

EVERY = timedelta(hours=24)
MOST_SAMPLES = 5_000
"""Steps of one model that are used at most, the newest first."""
MOST_STEPS = 200_000
"""Steps that one run looks at."""

_REASONING = KINDS.index(Kind.REASONING)
_STEP = ("number", "model", "input", "cache_read", "cache_write")
_REPORT = (
    "step", "projected_tokens", "projected_items", "reasoning_cleared_items", "composition", "counted", "finding",
)  # fmt: skip


def due(now: datetime | None = None) -> list[Run]:
    """A run for each workspace that has sessions and was not looked at for a day."""
    now = now or timezone.now()
    waiting = Workspace.objects.annotate(last=Max("calibrations__fitted_at"))
    waiting = waiting.filter(Q(last=None) | Q(last__lt=now - EVERY))
    return [request(workspace) for workspace in waiting if _has_usage(workspace)]


def request(workspace: Workspace) -> Run:
    """The run that fits the models of a workspace."""
    run, _ = runs.request(
        workspace, Run.Kind.CALIBRATE, f"calibrate:{workspace.pk}", priority=Priority.LATER, unit="steps"
    )
    return run


def perform(work: Work) -> Outcome:
    """Fit every model that the workspace's sessions name."""
    samples: dict[str, list[Sample]] = {}
    sessions: dict[str, set[int]] = {}
    looked_at = 0
    rows = Session.objects.filter(workspace=work.run.workspace, counted=True, input_tokens__isnull=False)
    # Keys first: a query that is still open while the run writes its progress keeps SQLite from writing at all.
    for key in list(rows.order_by("-sort_at", "-pk").values_list("pk", flat=True)):
        session = Session.objects.filter(pk=key).first()
        if session is None:
            continue
        for model, sample in samples_of(session):
            if len(samples.setdefault(model, [])) < MOST_SAMPLES and usable(sample):
                samples[model].append(sample)
                sessions.setdefault(model, set()).add(session.pk)
        looked_at += session.steps
        work.check_in(looked_at, None, "comparing counts with reported figures")
        if looked_at >= MOST_STEPS:
            break
    with transaction.atomic():
        work.still_ours("writing calibrations")
        _write(work.run.workspace, samples, sessions)
    return Outcome(RunState.DONE if samples else RunState.NOOP, {"models": len(samples), "steps": looked_at})


def samples_of(session: Session) -> Iterator[tuple[str, Sample]]:
    """What each step of a session added, by model."""
    view = View.objects.filter(session=session, name="recorded", revision=session.revision).first()
    if view is None:
        return
    own = {"session": session, "revision": session.revision}
    marks = set(MarkRecord.objects.filter(**own).values_list("at_step", flat=True))
    reports = {row[0]: row[1:] for row in StepReport.objects.filter(view=view).values_list(*_REPORT)}
    before: tuple[str, int, int, int, int] | None = None
    for number, model, *usage in StepRecord.objects.filter(**own).order_by("number").values_list(*_STEP):
        now = _state(model, usage, reports.get(number))
        same = before is not None and now is not None and (before[0], before[4]) == (now[0], now[4])
        if same and before and now and number not in marks and not reports[number][-1]:
            yield plain_name(model), Sample(now[1] - before[1], now[2] - before[2], now[3] - before[3])
        before = now


def _state(
    model: str, usage: list[int | None], report: tuple[Any, ...] | None
) -> tuple[str, int, int, int, int] | None:
    """Model, reported input, counted tokens without reasoning, blocks, reasoning; None where one is not known."""
    known = [part for part in usage if part is not None]
    if report is None or not known or not report[4] or report[0] is None or not model:
        return None
    tokens, items, stripped, composition, *_ = report
    reasoning = composition[_REASONING] if len(composition) > _REASONING else 0
    return model, sum(known), tokens - reasoning, items - stripped, reasoning


def _write(workspace: Workspace, samples: dict[str, list[Sample]], sessions: dict[str, set[int]]) -> None:
    now = timezone.now()
    for model, found in samples.items():
        made = fit(found)
        ModelCalibration.objects.update_or_create(
            workspace=workspace,
            model=model[:120],
            defaults={
                "ratio": None if made is None else made.ratio,
                "per_block": None if made is None else made.per_block,
                "error_p50": None if made is None else made.error_p50,
                "error_p90": None if made is None else made.error_p90,
                "steps": len(found),
                "sessions": len(sessions.get(model, ())),
                "fitted_at": now,
            },
        )
    ModelCalibration.objects.filter(workspace=workspace).exclude(
        model__in=[name[:120] for name in samples]
    ).delete()


def _has_usage(workspace: Workspace) -> bool:
    return Session.objects.filter(workspace=workspace, counted=True, input_tokens__isnull=False).exists()
