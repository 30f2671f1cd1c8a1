"""Last seen and diffs on pages: an answer in a sentence, bands for each item, any two contexts against each other."""

from __future__ import annotations

import pytest
from django.test import Client

from contextlab.services import last_seen
from contextlab.services.actions import perform
from contextlab.store.models import Session
from tests.services.doing import import_well
from tests.services.memories.test_observing import SAMPLE
from tests.web.pages import read

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def session() -> Session:
    made = import_well(next(SAMPLE.rglob("5d1c9a74*.jsonl")))
    perform(last_seen.request(made.workspace))
    return made


def test_the_answer_in_a_sentence(client: Client, session: Session) -> None:
    """A rule that a compaction lost was last seen before it, and the model could not know it when it broke it."""
    base = f"/sessions/{session.uid}/seen"
    assert "Type what you want to know" in read(client.get(base)).text
    page = read(client.get(base, {"q": "never edit anything under migrations", "step": "81"}))
    assert "Last seen word for word at step 65." in page.text
    assert "At step 81 : no." in page.text or "At step 81: no." in page.text
    assert page.all("mark")
    port = read(client.get(base, {"q": "8443"}))
    assert "In between it was not there: steps 66 to" in port.text
    assert "Nothing in this session says that." in read(client.get(base, {"q": "zebra crossing"})).text
    assert "a letter or a digit" in read(client.get(base, {"q": "??"})).text
    read(client.get(base, {"q": "x" * 9_999}))
    read(client.get(base, {"q": "port\x00 8443", "step": "999999"}))


def test_over_all_sessions(client: Client, session: Session) -> None:
    """Each find leads to its session's bands; markup of a log is text."""
    page = read(client.get("/seen", {"q": "8443"}))
    links = [attributes.get("href", "") for attributes in page.all("a")]
    assert any(link.startswith(f"/sessions/{session.uid}/seen?q=8443") for link in links)
    assert "Nothing says that" in read(client.get("/seen", {"q": "zebra crossing"})).text


def test_any_two_contexts(client: Client, session: Session) -> None:
    """Over a compaction items left for its summary; a step against itself differs in nothing."""
    page = read(client.get(f"/sessions/{session.uid}/diff?step=65&to=66"))
    assert "summarised" in page.text
    assert "No difference" in read(client.get(f"/sessions/{session.uid}/diff?step=66&to=66")).text
    read(client.get(f"/sessions/{session.uid}/diff"))
    read(client.get(f"/sessions/{session.uid}/diff?step=1&to=99999"), 404)
    read(client.get(f"/sessions/{session.uid}/diff?view=nothing"), 404)
