"""Before a compaction is made: which facts it would lose, and pinning them for another look."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from contextlab.store.models import CompactionJob, Session
from tests.services.doing import import_well
from tests.services.memories.test_observing import SAMPLE

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def session() -> Session:
    return import_well(next(SAMPLE.rglob("5d1c9a74*.jsonl")))


def test_what_would_be_lost_can_be_pinned(client: Client, session: Session) -> None:
    """Facts that would go are listed with their items; pinned, those items stay, and nothing is written by looking."""
    address, fields = (
        f"/sessions/{session.uid}/compact/foreseen",
        {"policy": "rule-based", "before_step": "60"},
    )
    page = client.post(address, fields).content.decode()
    assert "What would be lost" in page
    pins = re.search(r'name="pins" value="([\d, ]+)"', page)
    assert pins is not None
    again = client.post(f"/sessions/{session.uid}/compact/preview", {**fields, "pins": pins[1]})
    assert again.status_code == 200
    assert f'value="{pins[1]}"' in again.content.decode()
    after = client.post(address, {**fields, "pins": pins[1]}).content.decode()
    lost = re.compile(r'class="fv (?:dropped|changed)"')
    assert len(lost.findall(after)) < len(lost.findall(page))
    assert not CompactionJob.objects.exists()


def test_a_models_summary_is_not_known(client: Client, session: Session, settings) -> None:
    """A policy that asks a model is not asked for a look: its facts are at stake."""
    settings.MODEL_BASE_URL, settings.MODEL_NAME = "http://127.0.0.1:9/v1", "m"
    fields = {"policy": "llm-summary", "before_step": "60"}
    page = client.post(f"/sessions/{session.uid}/compact/foreseen", fields).content.decode()
    assert "What is at stake" in page


def test_what_cannot_be_looked_at(client: Client, session: Session, monkeypatch) -> None:
    """A session that is too large for a look, or a field that is wrong, is answered with the reason."""
    monkeypatch.setattr("contextlab.services.compaction.foreseeing.MOST_ITEMS", 3)
    answer = client.post(f"/sessions/{session.uid}/compact/foreseen", {"policy": "rule-based"})
    assert answer.status_code == 400
    assert "larger" in answer.content.decode()
    assert client.post(f"/sessions/{session.uid}/compact/foreseen", {"pins": "x"}).status_code == 400
