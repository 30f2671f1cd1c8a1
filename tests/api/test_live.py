"""Live sessions by API: an agent sends what happens, and asks for the memory of its next step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from contextlab.adapters.tokens import counter
from contextlab.services.actions import perform
from contextlab.services.live import log
from contextlab.services.sessions import delete_everything, delete_session
from contextlab.store.models import FINISHED, LogFile, Run, Session
from tests.api.conftest import Api
from tests.factories import a_session

JSON = {"content_type": "application/json"}
LINES = {"content_type": "application/x-ndjson"}
TRIGGERED = {
    "version": 1, "name": "small", "projector": {"kind": "default"},
    "compaction": {"kind": "rule_based", "keep_recent": 2}, "trigger": {"kind": "items", "max_items": 5},
}  # fmt: skip
SUMMARY = {
    "version": 1, "name": "asks", "compaction": {"kind": "llm_summary"},
    "trigger": {"kind": "items", "max_items": 5},
}  # fmt: skip


class Agent:
    """An agent that lives in a session of the server."""

    def __init__(self, api: Api, **wish: Any) -> None:
        counter().count("the vocabulary takes a while to load")
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


def test_what_is_sent_twice_is_taken_once(agent: Agent) -> None:
    """An agent that does not know whether its events arrived sends them again: nothing is doubled."""
    events = [
        item("u1", "user", "hello"),
        step(1),
        item("a1", "assistant", "hi"),
        {"type": "usage", "input": 9},
    ]
    assert agent.send(*events)["taken"] == 4
    again = agent.send(*events, item("u2", "user", "more"))
    assert (again["taken"], again["known"], again["items"], again["steps"]) == (2, 3, 3, 1)
    log._cache.clear()  # another process
    assert agent.send(*events[:3])["known"] == 3
    assert said(agent.memory()) == ["hello", "hi", "more"]


def test_a_bad_line_costs_itself_and_is_named(agent: Agent) -> None:
    """Each with its line and reason; the good ones beside it are taken."""
    body = b"\n".join([
        b'{"type": "item", "id": "u1", "kind": "user", "text": "one"}',
        b'{"type": "item", "kind": "nobody", "text": "x"}',
        b"", b"not json", b'[1, 2]', b'{"type": "perhaps"}',
        b'{"format": "contextlab-events", "version": 1, "session": {"id": "x"}}',
        b'{"type": "step", "session": "somebody else"}', b'{"type": "session", "id": "else", "title": "x"}',
        b'{"type": "item", "kind": "user", "text": "\xff two"}',
        b'{"type": "item", "kind": "user", "text": NaN}',
    ])  # fmt: skip
    told = agent.api.post(agent.at + "events/", body, **LINES)
    assert (told["taken"], told["items"], told["skipped_total"]) == (2, 2, 8)
    assert [one["line"] for one in told["skipped"]] == [2, 4, 5, 6, 7, 8, 9, 11]
    assert told["skipped"][0]["reason"].startswith("kind: nobody is none of")
    assert told["skipped"][3]["reason"] == "type: perhaps is not known"
    assert agent.api.post(agent.at + "events/", b"", **LINES)["taken"] == 0


def test_large_lines_and_larger_ones(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line of a megabyte is an item; what is larger than a line, a request or a log may be is refused in words."""
    big = "word " * 200_000
    assert agent.send(item("u1", "user", big))["items"] == 1
    assert said(agent.memory()) == [big]
    monkeypatch.setattr(log, "LONGEST_LINE", 100)
    told = agent.send(item("u2", "user", "x" * 200), item("u3", "user", "y"))
    assert (told["taken"], told["skipped"][0]["line"]) == (1, 1)
    monkeypatch.setattr(log, "MOST_BYTES", 1000)
    refused = agent.send(item("u4", "user", "z" * 2000), status=413)["error"]
    assert (refused["code"], refused["place"]) == ("too_large", "body")
    assert agent.session.items == 2


def test_a_log_that_is_full_says_so(agent: Agent, settings: Any) -> None:
    """Nothing of the request is taken then, and the session stays as it is."""
    agent.send(item("u1", "user", "one"))
    settings.MAX_UPLOAD_BYTES = 700
    refused = agent.send(item("u2", "user", "two" * 150), status=413)["error"]
    assert "this one is full" in refused["message"]
    settings.MAX_UPLOAD_BYTES = 10_000
    assert agent.send(item("u2", "user", "two"))["taken"] == 1


def test_a_torn_line_is_sent_again(agent: Agent) -> None:
    """A server that died while it wrote leaves half a line: it costs that line, which nobody was told was taken."""
    agent.send(item("u1", "user", "one"))
    with open(agent.session.file.path, "ab") as stream:
        stream.write(b'{"type": "item", "id": "u2", "ki')
    told = agent.send(item("u2", "user", "two"), item("u3", "user", "three"))
    assert (told["taken"], told["known"], told["items"]) == (2, 0, 3)
    assert "\n\n".join(said(agent.memory())) == "one\n\ntwo\n\nthree"


def test_a_log_that_is_gone_is_written_anew(agent: Agent) -> None:
    """The data folder was lost, the database was not: the session goes on."""
    agent.send(item("u1", "user", "one"), step(1), item("a1", "assistant", "yes"))
    Path(agent.session.file.path).unlink()
    log._cache.clear()
    told = agent.send(item("u1", "user", "one"), item("u2", "user", "two"))
    assert (told["taken"], told["known"], told["items"], agent.session.revision) == (1, 1, 3, 1)


def test_the_same_id_is_the_same_session(api: Api, agent: Agent) -> None:
    """An agent that was started again goes on in its session; the id of an imported one is refused."""
    first = api.post("sessions/", {"id": "run-7", "name": "one"}, 201, **JSON)
    again = api.post("sessions/", {"id": "run-7"}, 200, **JSON)
    assert (again["id"], again["created"], first["created"]) == (first["id"], False, True)
    a_session(native_id="imported", format="contextlab-events", workspace=agent.session.workspace)
    refused = api.post("sessions/", {"id": "imported"}, 400, **JSON)["error"]
    assert refused["place"] == "body: id"


@pytest.mark.parametrize(
    ("wish", "place"),
    [
        ({"policy": "nobody's"}, "policy"), ({"policy": 5}, "policy"), ({"policy": {"version": 1}}, "policy"),
        ({"policy": "keep-all", "allow_model": "yes"}, "allow_model"), ({"name": "x" * 301}, "name"),
        ({"name": "two\nlines"}, "name"), ({"id": ["x"]}, "id"), ({"nonsense": 1}, "nonsense"), ([1], "body"),
        ({"policy": {**SUMMARY}, "allow_model": True}, "allow_model"),
    ],
)  # fmt: skip
def test_what_is_wrong_about_a_session_is_named(api: Api, wish: Any, place: str) -> None:
    """Nothing is opened then."""
    error = api.post("sessions/", wish, 400, **JSON)["error"]
    assert error["place"].removeprefix("body: ") == place
    assert not Session.objects.exists()


def test_an_imported_session_takes_no_events(api: Api, agent: Agent) -> None:
    """What a log says is not added to; and an unknown session is none."""
    other = a_session(workspace=agent.session.workspace)
    assert api.post(f"sessions/{other.uid}/events/", "{}", 404, **LINES)["error"]["code"] == "not_found"
    assert api.post(f"sessions/{uuid4()}/events/", "{}", 404, **LINES)["error"]["code"] == "not_found"


def test_a_session_before_its_first_event(agent: Agent) -> None:
    """It is there, empty: its memory, its lists and its pages say so."""
    assert agent.memory()["document"]["messages"] == []
    assert agent.api.get(agent.at)["items"] == 0
    assert agent.api.get(agent.at + "steps/", view="live")["results"] == []
    assert agent.api.get(agent.at + "decisions/", view="live")["steps"] == {}


def test_deleting_takes_the_log_along(agent: Agent) -> None:
    """No file of it is left in the data folder, and it can be opened again under its id."""
    agent.send(item("u1", "user", "one"))
    path = Path(agent.session.file.path)
    assert path.exists()
    delete_session(agent.session)
    assert not path.exists()
    assert not LogFile.objects.exists()
    other = Agent(agent.api, id="again")
    other.send(item("u1", "user", "one"))
    delete_everything(other.session.workspace)
    assert not list(path.parent.iterdir())
