"""The memory of a live session: what changes it, what does not, and what each step got."""

from __future__ import annotations

from typing import Any

import pytest

from contextlab.core import AgentSession, Deps, Kind
from contextlab.core.agent.auto_compaction import PAUSED
from contextlab.core.memory import AgentMemory
from contextlab.core.policy import parse_policy
from contextlab.core.projection import project
from contextlab.services.actions import perform
from contextlab.services.live.answering import context_of
from contextlab.services.live.memory import read_live
from contextlab.services.live.replay import memories_of
from contextlab.services.runs import claim
from contextlab.store.models import CompactionJob, LiveVersion, MemoryVersion, Run, RunState, View
from tests.api.conftest import Api
from tests.api.test_live import JSON, LONG, TRIGGERED, Agent, item, said, step, work

KEEP = {"version": 1, "name": "keep", "projector": {"kind": "default"}}


@pytest.fixture
def agent(api: Api, settings: Any, tmp_path: Any) -> Agent:
    settings.DATA_DIR = tmp_path
    return Agent(api, policy=TRIGGERED)


@pytest.fixture
def quiet(api: Api, settings: Any, tmp_path: Any) -> Agent:
    """An agent whose memory never compacts by itself."""
    settings.DATA_DIR = tmp_path
    agent = Agent(api, policy="keep-all")
    for number in range(1, 6):
        agent.turn(number, LONG)
    return agent


def compact(agent: Agent, **body: Any) -> Any:
    asked = agent.api.post(
        agent.at + "compactions/", {"view": "live", "policy": "rule-based", **body}, 202, **JSON
    )
    perform(Run.objects.get(uid=asked["id"]))
    return agent.api.get(f"compactions/{asked['id']}/")


def view_of(agent: Agent) -> View:
    return agent.session.views.get(kind=View.Kind.LIVE)


def test_compact_now_is_the_agents_next_memory(quiet: Agent) -> None:
    """A person presses the button; the agent's next question is answered from what came of it, no branch is made."""
    before = quiet.memory()
    assert (before["version"], len(said(before))) == (1, 10)
    done = compact(quiet, keep_recent=2)
    assert (done["state"], done["trigger"], done["branch"], done["version"]) == ("done", "manual", "live", 2)
    after = quiet.memory()
    assert (after["version"], after["report"]["projected_items"]) == (2, 3)
    assert said(after)[-1] == said(before)[-1]
    assert not quiet.session.views.filter(kind=View.Kind.BRANCH).exists()


def test_what_came_meanwhile_follows(quiet: Agent) -> None:
    """The agent goes on while the compaction is made: nothing it sent is lost, and nothing conflicts."""
    asked = quiet.api.post(
        quiet.at + "compactions/", {"view": "live", "policy": "rule-based", "keep_recent": 2}, 202, **JSON
    )
    quiet.send(item("late", "user", "one more thing"))
    perform(Run.objects.get(uid=asked["id"]))
    assert said(quiet.memory())[-1] == "one more thing"
    quiet.send(item("later", "user", "and another"))
    assert said(quiet.memory())[-1].endswith("and another")


def test_restore_takes_the_compaction_back(quiet: Agent) -> None:
    """With all that the session got since; every version stays."""
    before = said(quiet.memory())
    compact(quiet, keep_recent=2)
    quiet.turn(6)
    told = quiet.api.post(quiet.at + "branches/live/restore/", {"version": 1}, **JSON)
    assert [line["version"] for line in told["versions"]] == [3, 2, 1]
    assert said(quiet.memory())[:10] == before
    assert len(said(quiet.memory())) == 12
    again = quiet.api.post(quiet.at + "branches/live/restore/", {"version": 2}, **JSON)
    assert (again["versions"][0]["created_by"], again["versions"][0]["restored"]) == ("restore", 2)
    assert quiet.memory()["report"]["projected_items"] == 5
    for version in (2, 4):
        twice = quiet.api.post(quiet.at + "branches/live/restore/", {"version": version}, **JSON)
        assert (len(twice["versions"]), twice["made"]) == (4, False)
    refused = quiet.api.post(quiet.at + "branches/live/restore/", {"version": 9}, 400, **JSON)["error"]
    assert refused["place"] == "body: version"
    assert (
        quiet.api.post(quiet.at + "branches/live/promote/", {}, 400, **JSON)["error"]["place"] == "body: view"
    )


def test_a_live_memory_has_no_line_to_type(quiet: Agent) -> None:
    """Pins for the agent's own compaction are refused where the memory is compacted here, not dropped unsaid."""
    for name in ("pin", "instructions"):
        assert quiet.memory(400, **{name: "u1"})["error"]["place"] == f"query: {name}"


def test_a_step_that_took_its_memory_keeps_it(quiet: Agent) -> None:
    """A version made while the model is being asked is that of the step after; asked for again it is this step's."""
    assert quiet.memory()["step"] == 6
    compact(quiet, keep_recent=2)
    assert LiveVersion.objects.get(memory__version=2).step == 7
    quiet.send(step(6), item("a6", "assistant", "answer 6"))
    assert quiet.memory()["version"] == 2
    compact(quiet, keep_recent=1)
    assert quiet.memory(peek=1)["version"] == 3
    assert LiveVersion.objects.get(memory__version=3).step == 8
    assert quiet.memory()["version"] == 3
    assert LiveVersion.objects.get(memory__version=3).step == 7
    quiet.turn(7)
    work()
    reports = [line["report"] for line in quiet.api.get(quiet.at + "steps/", view="live")["results"]]
    assert [report["summarised_items"] for report in reports] == [0, 0, 0, 0, 0, 0, 9]


def test_every_step_shows_what_the_agent_was_given(agent: Agent) -> None:
    """The report of each step in the live view is that of the memory that was handed out before it."""
    given: list[dict[str, Any]] = []
    for number in range(1, 12):
        agent.send(item(f"u{number}", "user", f"question {number} {LONG}"))
        work()
        given.append(agent.memory()["report"])
        call = item(f"c{number}", "tool_call", "ls", tool="bash", call_id=f"k{number}")
        agent.send(step(number), item(f"a{number}", "assistant", f"answer {number} {LONG}"), call)
        agent.send(item(f"r{number}", "tool_result", LONG, call_id=f"k{number}"))
    work()
    seen = [line["report"] for line in agent.api.get(agent.at + "steps/", view="live", limit=50)["results"]]
    names = ("projected_items", "projected_entries", "projected_tokens", "projected_chars")
    assert [[one[name] for name in names] for one in seen] == [[one[name] for name in names] for one in given]
    assert len({one["summarised_items"] for one in seen}) > 3
    fires = agent.api.get(agent.at + "decisions/", view="live")["steps"]
    assert fires["made"] > 2


def test_memory_is_what_a_live_agent_would_have(agent: Agent) -> None:
    """The messages equal those of an AgentSession that holds the same items."""
    agent.send(
        item("s", "system", "Be brief."), item("u1", "user", "list it"), step(1),
        item("c1", "tool_call", "{}", tool="ls", call_id="k1", entry="m1"),
        item("r1", "tool_result", "a b", call_id="k1"),
    )  # fmt: skip
    session = AgentSession(parse_policy(TRIGGERED).projector, deps=Deps())
    session.add(Kind.SYSTEM, "Be brief.")
    session.add(Kind.USER, "list it")
    session.add(Kind.TOOL_CALL, "{}", tool="ls", call_id="k1", entry="m1")
    session.add(Kind.TOOL_RESULT, "a b", call_id="k1")
    for name in ("openai_chat", "openai_responses", "anthropic"):
        assert agent.memory(format=name)["document"] == session.next_context(name).document
    assert agent.memory(format="markdown")["document"].startswith("#")
    assert agent.memory(400, format="nothing")["error"]["place"] == "query: format"


def test_it_is_decided_when_the_results_are_in(agent: Agent) -> None:
    """A call without its result is not compacted away: the decision waits for what the next step gets."""
    agent.send(
        item("u1", "user", LONG), step(1), item("a1", "assistant", LONG), item("u2", "user", LONG), step(2)
    )
    calls = [item(f"c{n}", "tool_call", "{}", tool="ls", call_id=f"k{n}", entry="m2") for n in (1, 2)]
    assert agent.send(*calls)["decision"]["outcome"] == "waiting"
    assert agent.send(item("r1", "tool_result", LONG, call_id="k1"))["decision"]["outcome"] == "waiting"
    decision = agent.send(item("r2", "tool_result", LONG, call_id="k2"))["decision"]
    assert (decision["step"], decision["outcome"]) == (3, "queued")


def test_a_failure_leaves_memory_as_it_was_and_three_pause_it(agent: Agent, monkeypatch: Any) -> None:
    """Each is told in the decision log; after three nothing is tried until somebody compacts by hand."""
    monkeypatch.setattr(
        "contextlab.core.policies.rule_based.RuleBased.compact",
        lambda *_: (_ for _ in ()).throw(ValueError("broken")),
    )
    for number in range(1, 10):
        agent.turn(number, LONG)
        work()
    memory = agent.memory()
    assert (memory["version"], len(said(memory))) == (1, 18)
    told = agent.api.get(agent.at + "decisions/", view="live", outcome="failed")["results"]
    assert "broken" in told[0]["reason"]
    paused = agent.api.get(agent.at + "decisions/", view="live", outcome="paused")["results"]
    assert paused[-1]["reason"] == PAUSED.format(3)
    assert CompactionJob.objects.filter(trigger="auto").count() == 3
    monkeypatch.undo()
    assert compact(agent, keep_recent=2)["state"] == "done"
    assert agent.turn(10, LONG)["decision"]["outcome"] == "not_due"


def test_three_useless_runs_pause_it_and_name_what_is_too_big(api: Api, settings: Any, tmp_path: Any) -> None:
    """The part of memory that keeps it over the threshold stands in the decision log."""
    settings.DATA_DIR = tmp_path
    policy = {
        "version": 1, "name": "tight", "compaction": {"kind": "rule_based", "keep_recent": 4},
        "trigger": {"kind": "tokens", "min_tokens": 100},
    }  # fmt: skip
    agent = Agent(api, policy=policy)
    number, reason = 0, ""
    while not reason.startswith("no_use") and number < 9:
        number += 1
        reason = agent.turn(number, LONG)["decision"]["reason"] or ""
        work()
    assert reason.startswith("no_use: the ")
    assert "of 100 tokens" in reason
    assert CompactionJob.objects.filter(trigger="auto", run__state="done").count() == 3
    page = agent.api.client.get(f"/sessions/{agent.known['id']}/decisions?view=live").content.decode()
    assert "something is too big" in page


def test_not_again_until_memory_has_changed(agent: Agent) -> None:
    """What changes nothing (a figure of usage) starts no second compaction of the same memory."""
    policy = {**TRIGGERED, "compaction": {"kind": "rule_based", "keep_recent": 20}}
    other = Agent(agent.api, policy=policy)
    for number in (1, 2, 3):
        other.turn(number, LONG)
        work()
    asked = CompactionJob.objects.filter(session=other.session).count()
    told = other.send({"type": "usage", "step": "s3", "input": 900})["decision"]
    assert told["outcome"] == "paused"
    assert told["reason"].startswith("cool_down")
    assert CompactionJob.objects.filter(session=other.session).count() == asked


def test_a_model_is_asked_only_where_it_was_allowed(api: Api, settings: Any, tmp_path: Any) -> None:
    """Without the opt-in the decision log says that a model would be needed, and memory stays."""
    settings.DATA_DIR, settings.MODEL_BASE_URL, settings.MODEL_NAME = tmp_path, "http://127.0.0.1:9/v1", "m"
    policy = {"version": 1, "name": "asks", "compaction": {"kind": "llm_summary"},
              "trigger": {"kind": "items", "max_items": 3}}  # fmt: skip
    agent = Agent(api, policy=policy)
    for number in (1, 2, 3):
        agent.turn(number, LONG)
    told = agent.api.get(agent.at + "decisions/", view="live", outcome="needs_model")["results"]
    assert told[0]["reason"] == "not_allowed"
    assert not CompactionJob.objects.exists()
    allowed = Agent(api, policy=policy, allow_model=True)
    for number in (1, 2):
        allowed.turn(number, LONG)
    assert CompactionJob.objects.get().allow_model is True


def test_the_agents_own_compaction_is_a_version(agent: Agent) -> None:
    """An agent that compacts in its own process tells of it: memory is what it says, and the steps show that."""
    for number in (1, 2):
        agent.turn(number, LONG)
    agent.send(
        {"type": "compaction", "id": "k", "keeps": ["a2"], "summary": "sum", "trigger": "auto"},
        item("sum", "summary", "they talked"), item("u3", "user", "go on"),
    )  # fmt: skip
    memory = agent.memory()
    assert memory["version"] == 2
    assert memory["report"]["projected_items"] == 3
    assert "they talked" in said(memory)[0]
    agent.send(step(3), item("a3", "assistant", "well"))
    work()
    report = agent.api.get(agent.at + "steps/3/", view="live")["report"]
    assert (report["projected_items"], report["summarised_items"]) == (3, 3)
    assert "the agent's own compaction 1" in report["notes"][0]
    assert MemoryVersion.objects.filter(view=view_of(agent)).count() == 2


def test_a_context_that_the_agent_clears(agent: Agent) -> None:
    """What the log takes out of memory is out of it, the summary of it as well."""
    for number in range(1, 5):
        agent.turn(number, LONG)
        work()
    assert agent.memory()["version"] > 1
    agent.send(
        {"type": "cleared", "id": "x", "all_before": True, "verdict": "dropped", "reason": "context_cleared"}
    )
    agent.send(item("new", "user", "something else"))
    assert said(agent.memory()) == ["something else"]
    agent.send(step(9))
    work()
    assert agent.api.get(agent.at + "steps/5/", view="live")["report"]["projected_items"] == 1


def test_a_worker_that_dies_changes_nothing(agent: Agent) -> None:
    """The run is taken up by another one: one version comes of it."""
    agent.turn(1, LONG)
    agent.turn(2, LONG)
    agent.turn(3, LONG)
    run = CompactionJob.objects.get().run
    assert claim(run.uid) is not None
    Run.objects.filter(pk=run.pk).update(lease_until="2020-01-01T00:00:00Z")
    assert agent.memory()["version"] == 1
    work()
    run.refresh_from_db()
    assert (run.state, run.attempts) == (RunState.DONE, 2)
    assert MemoryVersion.objects.filter(view=view_of(agent)).count() == 2


def test_a_report_equals_the_projection_of_memory_in_force(agent: Agent) -> None:
    """The core alone comes to the same for the items of the memory."""
    for number in range(1, 7):
        agent.turn(number, LONG)
        work()
    agent.send(item("u7", "user", "last question"))
    work()
    view = view_of(agent)
    held = read_live(view)
    context = context_of(view, held, "openai_chat")
    memory = AgentMemory(held.snapshot.items, held.snapshot.summary)
    alone = project(memory.prompt_items(), parse_policy(TRIGGERED).projector)
    assert context.report.projected_items == alone.report.projected_items
    agent.send(step(7))
    work()
    stored = agent.api.get(agent.at + "steps/7/", view="live")["report"]
    assert stored["projected_items"] == alone.report.projected_items
    assert stored["projected_tokens"] == context.report.projected_tokens


def test_asking_may_wait_for_the_compaction(agent: Agent) -> None:
    """An agent that can wait gets the compacted memory at the very step for which it was due."""
    agent.turn(1, LONG)
    agent.turn(2, LONG)
    agent.turn(3, LONG)
    assert agent.memory(peek=1, wait=0)["compacting"] is not None
    error = agent.memory(400, wait=61)["error"]
    assert error["place"] == "query: wait"
    work()
    assert agent.memory(wait=5)["version"] == 2


def test_decisions_that_the_agent_made_itself(quiet: Agent, agent: Agent) -> None:
    """They stand in the decision log of a session whose policy leaves them to it; wrong ones are named."""
    told = quiet.send(
        {
            "type": "decision",
            "step": 1,
            "outcome": "not_due",
            "rule": "items > 9",
            "estimate": 3,
            "threshold": 9,
        },
        {
            "type": "decision",
            "step": 2,
            "outcome": "not_due",
            "rule": "items > 9",
            "estimate": 5,
            "threshold": 9,
        },
        {"type": "decision", "step": 3, "outcome": "perhaps"},
        {"type": "decision", "step": 0, "outcome": "made"},
        {"type": "decision", "step": 3, "outcome": "made", "estimate": "many"},
        {"type": "decision", "step": 3, "outcome": "failed", "reason": "the model was away", "more": 1},
        {"type": "decision", "step": 3, "outcome": "failed", "reason": 5},
    )
    assert (told["taken"], told["skipped_total"], told["decision"]) == (2, 5, None)
    log = quiet.api.get(quiet.at + "decisions/", view="live")
    assert log["steps"] == {"not_due": 2}
    assert (log["results"][0]["lowest"], log["results"][0]["highest"]) == (3, 5)
    refused = agent.send({"type": "decision", "step": 1, "outcome": "made"})
    assert (refused["taken"], refused["skipped"][0]["line"]) == (0, 1)


def test_a_run_that_ended_badly_is_told_without_a_further_step(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever looks at the decision log reads what became of it; a trigger that breaks is a failure, too."""
    monkeypatch.setattr("contextlab.core.policies.rule_based.RuleBased.compact", lambda *_: 1 / 0)
    for number in (1, 2, 3):
        agent.turn(number, LONG)
    work()
    told = agent.api.get(agent.at + "decisions/", view="live", outcome="failed")["results"]
    assert "division by zero" in told[0]["reason"]
    monkeypatch.setattr("contextlab.core.triggers.items.ItemsTrigger.decide", lambda *_: 1 / 0)
    decision = agent.turn(4, LONG)["decision"]
    assert (decision["outcome"], decision["reason"]) == ("failed", "ZeroDivisionError: division by zero")


def test_many_versions_are_read_in_one_go(quiet: Agent, django_assert_max_num_queries: Any) -> None:
    """Of each the items, and nothing that has to be asked for along the way back to the first."""
    for number in range(6, 14):
        quiet.turn(number, LONG)
        compact(quiet, keep_recent=2)
    quiet.api.post(quiet.at + "branches/live/restore/", {"version": 3}, **JSON)
    quiet.turn(14)
    view = view_of(quiet)
    with django_assert_max_num_queries(4 * 8 + 4):
        found = memories_of(view)
    assert [one.step for one in found] == sorted({one.step for one in found})
    assert len(found) == 8  # of the last two for one step the later one counts
    assert found[-1].name == "version 3 again (version 10)"
