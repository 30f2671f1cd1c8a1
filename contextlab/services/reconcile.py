"""Calibration of models from all sessions that were read: made anew once a day, by a run of its own.

    due()           the runs that are needed now, for the periodic work
    perform(work)   the run
    outdated()      runs that make a few views anew which are calibrated with what is no longer in force

Only steps with a reported input on both sides and exact counts are used, without a change in between, without pictures
and without reasoning that went. Reasoning that came is taken off by its own size: its text counts for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Max, Q
from django.utils import timezone

from contextlab.core.audit.calibrate import Sample
from contextlab.core.audit.evidence import Evidence, State, chains, choose, settled, weigh
from contextlab.core.items import KINDS, Kind
from contextlab.core.measuring.models import plain_name
from contextlab.queries.reconcile import media_steps
from contextlab.services import calibrations, opening, runs
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

MOST_VIEWS, MOST_VIEW_STEPS = 20, 20_000
"""Views that are made anew at one time, and their steps together (but one, however large)."""
MOST_FAILED = 500

_REASONING = KINDS.index(Kind.REASONING)
_STEP = ("number", "model", "input", "cache_read", "cache_write", "restart")
_REPORT = (
    "step", "projected_tokens", "composition", "counted", "finding", "reasoning_tokens", "blocks",
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


def outdated() -> list[Run]:
    """Runs for some of the views that were marked, newest sessions first; the rest waits for the next time."""
    waiting = View.objects.filter(recalibrate=True, stale=False).exclude(kind=View.Kind.BRANCH)
    # What cannot be made any more (a policy whose parts are gone) must not be tried every minute.
    failed = Run.objects.filter(kind=Run.Kind.PROJECT, state=RunState.FAILED).values_list("target", flat=True)
    waiting = waiting.exclude(uid__in=[UUID(target) for target in failed.distinct()[:MOST_FAILED] if target])
    rows = waiting.select_related("session__workspace").order_by("-session__sort_at", "pk")[:MOST_VIEWS]
    found: list[Run] = []
    steps = 0
    for view in rows:
        steps += view.steps
        if found and steps > MOST_VIEW_STEPS:
            break
        found.append(opening.request(view.session, view, Priority.LATER))
    return found


def perform(work: Work) -> Outcome:
    """Fit every model that the workspace's sessions name, and use what rests on enough."""
    found: dict[str, list[tuple[int, list[Sample]]]] = {}
    steps: dict[str, int] = {}
    looked_at = 0
    rows = Session.objects.filter(workspace=work.run.workspace, counted=True, input_tokens__isnull=False)
    # Keys first: a query that is still open while the run writes its progress keeps SQLite from writing at all.
    for key in list(rows.order_by("-sort_at", "-pk").values_list("pk", flat=True)):
        session = Session.objects.filter(pk=key).first()
        if session is None:
            continue
        for model, chain in chains(_states(session)):
            if steps.get(model, 0) < MOST_SAMPLES:
                steps[model] = steps.get(model, 0) + len(chain)
                found.setdefault(model, []).append((session.pk, chain))
        looked_at += session.steps
        work.check_in(looked_at, None, "comparing counts with reported figures")
        if looked_at >= MOST_STEPS:
            break
    weighed = {model: weigh(some, model) for model, some in found.items()}
    with transaction.atomic():
        work.still_ours("writing calibrations")
        changed = _write(work.run.workspace, weighed)
    told = {"models": len(weighed), "steps": looked_at, "changed": len(changed)}
    return Outcome(RunState.DONE if weighed else RunState.NOOP, told)


def _states(session: Session) -> Iterator[tuple[State | None, bool]]:
    """Each step of the recorded view, and whether something changed before it that no count explains."""
    view = View.objects.filter(session=session, name="recorded", revision=session.revision).first()
    if view is None:
        return
    own = {"session": session, "revision": session.revision}
    marks = set(MarkRecord.objects.filter(**own).values_list("at_step", flat=True))
    media = media_steps(session)
    reports = {row[0]: row[1:] for row in StepReport.objects.filter(view=view).values_list(*_REPORT)}
    rows = StepRecord.objects.filter(**own).order_by("number").values_list(*_STEP)
    for number, model, *usage, restart in rows:
        report = reports.get(number)
        changed = (
            number in marks or number in media or bool(restart) or (report is not None and bool(report[3]))
        )
        yield _state(model, usage, report), changed


def _state(model: str, usage: list[int | None], report: tuple[Any, ...] | None) -> State | None:
    """None where something is not known."""
    known = [part for part in usage if part is not None]
    if report is None or not known or not model:
        return None
    tokens, composition, counted, _, reasoning, blocks = report
    if tokens is None or reasoning is None or blocks is None or not counted:
        return None
    text = composition[_REASONING] if len(composition) > _REASONING else 0
    return State(plain_name(model)[:120], sum(known), tokens - text, blocks, reasoning)


def _write(workspace: Workspace, weighed: dict[str, Evidence]) -> list[str]:
    """Keep what was found; returns the models that are calibrated otherwise from now on."""
    now = timezone.now()
    for model, found in weighed.items():
        made = found.fit
        ModelCalibration.objects.update_or_create(
            workspace=workspace,
            model=model,
            defaults={
                "ratio": None if made is None else made.ratio,
                "per_block": None if made is None else made.per_block,
                "error_p50": None if made is None else made.error_p50,
                "error_p90": None if made is None else made.error_p90,
                "band": found.band,
                "table_band": found.table_band,
                "steps": found.steps,
                "sessions": found.sessions,
                "fitted_at": now,
            },
        )
    before = calibrations.kept(workspace.pk)
    day = now.date().isoformat()
    chosen = {
        model: settled(before.get(model), choose(model, found, day)) for model, found in weighed.items()
    }
    gone = ModelCalibration.objects.filter(workspace=workspace).exclude(model__in=list(weighed))
    changed = calibrations.put_in_use(workspace, {**dict.fromkeys(before, None), **chosen})
    gone.delete()
    return changed


def _has_usage(workspace: Workspace) -> bool:
    return Session.objects.filter(workspace=workspace, counted=True, input_tokens__isnull=False).exists()
