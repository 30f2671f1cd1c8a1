"""Noting what a session brought to light: each turn once, whoever reads it, whatever happens in between."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.db import connection

from contextlab.core.memory_keeping.prompts import Prompts
from contextlab.services import runs
from contextlab.services.actions import perform
from contextlab.services.compaction import models as model_settings
from contextlab.services.memories import (
    BadRequest,
    change_settings,
    estimate,
    inject,
    keeping,
    request_observing,
)
from contextlab.services.memories.observing import Reading
from contextlab.services.memories.turns import turns_to_read
from contextlab.store.models import (
    ObservationBatch,
    ObservationRecord,
    ObservationTag,
    Run,
    Session,
    SessionSummaryRecord,
)
from tests.services.doing import import_well
from tests.support.fake_openai import FakeOpenAI, fails, says

pytestmark = [pytest.mark.django_db, pytest.mark.database]

SAMPLE = Path(__file__).parents[3] / "contextlab" / "samples" / "claude-code"
ONE = "<observation><type>bugfix</type><title>The port is 8443</title><facts><fact>f</fact></facts></observation>"
SUMMARY = "<summary><request>r</request><learned>l</learned></summary>"


@pytest.fixture
def session() -> Session:
    return import_well(next(SAMPLE.rglob("5d1c9a74*.jsonl")))


@pytest.fixture
def at(settings, monkeypatch):
    """Points the settings at a fake endpoint, in a workspace that allows models."""
    monkeypatch.setattr(model_settings, "TIMEOUT", 2.0)

    def point(server, session):
        settings.MODEL_BASE_URL, settings.MODEL_NAME, settings.MODEL_KEY = server.url, "gpt-4o", "sk-canary"
        change_settings(session.workspace, {"allow_model": True})
        return server

    return point


def observed(session: Session, method: str = "rules", **values) -> Run:
    """The run at its end."""
    run, _ = request_observing(session, method, **values)
    perform(run)
    run.refresh_from_db()
    return run


def rows(session: Session) -> set[tuple[int, str]]:
    return set(ObservationRecord.objects.filter(session=session).values_list("pk", "content_hash"))


def test_a_session_is_noted_without_a_model(session):
    """By rules every turn is read once; observations carry their turn, files as tags, and no cost."""
    run = observed(session)
    assert (run.state, run.error) == ("done", "")
    made = ObservationRecord.objects.filter(session=session)
    assert run.result["observations"] == made.count() > 5
    assert {batch.discovery_tokens for batch in ObservationBatch.objects.filter(session=session)} == {0}
    assert ObservationTag.objects.filter(kind="file", observation__session=session).exists()
    summary = SessionSummaryRecord.objects.get(session=session)
    assert "no model" in (summary.notes or "")


@pytest.mark.django_db(transaction=True)
@pytest.mark.database
def test_many_turns_are_read_page_by_page(session, monkeypatch):
    """A session of more turns than are looked up at a time is read whole, though every turn is committed alone."""
    monkeypatch.setattr("contextlab.services.memories.turns.PAGE", 2)
    run = observed(session)
    assert (run.state, run.error) == ("done", "")
    assert ObservationBatch.objects.filter(session=session).count() == session.turns + 1


def test_read_again_is_the_same_set(session):
    """A second run finds every turn read and writes nothing."""
    observed(session)
    before = rows(session)
    again = observed(session)
    assert (again.state, again.result["observations"]) == ("noop", 0)
    assert rows(session) == before


def test_what_was_read_is_found_out_at_once(session, django_assert_max_num_queries):
    """To find that no turn has changed takes a handful of queries, not some for each turn."""
    observed(session)
    run, _ = request_observing(session, "rules")
    assert session.turns > 5
    with django_assert_max_num_queries(20):
        perform(run)
    run.refresh_from_db()
    assert (run.state, run.result["ends"]) == ("noop", {"known": session.turns + 1})


def test_asked_twice_is_one_run(session):
    """Pressing twice gives one run."""
    first, new = request_observing(session)
    second, again = request_observing(session)
    assert (first.pk, new, again) == (second.pk, True, False)


@pytest.mark.django_db(transaction=True)
@pytest.mark.database
def test_two_writers_of_the_same_turns_leave_one_set(session):
    """Two workers that read the same turns at once, in whatever order, leave each content once."""
    reading = [Reading(_Free(), session, "rules", Prompts()) for _ in range(2)]
    turns = list(turns_to_read(session))
    together = threading.Barrier(2)

    def write(one):
        try:
            for turn in turns:
                together.wait(10)
                batch, values = one._by_rules(turn)
                keeping.keep(one.work, session, turn, "rules", batch, values)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(write, reading))
    hashes = list(ObservationRecord.objects.filter(session=session).values_list("content_hash", flat=True))
    assert len(hashes) == len(set(hashes)) > 5
    assert ObservationBatch.objects.filter(session=session).count() == session.turns
    alone = {
        one.content_hash(session.native_id)
        for turn in turns
        for one in reading[0]._by_rules(turn)[0].observations
    }
    assert set(hashes) == alone


class _Free:
    """Work that nobody takes away."""

    def still_ours(self, doing):
        """It is."""


def test_a_crash_while_a_turn_is_read_again_leaves_the_old_set(session, monkeypatch):
    """Old rows go and new ones come in one transaction: who dies in between leaves what was there."""
    observed(session)
    before = rows(session)
    ObservationBatch.objects.filter(session=session).update(digest="grown")

    def dies(*args, **values):
        raise KeyboardInterrupt  # as a kill: behind the deletes, before the inserts

    monkeypatch.setattr(keeping.ObservationTag.objects, "bulk_create", dies)
    monkeypatch.setattr(keeping.ObservationRecord.objects, "bulk_create", dies)
    run, _ = request_observing(session)
    with pytest.raises(KeyboardInterrupt):
        perform(run)
    assert rows(session) == before


def test_a_cancelled_run_keeps_what_is_committed(session, monkeypatch):
    """Cancelled in the middle, the turns before stay; the next run reads only the rest."""
    run, _ = request_observing(session)
    read, taken = Reading.read, []

    def cancels(self, turn):
        taken.append(turn.number)
        if len(taken) == 4:
            runs.cancel(run)
        return read(self, turn)

    monkeypatch.setattr(Reading, "read", cancels)
    perform(run)
    run.refresh_from_db()
    assert run.state == "cancelled"
    kept = ObservationBatch.objects.filter(session=session).count()
    assert kept == 3
    monkeypatch.setattr(Reading, "read", read)
    assert observed(session).result["ends"]["known"] == 3


def test_a_model_is_asked_only_with_a_persons_yes(session, at):
    """Without a model, without the workspace's leave and without a confirmation nothing is asked."""
    with pytest.raises(BadRequest, match="No model is set"):
        request_observing(session, "model", confirm=True)
    with at(FakeOpenAI(says(ONE)), session) as server:
        told = estimate(session)
        assert (told.requests, told.allowed, told.model) == (session.turns + 1, True, "gpt-4o")
        assert told.cost is not None
        with pytest.raises(BadRequest, match="confirm"):
            request_observing(session, "model")
        change_settings(session.workspace, {"allow_model": False})
        with pytest.raises(BadRequest, match="allow it in the settings"):
            request_observing(session, "model", confirm=True)
        assert server.requests == []


def test_a_models_observations_cost_once_a_batch(session, at):
    """Cost and tokens stand at the batch; the same content from every turn is one row; the summary is kept."""
    with at(FakeOpenAI(says(ONE)), session):
        run = observed(session, "model", confirm=True, summary=False)
    assert (run.state, run.error) == ("done", "")
    assert ObservationRecord.objects.filter(session=session).count() == 1
    batches = ObservationBatch.objects.filter(session=session)
    assert batches.count() == session.turns
    assert all((batch.fate, batch.discovery_tokens) == ("stored", 150) for batch in batches)
    with at(FakeOpenAI(says(SUMMARY)), session):
        observed(session, "model", confirm=True)
    assert SessionSummaryRecord.objects.get(session=session).learned == "l"


def test_an_answer_that_is_none_is_counted(session, at):
    """Prose is discarded with a preview and not asked for again; a provider's refusal puts the turn back."""
    with at(FakeOpenAI(says("I am observing.")), session):
        run = observed(session, "model", confirm=True, summary=False)
    assert run.result["ends"] == {"discarded": session.turns, "discarded:prose": session.turns}
    assert {batch.preview for batch in ObservationBatch.objects.filter(session=session)} == {
        "I am observing."
    }
    ObservationBatch.objects.all().delete()
    with at(FakeOpenAI(says("Usage limit reached, try again at 5pm")), session):
        run = observed(session, "model", confirm=True)
    assert run.state == "failed"
    assert "refuses" in run.error
    assert list(ObservationBatch.objects.filter(session=session).values_list("fate", flat=True)) == [
        "pending"
    ]
    with at(FakeOpenAI(says(ONE)), session):
        assert observed(session, "model", confirm=True, summary=False).state == "done"


def test_an_answer_that_was_paid_for_is_not_asked_for_again(session, at, monkeypatch):
    """A worker that dies behind the answer leaves it; the next attempt reads it and asks about the other turns only."""
    with at(FakeOpenAI(says(ONE)), session) as server:
        real = keeping.keep

        def dies(*args):
            raise KeyboardInterrupt

        monkeypatch.setattr("contextlab.services.memories.observing.keep", dies)
        run, _ = request_observing(session, "model", confirm=True, summary=False)
        with pytest.raises(KeyboardInterrupt):
            perform(run)
        monkeypatch.setattr("contextlab.services.memories.observing.keep", real)
        assert observed(session, "model", confirm=True, summary=False).state == "done"
        assert len(server.requests) == session.turns


def test_a_model_that_fails_changes_nothing(session, at):
    """A server error is tried again later; what was there stays."""
    with at(FakeOpenAI(fails(500, "broken")), session):
        run = observed(session, "model", confirm=True)
    assert run.state == "queued"
    assert not ObservationBatch.objects.filter(session=session).exists()


def test_a_block_for_a_new_session(session):
    """The best observations that fit, counted in tokens; another project's are not among them."""
    observed(session)
    found = inject(session.workspace, session.project, budget=400)
    assert 0 < found.tokens <= 400
    assert found.token_source == "counted"
    assert found.left_out
    assert inject(session.workspace, "/another", budget=400).text == ""
