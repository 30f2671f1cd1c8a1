"""What a run cost and when that pays: stored with it, with the prices that say so; and nothing is made twice."""

import pytest

from contextlab.adapters.prices import shares_of
from contextlab.core.measuring.pays_back import ASSUMED, pays_back
from contextlab.queries.compaction import compaction_page
from contextlab.services import compaction
from contextlab.services.actions import perform
from contextlab.services.compaction import performing, read_request
from contextlab.store.models import MemoryVersion, Run, StepRecord, View
from tests.services.compaction.doing import ANSWER, BY_MODEL, asked, by_model, done, seen
from tests.services.compaction.test_agreeing import RULES
from tests.support.fake_openai import FakeOpenAI, says

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def test_the_formula_of_the_documentation():
    """150k to 40k with a summary of 3k at Anthropic's prices: after 7 or 8 steps; without a model sooner."""
    assert pays_back(150_000, 40_000, 3_000) == 8
    assert pays_back(150_000, 40_000) == 5
    assert pays_back(150_000, 40_000, asked=0.0) == 5
    assert pays_back(10, 10) is None
    assert pays_back(10, 20) is None


def test_the_prices_are_those_of_the_agents_model(session):
    """Shares of its input price, with the unit prices and the list; preview and stored result agree."""
    told = compaction.preview(session, read_request({"policy": RULES, "before_compaction": 1}))
    job = done(asked(session, policy=RULES, before_compaction=1))
    model = StepRecord.objects.filter(session=session).order_by("-number").first().model
    listed = shares_of(model)
    assert (listed.read, listed.write, listed.output) == (0.1, 1.25, 5.0)
    assert job.payback == told.payback
    assert job.payback["steps"] == told.pays_back == pays_back(job.tokens_before, job.tokens_after)
    assert (job.payback["model"], job.payback["assumed"]) == (model, False)
    assert job.payback["prices"]["list"].startswith("genai-prices ")
    assert job.payback["prices"]["cache_write_mtok"] == "6.25"
    page = compaction_page(session.workspace_id, job.run.uid)
    assert page.payback == job.payback


def test_a_model_without_a_price_is_assumed_and_says_so(session):
    """Never a price of 0: the shares are assumed, and no prices are shown."""
    StepRecord.objects.filter(session=session).update(model="my-own-model")
    job = done(asked(session, policy=RULES, before_compaction=1))
    assert (job.payback["assumed"], job.payback["prices"]) == (True, None)
    assert (job.payback["read"], job.payback["write"]) == (ASSUMED.read, ASSUMED.write)


def test_what_another_model_took_is_in_it(session, at):
    """The summary's cost counts in input tokens of the agent's model."""
    with at(FakeOpenAI(says(ANSWER))):
        job = done(by_model(session, before_compaction=1))
    assert job.run.state == "done"
    price = float(shares_of(job.payback["model"]).input)
    asked_for = float(job.cost) / price
    assert job.payback["steps"] == pays_back(job.tokens_before, job.tokens_after, 30, asked=asked_for)


def test_nothing_saved_has_no_payback(session):
    """A run that did nothing pays nothing back."""
    job = done(asked(session, policy=RULES, keep_recent=10_000))
    assert (job.run.state, job.payback) == ("noop", None)


def test_prices_that_grow_and_prices_that_are_missing():
    """Of tiers the lowest; writing without a price of its own costs the input price; unknown stays unknown."""
    tiers = shares_of("claude-sonnet-4-5")
    assert (tiers.read, tiers.write) == (0.1, 1.25)
    assert (shares_of("gpt-4o").read, shares_of("gpt-4o").write) == (0.5, 1.0)
    assert shares_of("my-own-model") is None
    assert shares_of("") is None


def test_a_worker_that_dies_behind_the_commit_makes_nothing_twice(session, at, monkeypatch):
    """The next attempt finds the memory, asks nobody and says what is there."""
    with at(FakeOpenAI(says(ANSWER))) as server:
        run = by_model(session, before_compaction=1)
        real = performing.commit

        def dies(*given):
            real(*given)
            raise SystemExit

        monkeypatch.setattr(performing, "commit", dies)
        with pytest.raises(SystemExit):
            perform(run)
        monkeypatch.setattr(performing, "commit", real)
        Run.objects.filter(pk=run.pk).update(state="queued", token=None, finished_at=None, attempts=1)
        perform(run)
        assert len(server.requests) == 1
    job = seen(run)
    assert (job.run.state, job.run.result) == ("done", {"branch": "branch-1", "version": 2, "reason": ""})
    assert job.cost is not None
    assert View.objects.filter(kind="branch").count() == 1
    assert MemoryVersion.objects.count() == 2


def test_policies_of_this_test_ask_a_model():
    """So that what is asked above is asked."""
    assert read_request({"policy": BY_MODEL}).policy.needs_model
