"""Does it add up: sheets of steps with their rest and band, unknown where nothing is reported; calibration by model."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone

from contextlab.core.measuring.calibrations import InUse, Origin
from contextlab.store.models import ModelCalibration, Session, StepRecord, View
from tests.services.doing import import_well
from tests.services.memories.test_observing import SAMPLE
from tests.web.pages import read

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def session() -> Session:
    return import_well(next(SAMPLE.rglob("5d1c9a74*.jsonl")))


def test_steps_that_add_up(client: Client, session: Session) -> None:
    """Each step's parts and rest stand in a row, the first of a segment as its anchor; pages go on."""
    page = read(client.get(f"/sessions/{session.uid}/figures"))
    assert "anchor: system prompt and tools" in page.text
    assert "1 to 100 of 121" in page.text
    assert "101 to 121 of 121" in read(client.get(f"/sessions/{session.uid}/figures?from=101")).text
    read(client.get(f"/sessions/{session.uid}/figures?from=99999"))


def test_nothing_reported_is_unknown(client: Client, session: Session) -> None:
    """Without usage there is no error and no rest, and no zero stands for unknown."""
    StepRecord.objects.update(input=None, cache_read=None, cache_write=None)
    page = read(client.get(f"/sessions/{session.uid}/figures"))
    assert "nothing reported" in page.text
    assert "0 of 121 steps with a reported input" in page.text
    assert "in the middle" not in page.text


def test_calibration_before_anything_was_read(client: Client) -> None:
    """The page says what it waits for."""
    assert "Nothing fitted yet" in read(client.get("/calibration")).text


def test_what_is_in_use_and_the_switch_back_to_the_table(client: Client, session: Session) -> None:
    """The page says what a model is calibrated with, from how much and since when; the table is one click away."""
    used = InUse(Origin.FITTED, 1.31, 52.0, 0.04, 812, 14, "2026-11-02")
    ModelCalibration.objects.create(
        workspace=session.workspace, model="claude-opus-4-5", ratio=1.31, per_block=52.0, steps=812, sessions=14,
        band=0.04, table_band=0.09, used=used.as_plain(), fitted_at=timezone.now(),
    )  # fmt: skip
    page = read(client.get("/calibration"))
    assert "fitted here" in page.text
    assert "812 steps of 14 sessions, since 2026-11-02" in page.text
    back = read(client.post("/calibration/use", follow=True))
    assert "The built-in table is used for every model" in back.text
    assert "812 steps of 14 sessions, since" not in back.text
    assert "fitted here" in read(client.post("/calibration/use", {"fitted": "1"}, follow=True)).text


def test_the_sheet_says_what_it_is_calibrated_with(client: Client, session: Session) -> None:
    """By model, and that another calibration is in use by now where one is; hidden reasoning has a column."""
    page = read(client.get(f"/sessions/{session.uid}/figures"))
    assert "Hidden reasoning" in page.text
    assert "built in" in page.text
    assert "made anew" not in page.text
    View.objects.update(recalibrate=True)
    assert "made anew in the background" in read(client.get(f"/sessions/{session.uid}/figures")).text


def test_a_step_says_what_its_calibrated_figure_rests_on(client: Client, session: Session) -> None:
    """Built in, or fitted to so many steps of so many sessions; and that others are in use by now."""
    page = read(client.get(f"/sessions/{session.uid}/steps/70"))
    assert "the built-in figures" in page.text
    view = View.objects.get(session=session, name="recorded")
    fitted = InUse(Origin.FITTED, 1.31, 52.0, 0.04, 812, 14, "2026-11-02").as_plain()
    assert view.calibrations
    view.calibrations, view.recalibrate = dict.fromkeys(view.calibrations, fitted), True
    view.save()
    page = read(client.get(f"/sessions/{session.uid}/steps/70"))
    assert "figures fitted here 812 steps of 14 sessions, since 2026-11-02" in page.text
    assert "made anew in the background" in page.text
