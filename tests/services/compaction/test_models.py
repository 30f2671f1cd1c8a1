"""A model that misbehaves: the run ends in the right state and memory stays; a kept answer is not asked for again."""

import pytest
from django.db import OperationalError
from django.utils import timezone

from contextlab.adapters.prices import price_of
from contextlab.core.language_model import ModelReply
from contextlab.core.summarising import summary_budget
from contextlab.services import compaction, runs
from contextlab.services.compaction import BadRequest, models, performing
from contextlab.services.work import execute
from contextlab.store.models import MemoryVersion, ModelAnswer, Run, View
from tests.importers.claude_log import text
from tests.services.compaction.doing import ANSWER, BY_MODEL, asked, by_model, done, seen
from tests.services.doing import import_well
from tests.services.test_ingest import busy_log
from tests.support.fake_openai import FakeOpenAI, answers, fails, hangs, pours, refuses, says, sends

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def test_an_answer_becomes_a_memory_with_its_cost(session, at):
    """Sections, usage, cost and the raw answer are kept; the key is nowhere."""
    with at(FakeOpenAI(says(ANSWER))):
        job = done(by_model(session))
    assert (job.run.state, job.run.error, job.method) == ("done", "", "model")
    assert job.result["goal"] == "ship it"
    assert (job.raw_reply, job.usage["input_tokens"], job.usage["output_tokens"]) == (ANSWER, 120, 30)
    priced = price_of("gpt-4o", 120, 30, 100)
    assert (float(job.cost), job.prices) == (pytest.approx(float(priced.cost)), priced.prices)
    assert "canary" not in repr(list(Run.objects.values())) + repr(vars(job))


WAYS = {
    "401": (fails(401, "bad key"), "failed"),
    "429": (fails(429, "slow down", {"Retry-After": "7"}), "queued"),
    "500": (fails(500, "broken"), "queued"),
    "hang": (hangs, "queued"),
    "html": (sends(b"<html>hello</html>"), "failed"),
    "cut": (sends(b'{"choices": [{"message": {"content": "hal'), "failed"),
    "empty": (says(""), "queued"),
    "refusal": (refuses("I will not"), "failed"),
    "shape": (answers({"choices": "none"}), "failed"),
    "cut off": (says(ANSWER[:20], "length"), "failed"),
    "filtered": (says(ANSWER, "content_filter"), "failed"),
    "says nothing": (says("{}"), "failed"),
    "large": (pours(5_000_000), "failed"),
    "too long": (fails(400, "maximum context length is 4097 tokens"), "failed"),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_model_that_misbehaves_changes_nothing(session, at, way):
    """What may pass is tried again later; all else has failed, in words, and without a branch."""
    script, state = WAYS[way]
    with at(FakeOpenAI(script)):
        job = done(by_model(session))
    assert job.run.state == state
    assert job.run.error.endswith("Memory is as it was.")
    assert "canary" not in job.run.error
    assert not View.objects.filter(kind="branch").exists()
    if way == "429":
        assert (job.run.not_before - job.asked_at).total_seconds() > 6


def test_three_attempts_then_it_has_failed(session, at):
    """What does not pass ends as failed, to be started again by hand."""
    with at(FakeOpenAI(fails(500, "broken"))) as server:
        run = by_model(session)
        for _ in range(runs.ATTEMPTS + 1):
            Run.objects.filter(pk=run.pk).update(not_before=None)
            done(run)
    assert (seen(run).run.state, seen(run).run.retryable, len(server.requests)) == ("failed", True, 3)


def dies_behind_the_answer(run, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(performing, "commit", lambda *_: 1 / 0)
        assert done(run).run.state == "queued"
    assert ModelAnswer.objects.count() == 1
    Run.objects.filter(pk=run.pk).update(not_before=None)


def test_a_kept_answer_is_used_again(session, at, monkeypatch):
    """The worker dies behind the answer: the next attempt asks nobody."""
    with at(FakeOpenAI(says(ANSWER))) as server:
        run = by_model(session)
        dies_behind_the_answer(run, monkeypatch)
        assert done(run).run.state == "done"
    assert len(server.requests) == 1


@pytest.mark.parametrize("steps", [0, 3])
def test_a_kept_answer_is_used_again_though_the_log_has_grown(session, path, at, monkeypatch, steps):
    """The next attempt summarises what the first one read, and what came meanwhile follows."""
    with at(FakeOpenAI(says(ANSWER))) as server:
        run = by_model(session)
        dies_behind_the_answer(run, monkeypatch)
        grown = import_well(grow(path, steps))
        job = done(run)
    assert (job.run.state, len(server.requests), job.upto) == ("done", 1, grown.items)
    memory = compaction.memory_of(grown, "branch-1").snapshot
    assert memory.summary is not None
    assert [item.text for item in memory.items][-1] == ("gladly" if steps else "and now something else")


def grow(path, steps):
    """The log with a further prompt, and steps that answer it."""
    log = busy_log()
    log.user("and now something else")
    for number in range(steps):
        log.answer(f"m{90 + number}", text("gladly"), stop="end_turn")
    path.write_bytes(log.data)
    return path


def test_a_long_memory_is_asked_for_in_parts(session, at, settings, monkeypatch):
    """No request is larger than its budget, and each answer is kept."""
    monkeypatch.setattr(summary_budget, "LONGEST", 400)
    settings.MODEL_WINDOW = 850
    with at(FakeOpenAI(says(ANSWER))) as server:
        job = done(by_model(session))
    assert job.run.state == "done", job.run.error
    assert len(server.requests) > 2
    assert ModelAnswer.objects.count() == len(server.requests)


def test_a_preview_foresees_the_requests_of_a_long_memory(session, at, settings, monkeypatch):
    """Where a memory goes to the model in parts, the requests and tokens shown first are those of the parts."""
    monkeypatch.setattr(summary_budget, "LONGEST", 400)
    settings.MODEL_WINDOW = 850
    with at(FakeOpenAI(says(ANSWER))) as server:
        told = compaction.preview(session, compaction.read_request({"policy": BY_MODEL}))
        job = done(by_model(session))
    assert job.run.state == "done", job.run.error
    assert told.estimate.calls == len(server.requests) > 2
    assert told.estimate.input_tokens <= told.estimate.calls * settings.MODEL_WINDOW


def test_an_answer_that_was_cut_off_is_paid_and_no_summary(session, at, monkeypatch):
    """What it cost is told; an attempt behind a crash reads the same answer and says the same."""
    keep = models.KeepingModel._keep

    def dies_behind(self, *row):
        keep(self, *row)
        raise ZeroDivisionError

    with at(FakeOpenAI(says(ANSWER[:20], "length"))) as server:
        run = by_model(session)
        with monkeypatch.context() as patched:
            patched.setattr(models.KeepingModel, "_keep", dies_behind)
            assert done(run).run.state == "queued"
        Run.objects.filter(pk=run.pk).update(not_before=None)
        job = done(run)
    assert (job.run.state, len(server.requests)) == ("failed", 1)
    assert "cut off before its end" in job.run.error
    assert (job.usage["output_tokens"], job.raw_reply) == (30, ANSWER[:20])
    assert not View.objects.filter(kind="branch").exists()


def test_half_a_character_in_an_answer_fails_nothing(session, at):
    """What JSON may hold and no column can is replaced where it is decoded."""
    with at(
        FakeOpenAI(
            says(
                '{"goal": "see \\ud83d \\u0000", "completed": [{"text": "b \\udc00", "items": ["\\ud800"]}]}'
            )
        )
    ):
        job = done(by_model(session))
    assert job.run.state == "done", job.run.error
    assert job.result["goal"] == "see \ufffd \u2400"


def test_who_stops_a_compaction_finds_no_error_in_it(session, at, monkeypatch):
    """A run that a person cancels while the model is asked is cancelled, not failed."""

    class Stopping:
        def complete(self, messages, **_):
            runs.cancel(Run.objects.get(kind="compact"))
            return ModelReply(ANSWER)

    monkeypatch.setattr(models, "open_model", Stopping)
    with at(FakeOpenAI(says(ANSWER))):
        job = done(by_model(session))
    assert (job.run.state, job.run.error) == ("cancelled", "")
    assert not View.objects.filter(kind="branch").exists()


def test_a_database_that_fails_is_not_called_the_model(session, at, monkeypatch):
    """The run is tried again and says what failed."""

    def fails_to_keep(*_):
        raise OperationalError("database is locked")

    monkeypatch.setattr(models.KeepingModel, "_keep", fails_to_keep)
    with at(FakeOpenAI(says(ANSWER))):
        job = done(by_model(session))
    assert job.run.state == "queued"
    assert "model" not in job.run.error
    assert "database" in job.run.error


def test_no_model_is_asked_without_a_person(session, at, settings):
    """A key is no consent; a host that is not on the operator's list is never asked."""
    with at(FakeOpenAI(says(ANSWER))) as server:
        with pytest.raises(BadRequest) as refused:
            asked(session, policy=BY_MODEL)
        assert refused.value.place == "confirm"
        told = compaction.preview(session, compaction.read_request({"policy": BY_MODEL}))
        assert (told.needs_model, told.model_ready, told.after_estimated) == (True, True, True)
        assert told.estimate.calls == 1
        assert told.estimate.cost > 0
        settings.LOCAL = False
        assert not compaction.model_status().allowed
        with pytest.raises(BadRequest, match="operator's list"):
            by_model(session)
        assert server.requests == []
        settings.MODEL_HOSTS = ["127.0.0.1", "localhost"]
        assert compaction.model_status().allowed


def test_an_unknown_price_is_unknown():
    """Never 0."""
    assert price_of("no-such-model", 10, 10) is None
    assert price_of("gpt-4o", None, 10) is None


class Killed(BaseException):
    """Nothing of the worker's own code is run behind it but what tidies up."""


@pytest.mark.parametrize("base", ["log", "branch"])
def test_a_worker_that_dies_right_behind_its_commit_has_done_it(session, at, base):
    """What is committed ends the run with it: nobody does it again, and its costs are known."""
    with at(FakeOpenAI(says(ANSWER))) as server:
        values = {}
        if base == "branch":
            done(by_model(session, before_step=12))
            values = {"view": "branch-1", "keep_recent": 1}
        run = by_model(session, **values)
        asked_before = len(server.requests)

        def dies(work):
            performing.perform(work)
            raise Killed

        with pytest.raises(Killed):
            execute(run.uid, dies)
        Run.objects.filter(state="running").update(lease_until=timezone.now())
        job = done(run)
        assert len(server.requests) == asked_before + 1
    assert (job.run.state, job.run.attempts, job.run.doing) == ("done", 1, "")
    assert MemoryVersion.objects.filter(compaction=job).count() == 1
    assert View.objects.filter(kind="branch").count() == 1
    assert job.run.result["branch"] == "branch-1"
    assert job.usage["input_tokens"] == 120


def test_what_was_paid_is_told_though_nothing_came_of_it(session, at, monkeypatch):
    """A worker that dies with the answer in its hand leaves the answer and its cost behind."""

    def dies(*_):
        raise Killed

    monkeypatch.setattr(performing, "commit", dies)
    with at(FakeOpenAI(says(ANSWER))):
        run = by_model(session)
        with pytest.raises(Killed):
            execute(run.uid, lambda work: performing.perform(work))
    job = seen(run)
    assert (job.raw_reply, job.usage["output_tokens"], job.cost is not None) == (ANSWER, 30, True)
    assert not View.objects.filter(kind="branch").exists()
