"""Another policy for a live session while it goes: from the next step on, with what was left as it was."""

from __future__ import annotations

from typing import Any

import pytest

from contextlab.store.models import CompactionJob, PolicyChange, Run, StepReport, View
from tests.api.conftest import Api
from tests.api.test_live import JSON, LONG, SUMMARY, TRIGGERED, Agent, item, said, step, work
from tests.factories import a_session

LAST_TWO = {"version": 1, "name": "last two", "projector": {"kind": "default", "max_items": 2}}
EARLIER = {**TRIGGERED, "name": "earlier", "trigger": {"kind": "items", "max_items": 3}}


@pytest.fixture
def agent(api: Api, settings: Any, tmp_path: Any) -> Agent:
    settings.DATA_DIR = tmp_path
    return Agent(api, name="fix the tests", policy="keep-all")


def change(agent: Agent, status: int = 200, **body: Any) -> Any:
    return agent.api.post(agent.at + "policy/", body, status, **JSON)


def shown(agent: Agent) -> list[int]:
    """Items that each step of the live view was shown."""
    work()
    view = View.objects.get(session=agent.session, name="live")
    return list(
        StepReport.objects.filter(view=view).order_by("step").values_list("projected_items", flat=True)
    )


def test_later_steps_go_by_the_new_policy(agent: Agent) -> None:
    """The steps before stay as they went; time, step and both policies stand beside the decision log."""
    for number in (1, 2):
        agent.turn(number)
    answer = change(agent, policy=LAST_TWO)
    assert (answer["from_step"], answer["policy"]["name"], answer["decision"]) == (3, "last two", None)
    agent.turn(3)
    assert shown(agent) == [1, 3, 2]
    assert len(said(agent.memory(peek=1))) == 2
    change(agent, policy="keep-all")
    agent.turn(4)
    assert shown(agent) == [1, 3, 2, 7]
    changes = agent.api.get(agent.at + "decisions/", view="live")["policy_changes"]
    assert [(one["step"], one["before"], one["after"]) for one in changes] == [
        (4, "last two", "keep-all"), (3, "keep-all", "last two"),
    ]  # fmt: skip
    assert changes[0]["at"] > changes[1]["at"]


def test_a_memory_that_was_handed_out_is_that_of_its_step(agent: Agent) -> None:
    """The change holds from the step after, unless the agent asks once more before it answers."""
    agent.turn(1)
    agent.send(item("u2", "user", "two"))
    agent.memory()
    assert change(agent, policy=LAST_TWO)["from_step"] == 3
    assert len(said(agent.memory(peek=1))) == 2
    assert PolicyChange.objects.get().step == 3
    assert len(said(agent.memory())) == 2
    assert PolicyChange.objects.get().step == 2
    agent.send(step(2), item("a2", "assistant", "yes"))
    assert shown(agent) == [1, 2]


def test_what_was_compacted_stays(agent: Agent) -> None:
    """A policy that is due at once queues its compaction; the next one leaves that memory in force."""
    for number in (1, 2):
        agent.turn(number, LONG)
    told = change(agent, policy=EARLIER)
    assert (told["decision"]["outcome"], told["decision"]["threshold"]) == ("queued", 3)
    work()
    assert CompactionJob.objects.get().run.state == "done"
    before = said(agent.memory(peek=1))
    assert change(agent, policy="keep-all")["decision"] is None
    assert (agent.memory(peek=1)["version"], said(agent.memory(peek=1))) == (2, before)
    assert agent.api.get(agent.at + "decisions/", view="live")["steps"] == {"made": 1}


def test_another_policy_closes_the_breakers(agent: Agent) -> None:
    """What the old one failed at says nothing about the new one."""
    change(agent, policy={**EARLIER, "name": "fails"})
    for number in range(1, 6):
        agent.turn(number, LONG)
        waiting = Run.objects.filter(kind=Run.Kind.COMPACT).exclude(state="failed")
        waiting.update(state="failed", error="no such model", idempotency_key=None)
    assert agent.send(item("u9", "user", "on"))["decision"]["outcome"] == "paused"
    assert change(agent, policy=EARLIER)["decision"]["outcome"] == "queued"


def test_the_same_policy_changes_nothing(agent: Agent) -> None:
    """No row, no decision."""
    assert change(agent, policy="keep-all")["from_step"] is None
    assert not PolicyChange.objects.exists()


@pytest.mark.parametrize(
    ("body", "place", "reason"),
    [
        ({}, "policy", "Which policy?"), ({"policy": "nobody's"}, "policy", "nobody's"),
        ({"policy": {**LAST_TWO, "projector": {"kind": "default", "max_itms": 3}}}, "policy", "max_itms"),
        ({"policy": 7}, "policy", "name or a policy document"), ({"policy": "keep-all", "x": 1}, "x", "no such key"),
        ({"policy": "keep-all", "allow_model": "yes"}, "allow_model", "true or false"),
        ({"policy": SUMMARY, "allow_model": True}, "allow_model", "model"),
    ],
)  # fmt: skip
def test_a_bad_policy_is_refused(agent: Agent, body: Any, place: str, reason: str) -> None:
    """With its place and reason, and the session keeps the policy that it has."""
    error = change(agent, 400, **body)["error"]
    assert error["place"] == f"body: {place}"
    assert reason in error["message"]
    assert (
        agent.api.post("sessions/", {"id": agent.known["native_id"]}, 200, **JSON)["policy"]["name"]
        == "keep-all"
    )
    assert not PolicyChange.objects.exists()


def test_the_opt_in_for_a_model_was_for_the_policy_that_was(agent: Agent, settings: Any) -> None:
    """Its cost was seen for that one: a model is asked under another only where that is allowed again."""
    settings.MODEL_BASE_URL, settings.MODEL_NAME = "http://127.0.0.1:9/v1", "small"
    assert change(agent, policy=SUMMARY, allow_model=True)["allow_model"] is True
    assert change(agent, policy={**SUMMARY, "name": "asks more"})["allow_model"] is False


def test_imported_sessions_have_none(agent: Agent) -> None:
    """Their views are made under any policy as it is."""
    other = a_session(workspace=agent.session.workspace)
    assert agent.api.post(f"sessions/{other.uid}/policy/", {"policy": "keep-all"}, 404, **JSON)


def test_a_person_changes_it_on_a_page(agent: Agent) -> None:
    """The panel leads to the choice; the decision log's page tells of it."""
    client, page = agent.api.client, f"/sessions/{agent.known['id']}"
    agent.turn(1)
    assert f'href="{page}/live/policy"' in client.get(page + "/live").content.decode()
    form = client.get(page + "/live/policy").content.decode()
    assert '<option value="keep-all" selected>' in form
    assert client.post(page + "/live/policy", {"policy": "nonsense"}).status_code == 400
    assert client.post(page + "/live/policy", {"policy": "last-n"})["Location"] == page + "?view=live"
    work()
    text = client.get(page + "/decisions?view=live").content.decode()
    assert "Its policy was changed" in text
    assert "<b>last-n</b>" in text
