"""Pages of a live session: how it stands, its memory in versions, and the opt-in for its model."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from contextlab.services.actions import perform
from contextlab.store.models import LiveSession, Run
from tests.api.conftest import Api
from tests.api.test_live import JSON, LONG, TRIGGERED, Agent, item, work
from tests.factories import a_session
from tests.web import pages

ASKS = {
    "version": 1,
    "name": "asks",
    "compaction": {"kind": "llm_summary", "max_items": 2},
    "trigger": {"kind": "items", "max_items": 3},
}


@pytest.fixture
def api(db: None) -> Api:
    return Api()


@pytest.fixture
def agent(api: Api, settings: Any, tmp_path: Any) -> Agent:
    settings.DATA_DIR = tmp_path
    agent = Agent(api, name="fix the tests", policy=TRIGGERED)
    for number in range(1, 5):
        agent.turn(number, LONG)
        work()
    return agent


def read(client: Client, address: str, status: int = 200) -> str:
    response = client.get(address)
    assert response.status_code == status
    return response.content.decode()


def test_the_session_says_how_its_agent_stands(client: Client, agent: Agent) -> None:
    """Version, what came since, the last decision; the same as a panel that asks again by itself."""
    page = f"/sessions/{agent.known['id']}"
    for address in (page, page + "?view=live", page + "/live"):
        text = read(client, address)
        assert "An agent lives here" in text
        assert 'hx-trigger="every 3s"' in text
        assert "the agent gets it with step" in text or "since step" in text
    text = read(client, page + "?view=live")
    assert "what the agent was given at each step" in text
    assert "counterfactual" not in text
    assert "items &gt; 5" in text
    assert ">its page</a>" in text
    assert "made by hand" not in text
    assert f"/sessions/{agent.known['id']}/compact?view=live" in text
    assert "counterfactual" in read(client, page + "?view=keep-all")


def test_the_panel_is_answered_where_something_changed(client: Client, agent: Agent) -> None:
    """Nobody who reads it loses the place for a panel that is the same."""
    at = f"/sessions/{agent.known['id']}/live"
    seen = re.findall(r"live\?seen=(\w+)", read(client, at))[0]
    assert client.get(f"{at}?seen={seen}").status_code == 204
    agent.send(item("more", "user", "one more"))
    assert client.get(f"{at}?seen={seen}").status_code == 200


def test_before_the_first_event(client: Client, api: Api, settings: Any, tmp_path: Any) -> None:
    """The page says where events go, and nothing that is not so."""
    settings.DATA_DIR = tmp_path
    agent = Agent(api, name="new")
    for view in ("", "?view=live"):
        text = read(client, f"/sessions/{agent.known['id']}{view}")
        assert "Nothing has come yet" in text
        assert "No model call in this log" not in text
        assert "only copy" not in text
    assert "No decisions" in read(client, f"/sessions/{agent.known['id']}/decisions?view=live")
    read(client, f"/sessions/{agent.known['id']}/compactions")
    read(client, f"/sessions/{agent.known['id']}/compact?view=live")


def test_its_steps_compactions_and_decisions(client: Client, agent: Agent) -> None:
    """Every page that a view has, and an automatic compaction with the figures by which it was due."""
    at = f"/sessions/{agent.known['id']}"
    for address in ("/steps/4", "/turns/4", "/decisions", "/chart.json", "/map.json", "/steps"):
        read(client, f"{at}{address}?view=live")
    step = read(client, f"{at}/steps/4?view=live")
    assert "What the agent was given" in step
    assert "counterfactual" not in step
    mark = client.get(f"{at}/chart.json?view=live").json()["marks"][0]
    assert mark["pre"] > mark["post"] > 0
    run = agent.api.get(agent.at + "compactions/")["results"][-1]["id"]
    text = read(client, f"/compactions/{run}")
    assert "auto: <b>items &gt; 5</b>, measured 6" in text
    assert "Promote" not in text
    text = read(client, f"{at}/compactions")
    assert "Memory of the agent" in text
    assert "from step" in text
    assert "as it was decided when the session went" in read(client, f"{at}/decisions?view=live")


def test_compact_now_and_restore_on_the_page(client: Client, agent: Agent) -> None:
    """The form names the agent's memory first; what is made is its next one, and can be taken back."""
    at = f"/sessions/{agent.known['id']}"
    text = read(client, f"{at}/compact?view=live")
    assert "what the agent gets at its next step" in text
    previewed = client.post(
        f"{at}/compact/preview", {"view": "live", "policy": "rule-based", "keep_recent": "1"}
    )
    assert previewed.status_code == 200
    made = client.post(
        f"{at}/compact", {"view": "live", "policy": "rule-based", "keep_recent": "1", "key": "k"}
    )
    assert made.status_code == 302
    version = agent.memory(peek=1)["version"]
    perform(Run.objects.get(uid=made["Location"].rsplit("/", 1)[-1]))
    assert agent.memory(peek=1)["version"] == version + 1
    back = client.post(f"{at}/branches/live/restore", {"version": "1"})
    assert back.status_code == 302
    assert agent.memory(peek=1)["version"] == version + 2
    assert "restore of version 1" in read(client, f"{at}/compactions")


def test_a_memorys_figures_are_those_of_what_it_holds(client: Client, agent: Agent) -> None:
    """Items, tokens and step of the live memory are what its agent gets, not what stood at the cut of a version."""
    compacted = agent.memory()
    agent.api.post(agent.at + "branches/live/restore/", {"version": 1}, **JSON)
    given = agent.memory(peek=1)
    version, report = given["version"], given["report"]
    assert (report["source_items"], report["token_source"]) == (8, "counted")
    at = f"/sessions/{agent.known['id']}"
    tokens = f"{report['source_tokens']:,}"
    page = pages.read(client.get(f"{at}/memory", {"branch": "live", "version": version})).text
    assert f"stands before step 6 items 8 tokens {tokens} counted" in page
    page = pages.read(client.get(f"{at}/compactions")).text
    assert f"Before step 6 the agent gets 8 items, {tokens} tokens counted" in page
    assert "tokens at its cut" in page
    line = agent.api.get(agent.at + "compactions/")["branches"][0]["versions"][0]
    assert (line["version"], line["items"], line["tokens"], line["upto"]) == (version, 0, 0, 0)
    older = pages.read(client.get(f"{at}/memory", {"branch": "live", "version": compacted["version"]})).text
    assert "an earlier version: shown as a restore would give it" in older
    assert "an earlier version" not in pages.read(client.get(f"{at}/memory", {"branch": "live"})).text


def test_the_model_is_allowed_after_its_cost_was_seen(
    client: Client, api: Api, settings: Any, tmp_path: Any
) -> None:
    """The page says what one compaction would read, write and cost; a click allows it, another takes it back."""
    settings.DATA_DIR, settings.MODEL_BASE_URL, settings.MODEL_NAME = (
        tmp_path,
        "http://127.0.0.1:9/v1",
        "gpt-5",
    )
    agent = Agent(api, policy=ASKS)
    for number in (1, 2, 3):
        agent.turn(number, LONG)
    at = f"/sessions/{agent.known['id']}"
    assert "nobody has allowed that" in read(client, f"{at}?view=live")
    text = read(client, f"{at}/live/model")
    assert "estimated" in text
    assert "gpt-5" in text
    assert client.post(f"{at}/live/allow", {"allow": "1"}).status_code == 302
    assert LiveSession.objects.get().allow_model is True
    assert agent.turn(4, LONG)["decision"]["outcome"] in ("queued", "paused")
    client.post(f"{at}/live/allow", {"allow": "0"})
    assert LiveSession.objects.get().allow_model is False
    settings.MODEL_NAME = ""
    assert client.post(f"{at}/live/allow", {"allow": "1"}).status_code == 400


def test_an_imported_session_has_no_such_pages(client: Client, db: None) -> None:
    """No agent lives in what was imported."""
    session = a_session()
    for address in ("/live", "/live/model", "?view=live"):
        read(client, f"/sessions/{session.uid}{address}", 404)
    assert client.post(f"/sessions/{session.uid}/live/allow", {"allow": "1"}).status_code == 404
