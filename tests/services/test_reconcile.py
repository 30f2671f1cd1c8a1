"""Calibration runs: fitted over all sessions, once a day, never of nothing."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from contextlab.queries.calibrations import calibration_lines
from contextlab.services import reconcile
from contextlab.services.actions import perform
from contextlab.services.workspaces import local_workspace
from contextlab.store.models import ModelCalibration, Session, StepReport
from tests.web.made import Log

pytestmark = pytest.mark.django_db


def long_log(steps: int = 130) -> Session:
    """A session whose provider reports 1.2 tokens for each counted one, and 50 for a block."""
    log, size = Log().ask("go"), 20_000
    for number in range(steps):
        log.step(input=size)
        words = "word " * (40 + 7 * (number % 30))
        log.call("bash", "x" * (80 + number)).result(words)
        counted = sum((len(text.encode()) + 3) // 4 for text in ("bash" + "x" * (80 + number), words))
        size += round(1.2 * counted) + 100
    made = log.save(counted=True, input_tokens=1)
    made.view([])
    type(made.session).objects.filter(pk=made.session.pk).update(counted=True, input_tokens=1)
    StepReport.objects.update(counted=True)
    return made.session


def test_a_model_is_fitted_from_its_sessions() -> None:
    """The line names the figures, how many steps they rest on, and what is in use."""
    long_log()
    [run] = reconcile.due()
    perform(run)
    [line] = calibration_lines(local_workspace().pk)
    assert line.ratio == pytest.approx(1.2, abs=0.05)
    assert line.per_block == pytest.approx(50, abs=15)
    assert (line.sessions, line.steps >= 100) == (1, True)
    assert line.used_ratio > 1


def test_it_is_done_once_a_day() -> None:
    """Not again before the day is over."""
    long_log()
    [run] = reconcile.due()
    perform(run)
    assert reconcile.due() == []
    assert len(reconcile.due(timezone.now() + timedelta(hours=25))) == 1


def test_too_few_steps_are_said_to_be_too_few() -> None:
    """A line without figures, never a guess; and a workspace without usage asks for nothing."""
    assert reconcile.due() == []
    long_log(20)
    [run] = reconcile.due()
    perform(run)
    [line] = calibration_lines(local_workspace().pk)
    assert (line.ratio, line.per_block, line.error_p50) == (None, None, None)
    assert line.steps < line.steps_needed
    assert ModelCalibration.objects.count() == 1
