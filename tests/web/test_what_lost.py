"""What a compaction lost, on its own page: of the log from the audit, of those made here by looking now."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.test import Client

from contextlab.services.actions import perform
from contextlab.services.compaction import losing
from contextlab.store.models import CompactionJob, MemoryVersion, Run, Session
from tests.services.compaction.doing import asked, done
from tests.services.doing import import_well
from tests.services.memories.test_observing import SAMPLE
from tests.services.test_audits import audited
from tests.support.fake_openai import FakeOpenAI, says
from tests.web.pages import read

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def session() -> Session:
    return import_well(next(SAMPLE.rglob("5d1c9a74*.jsonl")))


def test_of_the_log_once_it_was_audited(client: Client, session: Session) -> None:
    """Before the audit it says so; then kinds with what became of them, and first what says another thing now."""
    address = f"/sessions/{session.uid}/compactions/1/lost"
    page = read(client.get(f"/sessions/{session.uid}/compactions/1"))
    assert page.all("div", hx_get=address)
    before = client.get(address).content.decode()
    assert "has not been audited yet" in before
    assert f"/sessions/{session.uid}/audit" in before
    audited(session)
    after = client.get(address).content.decode()
    assert "159 facts in the items that left" in after
    assert after.index('class="fv changed"') < after.index('class="fv dropped"')
    assert "<b>8433</b>" in after
    assert client.get(f"/sessions/{session.uid}/compactions/9/lost").status_code == 200


def test_of_one_made_here(client: Client, session: Session) -> None:
    """The facts of the items that left are held against the summary that was written, without a model."""
    job = done(asked(session, before_step=40, policy="rule-based"))
    address = f"/compactions/{job.run.uid}/lost"
    assert read(client.get(f"/compactions/{job.run.uid}")).all("div", hx_get=address)
    card = client.get(address).content.decode()
    assert "facts in the items that left" in card
    assert "still visible" in card
    assert 'class="fv dropped"' in card
    CompactionJob.objects.update(revision=session.revision + 1)
    assert "The log was rewritten since" in client.get(address).content.decode()


def test_what_stands_for_a_run_of_calls_counts_and_its_originals_lead_back(
    client: Client, session: Session, settings: Any
) -> None:
    """A text that a model wrote in the place of calls is part of the memory: what it says is still visible."""
    with FakeOpenAI(says("It counted F401 and F821 in middleware.py:44:36.")) as server:
        settings.MODEL_BASE_URL, settings.MODEL_NAME = server.url, "small"
        job = done(asked(session, before_step=60, policy="agentscope-auto-context", confirm=True))
    assert (job.run.state, len(job.offloads)) == ("done", 2)
    card = client.get(f"/compactions/{job.run.uid}/lost").content.decode()
    assert "facts in the items that left" in card
    assert "F821 Undefined name" not in card
    name = job.offloads[0]["id"]
    page = read(client.get(f"/offloads/{name}"))
    assert "part of a run of tool calls that a summary stands for (strategy 1)" in page.text
    assert page.all("a", href=f"/compactions/{job.run.uid}")


def test_what_made_no_memory_lost_nothing(client: Client, session: Session) -> None:
    """A run with nothing to do has no such card, nor has one that is not there."""
    job = done(asked(session, before_step=2, policy="rule-based"))
    assert "/lost" not in client.get(f"/compactions/{job.run.uid}").content.decode()
    assert client.get(f"/compactions/{job.run.uid}/lost").status_code == 404
    assert client.get(f"/compactions/{uuid.uuid4()}/lost").status_code == 404


def test_behind_a_compaction_of_the_log_the_form_says_what_memory_holds(
    client: Client, session: Session
) -> None:
    """Right behind it memory is only its summary: the form says so and offers what it found, as it was filled in."""
    page = read(client.get(f"/sessions/{session.uid}/compact?before_step=66&keep_recent=6&pins=12"))
    offers = [link["href"] for link in page.all("a") if "before_compaction=1" in link.get("href", "")]
    assert offers
    assert "keep_recent=6" in offers[0]
    assert "pins=12" in offers[0]
    fields = {"policy": "rule-based", "before_step": "66"}
    preview = client.post(f"/sessions/{session.uid}/compact/preview", fields, headers={"HX-Request": "true"})
    assert "before_compaction=1" in preview.content.decode()
    for other in ("?before_step=65", "?before_compaction=1", ""):
        text = client.get(f"/sessions/{session.uid}/compact{other}").content.decode()
        assert "what it found instead" not in text


def test_the_list_has_the_numbers_of_the_page(client: Client, session: Session) -> None:
    """A worker counts them behind the compaction, once; until then the list says that nobody has looked."""
    job = done(asked(session, before_step=40, policy="rule-based"))
    assert job.facts is None
    before = read(client.get("/compactions"))
    assert "not yet looked at" in before.text
    assert before.all("a", href=f"/compactions/{job.run.uid}#lost")
    (run,) = losing.missing()
    assert losing.missing() == [run]
    perform(run)
    run.refresh_from_db()
    assert (run.state, losing.missing()) == ("done", [])
    job.refresh_from_db()
    total, dropped = sum(job.facts.values()), job.facts["dropped"]
    assert total > dropped > 0
    assert f"{dropped} of {total} dropped" in read(client.get("/compactions")).text
    assert (
        f"{total} facts in the items that left"
        in client.get(f"/compactions/{job.run.uid}/lost").content.decode()
    )
    entry = client.get("/api/compactions/").json()["results"][0]
    assert entry["facts"] == job.facts
    CompactionJob.objects.update(revision=session.revision + 1)
    assert "cannot be told" in read(client.get("/compactions")).text


def test_what_cannot_be_counted_is_tried_once(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """A memory that is gone has nothing to tell, and a run that failed is not asked for again at once."""
    job = done(asked(session, before_step=40, policy="rule-based"))
    (run,) = losing.missing()
    Run.objects.filter(pk=run.pk).update(attempts=2)
    with monkeypatch.context() as broken:
        broken.setattr(losing, "lost_by", lambda *_: 1 / 0)
        perform(run)
    run.refresh_from_db()
    assert (run.state, losing.missing()) == ("failed", [])
    run.delete()
    MemoryVersion.objects.filter(compaction=job).delete()
    (run,) = losing.missing()
    perform(run)
    job.refresh_from_db()
    assert (job.facts, losing.missing()) == ({}, [])
