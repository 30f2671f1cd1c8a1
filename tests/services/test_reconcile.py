"""Calibration runs: fitted over all sessions, once a day, never of nothing."""

from __future__ import annotations

import json
import random
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db.models import F
from django.utils import timezone

from contextlab.adapters.tokens import counter
from contextlab.core.measuring.calibrations import TABLE, Origin
from contextlab.queries.calibrations import MORE_STEPS, calibration_page, calibrations_of
from contextlab.queries.reconcile import reconciliation
from contextlab.services import projection, reconcile
from contextlab.services.actions import perform
from contextlab.services.calibrations import use_fitted
from contextlab.services.opening import open_view
from contextlab.services.work import Counting
from contextlab.services.workspaces import local_workspace
from contextlab.store.models import ModelCalibration, Session, StepReport, View
from tests.services.doing import import_well
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
    StepReport.objects.update(counted=True, reasoning_tokens=0, blocks=F("projected_items"))
    return made.session


def test_a_model_is_fitted_from_its_sessions() -> None:
    """The line names the figures, how many steps they rest on, and what is in use."""
    long_log()
    [run] = reconcile.due()
    perform(run)
    [line] = calibration_page(local_workspace()).lines
    assert line.ratio == pytest.approx(1.2, abs=0.05)
    assert line.per_block == pytest.approx(50, abs=15)
    assert (line.sessions, line.steps >= 100) == (1, True)
    assert (line.used.origin, line.unused) == (Origin.TABLE, MORE_STEPS)


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
    [line] = calibration_page(local_workspace()).lines
    assert (line.ratio, line.per_block, line.error_p50) == (None, None, None)
    assert line.steps < line.steps_needed
    assert ModelCalibration.objects.count() == 1


MODEL = "claude-opus-9"


def write_log(folder: Path, name: str, steps: int = 80, ratio: float = 2.0, block: int = 40) -> Path:
    """A Claude Code session of a model whose tokens are `ratio` of the counted ones, and `block` for each block."""
    lines: list[dict[str, Any]] = []
    size, chance = 20_000, random.Random(name)

    def add(kind: str, content: Any, **more: Any) -> None:
        before = lines[-1]["uuid"] if lines else None
        message = {"role": kind, "content": content, **more}
        lines.append({
            "type": kind, "uuid": f"{name}-{len(lines)}", "parentUuid": before, "sessionId": name, "cwd": "/w",
            "timestamp": f"2026-11-0{1 + len(lines) // 60 % 9}T10:{len(lines) % 60:02}:00Z", "version": "2.0.0",
            "message": message,
        })  # fmt: skip

    add("user", "go")
    for number in range(steps):
        command = " ".join(f"word{chance.randint(1, 999)}" for _ in range(chance.randint(20, 300)))
        call = {"type": "tool_use", "id": f"call-{number}", "name": "Bash", "input": {"command": command}}
        usage = {"input_tokens": size, "output_tokens": 5}
        add("assistant", [call], id=f"msg-{name}-{number}", model=MODEL, usage=usage)
        add("user", [{"type": "tool_result", "tool_use_id": f"call-{number}", "content": "done"}])
        counted = counter().count(
            f"Bash{json.dumps(call['input'], separators=(',', ':'))}"
        ) + counter().count("done")
        size += round(ratio * counted) + 2 * block
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def fit_once() -> None:
    """What the worker does once a day."""
    perform(reconcile.request(local_workspace()))


def figures(session: Session) -> tuple[int, float]:
    """The calibrated size of the last step, and its band."""
    row = StepReport.objects.filter(view__session=session, view__name="recorded").latest("step")
    assert row.calibrated_tokens is not None
    assert row.band is not None
    return row.calibrated_tokens, row.band


@pytest.fixture
def three(tmp_path: Path) -> list[Session]:
    """Three sessions of a model that nobody has measured."""
    return [import_well(write_log(tmp_path, name), Counting.ALL) for name in ("one", "two", "three")]


def remake() -> int:
    """What the periodic work rings; returns how many views that were."""
    runs = reconcile.outdated()
    for run in runs:
        perform(run)
    return len(runs)


def test_a_fit_over_enough_sessions_is_used_from_then_on(three: list[Session], tmp_path: Path) -> None:
    """New sessions are calibrated with it, and say from how many steps it is; the page shows what is in use."""
    fit_once()
    [line] = calibration_page(local_workspace()).lines
    assert (line.used.origin, line.used.sessions, line.unused) == (Origin.FITTED, 3, "")
    assert line.used.ratio == pytest.approx(2.0, abs=0.05)
    fresh = import_well(write_log(tmp_path, "four"), Counting.ALL)
    [(model, used)] = calibrations_of(View.objects.get(session=fresh, name="recorded"))
    assert (model, used) == (MODEL, line.used)
    found = reconciliation(fresh)
    assert found.error_p90 is not None
    assert found.error_p90 < 0.01
    assert found.unexplained_total == 0


def test_stored_views_are_made_anew_a_few_at_a_time(
    three: list[Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until then they keep their figures and say that others are in force; nothing is rung twice."""
    before = figures(three[0])
    fit_once()
    assert figures(three[0]) == before
    assert reconciliation(three[0]).outdated
    assert calibration_page(local_workspace()).waiting == 3
    monkeypatch.setattr(reconcile, "MOST_VIEWS", 2)
    assert {run.pk for run in reconcile.outdated()} == {run.pk for run in reconcile.outdated()}
    assert [remake(), remake(), remake()] == [2, 1, 0]
    assert figures(three[0])[0] > before[0] * 1.05
    assert not reconciliation(three[0]).outdated


def test_many_steps_wait_for_the_next_time(three: list[Session], monkeypatch: pytest.MonkeyPatch) -> None:
    """A large session does not keep the small ones of others from being made, nor are all made at once."""
    fit_once()
    monkeypatch.setattr(reconcile, "MOST_VIEW_STEPS", 100)
    assert [remake(), remake(), remake(), remake()] == [1, 1, 1, 0]


def test_the_same_fit_of_the_next_day_changes_nothing(three: list[Session]) -> None:
    """No view is made anew for it."""
    fit_once()
    while remake():
        pass
    fit_once()
    assert reconcile.outdated() == []
    assert calibration_page(local_workspace()).waiting == 0


def test_the_built_in_table_comes_back_at_a_switch(three: list[Session]) -> None:
    """And what was fitted with another; both only once."""
    before, workspace = figures(three[0]), local_workspace()
    fit_once()
    remake()
    fitted = figures(three[0])
    use_fitted(workspace, False)
    assert reconciliation(three[0]).outdated
    assert remake() == 3
    assert figures(three[0]) == before
    [line] = calibration_page(local_workspace()).lines
    assert line.used.origin is Origin.TABLE
    use_fitted(workspace, False)
    assert reconcile.outdated() == []
    use_fitted(workspace, True)
    assert remake() == 3
    assert figures(three[0]) == fitted


def test_a_policy_view_follows_as_well(three: list[Session]) -> None:
    """Not only what the log says."""
    view, run = open_view(three[0], "last-n")
    assert run is not None
    perform(run)
    fit_once()
    assert remake() == 4
    view.refresh_from_db()
    assert dict(calibrations_of(view))[MODEL].origin is Origin.FITTED


def test_what_was_fitted_to_deleted_sessions_is_forgotten(three: list[Session]) -> None:
    """The table is back for a model of which nothing is stored any more."""
    fit_once()
    Session.objects.all().delete()
    fit_once()
    assert calibration_page(local_workspace()).lines == []


def test_a_view_that_was_made_meanwhile_is_not_forgotten(
    three: list[Session], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fit that comes into use between the reading and the writing of a view marks that one too."""
    answers = iter([TABLE])
    now = projection.in_force
    fit_once()
    monkeypatch.setattr(projection, "in_force", lambda key: next(answers, None) or now(key))
    fresh = import_well(write_log(tmp_path, "four"), Counting.ALL)
    assert View.objects.get(session=fresh, name="recorded").recalibrate


def test_a_view_that_cannot_be_made_any_more_is_not_tried_again_and_again(three: list[Session]) -> None:
    """Its policy is gone: one failed run, and the others are made."""
    view, run = open_view(three[0], "last-n")
    assert run is not None
    perform(run)
    fit_once()
    View.objects.filter(pk=view.pk).update(policy={"version": 1, "projector": {"type": "gone"}})
    assert [remake(), remake()] == [4, 0]
    view.refresh_from_db()
    assert view.recalibrate
