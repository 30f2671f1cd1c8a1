"""Live sessions by API: an agent sends what happens, and asks for the memory of its next step."""

from __future__ import annotations

import json
from typing import Any

import pytest

from contextlab.adapters.tokens import counter
from contextlab.services.actions import perform
from contextlab.store.models import FINISHED, Run, Session
from tests.api.conftest import Api

JSON = {"content_type": "application/json"}
LINES = {"content_type": "application/x-ndjson"}
TRIGGERED = {
    "version": 1, "name": "small", "projector": {"kind": "default"},
    "compaction": {"kind": "rule_based", "keep_recent": 2}, "trigger": {"kind": "items", "max_items": 5},
}  # fmt: skip


class Agent:
    """An agent that lives in a session of the server."""

    def __init__(self, api: Api, **wish: Any) -> None:
        self.api = api
        self.known = api.post("sessions/", wish, 201, **JSON)
        self.at = f"sessions/{self.known['id']}/"

    def send(self, *events: dict[str, Any], status: int = 200) -> Any:
        body = "\n".join(json.dumps(event) for event in events)
        return self.api.post(self.at + "events/", body, status, **LINES)

    def turn(self, number: int, words: str = "") -> Any:
        """A prompt, a step with its answer."""
        self.send(item(f"u{number}", "user", f"question {number} {words}"))
        return self.send(step(number), item(f"a{number}", "assistant", f"answer {number} {words}"))

    def memory(self, status: int = 200, **query: Any) -> Any:
        return self.api.get(self.at + "memory/", status, **{"view": "live", **query})

    @property
    def session(self) -> Session:
        return Session.objects.get(uid=self.known["id"])


def item(name: str, kind: str, text: str, **more: Any) -> dict[str, Any]:
    return {"type": "item", "id": name, "kind": kind, "text": text, **more}


def step(number: int) -> dict[str, Any]:
    return {"type": "step", "id": f"s{number}"}


def work() -> list[Run]:
    """What workers would do: all runs that wait, until none is left."""
    done = []
    while (run := Run.objects.exclude(state__in=FINISHED).order_by("priority", "id").first()) is not None:
        perform(run)
        run.refresh_from_db()
        done.append(run)
    return done


def said(memory: Any) -> list[str]:
    return [message["content"] for message in memory["document"]["messages"]]


@pytest.fixture
def agent(api: Api, settings: Any, tmp_path: Any) -> Agent:
    settings.DATA_DIR = tmp_path
    counter().count("the vocabulary takes a while to load")
    return Agent(api, name="fix the tests", project="/src/acme", policy=TRIGGERED)


LONG = "and a good deal more was said about it " * 12


def test_memory_compacts_itself_before_the_step_that_is_due(agent: Agent) -> None:
    """What an agent sends is its memory; once the trigger is due a compaction is made, and the next step has it."""
    first = agent.send(item("u1", "user", "question 1"))
    assert (first["taken"], first["items"], first["read"]) == (1, 1, True)
    assert said(agent.memory()) == ["question 1"]
    agent.turn(2, LONG)
    assert agent.turn(3, LONG)["decision"]["outcome"] == "not_due"
    due = agent.send(item("u4", "user", "question 4"))["decision"]
    assert (due["step"], due["outcome"], due["estimate"], due["threshold"]) == (3, "queued", 6, 5)
    waiting = agent.memory(peek=1)
    assert (waiting["version"], waiting["compacting"]) == (1, due["compaction"])
    work()
    memory = agent.memory()
    assert (memory["version"], memory["step"], memory["compacting"]) == (2, 3, None)
    assert len(memory["document"]["messages"]) == 3
    done = agent.api.get(f"compactions/{due['compaction']}/")
    assert (done["state"], done["trigger"], done["branch"], done["version"]) == ("done", "auto", "live", 2)
    assert agent.api.get(agent.at + "decisions/", view="live")["steps"] == {"not_due": 2, "made": 1}
    agent.send(step(4), item("a4", "assistant", "done"))
    work()
    last = agent.api.get(agent.at + "steps/3/", view="live")["report"]
    assert (last["projected_items"], last["source_items"], last["summarised_items"]) == (4, 3, 3)
    assert last["notes"] == ["compacted here: items > 5 (6), 3 item(s) summarised"]
