"""Does it add up: sheets of steps with their rest and band, unknown where nothing is reported; calibration by model."""

from __future__ import annotations

import pytest
from django.test import Client

from contextlab.store.models import Session, StepRecord
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
