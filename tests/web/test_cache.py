"""The prompt cache and waste on pages: why a prefix broke and what it cost; unknown where the log does not say."""

from __future__ import annotations

import pytest
from django.test import Client

from contextlab.store.models import Session, StepRecord, View
from tests.services.doing import import_well
from tests.services.memories.test_observing import SAMPLE
from tests.web.pages import read

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def session() -> Session:
    return import_well(next(SAMPLE.rglob("5d1c9a74*.jsonl")))


def test_why_a_prefix_broke(client: Client, session: Session) -> None:
    """The step behind the compaction says that its prefix changed and by what; money stands beside tokens."""
    page = read(client.get(f"/sessions/{session.uid}/cache"))
    assert "broken by compacted" in page.text
    assert "What compactions cost and saved" in page.text
    assert "$" in page.text
    read(client.get(f"/sessions/{session.uid}/cache?turn=5"))
    read(client.get(f"/sessions/{session.uid}/cache?from=99999"))


def test_what_is_not_reported_is_unknown(client: Client, session: Session) -> None:
    """Without figures and without a price nothing is made up."""
    StepRecord.objects.update(input=None, cache_read=None, cache_write=None, model="nobody-knows")
    page = read(client.get(f"/sessions/{session.uid}/cache"))
    assert "the log reports no cache figures" in page.text
    assert "cost unknown" in page.text
    assert "no price known" in page.text
    assert "$" not in page.text


def test_waste(client: Client, session: Session) -> None:
    """Largest first, each with its item; before the view is made the page says so."""
    page = read(client.get(f"/sessions/{session.uid}/waste"))
    assert "What took most" in page.text
    View.objects.all().delete()
    assert "Not projected yet" in read(client.get(f"/sessions/{session.uid}/waste")).text
