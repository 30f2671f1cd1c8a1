"""Memories over the API: observations found by filters, a block for a new session, user memories of one user only."""

from __future__ import annotations

import json
from typing import Any

import pytest

from contextlab.services.actions import perform
from contextlab.store.models import ObservationRecord, Run, Session, Workspace
from tests.api.conftest import Api
from tests.services.doing import import_well
from tests.services.memories.test_observing import SAMPLE

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def session() -> Session:
    return import_well(next(SAMPLE.rglob("5d1c9a74*.jsonl")))


def send(api: Api, method: str, path: str, body: Any, status: int) -> Any:
    """A request with a JSON body."""
    answer = getattr(api.client, method)(f"/api/{path}", json.dumps(body), content_type="application/json")
    return api.read(answer, status)


def noted(api: Api, session: Session) -> dict[str, Any]:
    """The session's memories once they are noted by rules."""
    run = send(api, "post", f"sessions/{session.uid}/observations/", {}, 202)
    perform(Run.objects.get(uid=run["id"]))
    return api.get(f"sessions/{session.uid}/observations/")


def test_a_sessions_memories(api: Api, session: Session) -> None:
    """Asked for, made in the background, read with their turns, summary and figures; unknown is null."""
    before = api.get(f"sessions/{session.uid}/observations/")
    assert (before["observations"], before["turns_read"]) == ([], 0)
    assert before["summary_due"] is True
    found = noted(api, session)
    assert found["turns_read"] == found["turns"] == session.turns
    assert found["summary_due"] is False
    assert found["summaries"][0]["request"]
    costs = found["economics"]
    assert costs["discovery_tokens"] == 0
    assert costs["savings_tokens"] == -costs["read_tokens"]
    assert costs["ratio"] > 1
    assert costs["cost"] is None
    assert found["model_estimate"]["allowed"] is False


def test_observations_are_found(api: Api, session: Session) -> None:
    """By words, type, file, concept and project; page by page each once."""
    noted(api, session)
    every = api.get("memories/observations/?limit=1000")["results"]
    assert len(every) == ObservationRecord.objects.count() > 10
    decisions = api.get("memories/observations/?type=decision")["results"]
    assert {row["type"] for row in decisions} == {"decision"}
    rule = api.get("memories/observations/?q=NEVER+edit+migrations&type=decision")["results"]
    assert any("never edit anything under migrations/" in row["title"] for row in rule)
    by_file = api.get("memories/observations/?file=sessions/store.py")["results"]
    assert by_file
    assert all(
        any("sessions/store.py" in one for one in row["files_read"] + row["files_modified"])
        for row in by_file
    )
    assert api.get("memories/observations/?concept=gotcha")["results"]
    assert api.get("memories/observations/?project=/nowhere")["results"] == []
    seen, address = [], "memories/observations/?limit=4"
    while address:
        page = api.get(address)
        seen += [row["id"] for row in page["results"]]
        address = (page["next"] or "").rpartition("/api/")[2]
    assert seen == [row["id"] for row in every]


def test_a_block_for_a_new_session(api: Api, session: Session) -> None:
    """The block keeps to its budget and is about what was asked for."""
    noted(api, session)
    found = api.get("memories/injection/?budget=500&words=migrations")
    assert 0 < found["tokens"] <= 500
    assert "migrations" in found["text"]
    assert api.error("memories/injection/?budget=0", 400)["place"] == "query: budget"


def test_settings_and_prompts(api: Api) -> None:
    """No model is allowed at first; a prompt that cannot work is refused with its place."""
    assert api.get("memories/settings/")["allow_model"] is False
    assert send(api, "put", "memories/settings/", {"delete_memory": True}, 200)["delete_memory"] is True
    refused = send(api, "put", "memories/settings/", {"allow_model": "yes"}, 400)["error"]
    assert refused["place"] == "body: allow_model"
    assert api.get("memories/prompts/?project=/p")["observe"]["own"] is False
    own = "Note it: <observation><title>t</title></observation>"
    assert send(api, "put", "memories/prompts/?project=/p", {"observe": own}, 200)["observe"] == {
        "text": own,
        "own": True,
    }
    assert api.get("memories/prompts/?project=/q")["observe"]["own"] is False
    assert (
        send(api, "put", "memories/prompts/", {"observe": "no tag"}, 400)["error"]["place"] == "body: observe"
    )
    assert send(api, "put", "memories/prompts/?project=/p", {"observe": ""}, 200)["observe"]["own"] is False


def test_user_memories_from_beginning_to_end(api: Api) -> None:
    """Added, edited, taken away, undone, with their history; another user's are not among them."""
    made = send(api, "post", "user-memories/", {"user": "me", "memory": "likes tea", "topics": ["food"]}, 201)
    address = f"user-memories/{made['id']}/"
    send(api, "post", "user-memories/", {"user": "other", "memory": "likes milk"}, 201)
    assert send(api, "put", address, {"memory": "likes coffee"}, 200)["memory"] == "likes coffee"
    assert api.read(api.client.delete(f"/api/{address}"), 200)["state"] == "deleted"
    assert api.get("user-memories/?user=me")["results"] == []
    assert [row["state"] for row in api.get("user-memories/?user=me&all=1")["results"]] == ["deleted"]
    undone = send(api, "post", f"{address}undo/", {}, 200)
    assert (undone["state"], undone["topics"]) == ("stands", ["food"])
    assert [one["event"] for one in undone["versions"]] == ["restored", "deleted", "updated", "added"]
    assert send(api, "put", address, {"memory": " "}, 400)["error"]["place"] == "body: memory"
    assert (
        send(api, "post", "user-memories/optimise/", {"user": "me", "confirm": True}, 400)["error"]["place"]
        == "body: model"
    )


def test_a_model_calls_the_tools(api: Api) -> None:
    """The switched on tools are listed, and a call is answered with a text; the store of others is not reached."""
    names = [tool["name"] for tool in api.get("user-memories/tools/?user=me")["tools"]]
    assert names == ["add_memory", "update_memory"]
    call = {"user": "me", "tool": "add_memory", "arguments": {"memory": "likes tea"}}
    assert send(api, "post", "user-memories/tools/", call, 200)["answer"].startswith("Added")
    cleared = send(api, "post", "user-memories/tools/", {"user": "me", "tool": "clear_memories"}, 200)
    assert "switched off" in cleared["answer"]
    assert send(api, "post", "user-memories/tools/", {"tool": "rm"}, 400)["error"]["place"] == "body: tool"


def test_what_belongs_to_others_is_not_found(api: Api, session: Session) -> None:
    """A memory of another workspace does not exist here."""
    noted(api, session)
    ObservationRecord.objects.update(workspace=Workspace.objects.create(name="other"))
    assert api.get("memories/observations/")["results"] == []
    assert api.error("user-memories/00000000-0000-0000-0000-000000000000/", 404)["message"]
