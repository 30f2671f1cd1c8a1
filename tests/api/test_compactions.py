"""Compact now by API: from the preview to the memory that an agent goes on with."""

from __future__ import annotations

from typing import Any

import pytest

from contextlab.core.auto_context.tags import tagged
from contextlab.core.items import Item, Kind
from contextlab.core.offload import Offload
from contextlab.services.actions import perform
from contextlab.store.models import MemoryVersion, Run, Session
from contextlab.store.offloads import DjangoOffloadStore
from tests.api.conftest import Api
from tests.services.compaction.doing import STRUCTURED
from tests.services.doing import import_well
from tests.services.test_ingest import busy_log
from tests.support.fake_openai import FakeOpenAI, says

JSON = {"content_type": "application/json"}


@pytest.fixture
def session(tmp_path: Any, db: None) -> Any:
    path = tmp_path / "s1.jsonl"
    path.write_bytes(busy_log().data)
    return import_well(path)


def test_from_the_preview_to_the_memory(api: Api, session: Any) -> None:
    """Look, ask, wait, read, go back, go on."""
    at = f"sessions/{session.uid}/"
    body = {"policy": STRUCTURED, "before_step": 12}
    told = api.post(at + "compactions/?preview=1", body, **JSON)
    assert told["compacts"] is True
    assert Run.objects.filter(kind="compact").count() == 0
    asked = api.post(at + "compactions/", body, 202, headers={"Idempotency-Key": "k1"}, **JSON)
    again = api.post(at + "compactions/", body, 202, headers={"Idempotency-Key": "k1"}, **JSON)
    assert (asked["id"], asked["state"], asked["joined"]) == (again["id"], "queued", False)
    assert again["joined"] is True
    other = api.post(at + "compactions/", {**body, "before_step": 9}, 202, **JSON)
    assert (other["joined"], other["beside"]) == (False, [asked["id"]])
    api.post(f"compactions/{other['id']}/cancel/", {}, **JSON)
    perform(Run.objects.get(uid=asked["id"]))
    done = api.get(f"compactions/{asked['id']}/")
    assert (done["state"], done["branch"], done["version"], done["error"]) == ("done", "branch-1", 2, None)
    assert done["result"]["summary"]
    listed = api.get(at + "compactions/")
    assert [one["id"] for one in listed["results"]][-2:] == [asked["id"], other["id"]]
    back = api.post(at + "branches/branch-1/restore/", {"version": 1}, **JSON)
    assert [line["version"] for line in back["versions"]] == [3, 2, 1]
    twice = api.post(at + "branches/branch-1/restore/", {"version": 1}, **JSON)
    assert (back["made"], twice) == (True, back | {"made": False})
    assert api.post(at + "branches/branch-1/promote/", {}, **JSON)["promoted"] is True
    memory = api.get(at + "memory/", format="anthropic", version=2)
    assert (memory["view"], memory["version"], memory["at_step"]) == ("branch-1", 2, 12)
    assert memory["document"]["messages"]
    assert memory["resume"] == f"claude --resume {session.native_id}"


def test_a_key_is_one_request(api: Api, session: Any) -> None:
    """A key used again for something else is refused, before and after its run ends; the same stays the same run."""
    at = f"sessions/{session.uid}/compactions/"
    first = api.get(f"sessions/{session.uid}/items/", limit=1)["results"][0]["id"]
    key = {"headers": {"Idempotency-Key": "k1"}, **JSON}
    body = {"policy": STRUCTURED, "before_step": 12, "pins": [first], "instructions": "mind the ports"}
    run = api.post(at, body, 202, **key)["id"]
    changed = (
        {"policy": "rule-based"}, {"policy": {**STRUCTURED, "require_gain": False}}, {"before_step": 11},
        {"before_step": None, "before_compaction": 1}, {"keep_recent": 3}, {"pins": []}, {"instructions": "x"},
        {"view": "rule-based"},
    )  # fmt: skip
    for _ in range(2):
        for other in changed:
            refused = api.post(at, body | other, 409, **key)["error"]
            assert (refused["code"], refused["place"]) == ("conflict", "header: Idempotency-Key")
        for same in ({}, {"view": "recorded"}, {"pins": [first, first]}, {"before_step": "12"}):
            again = api.post(at, body | same, 202, **key)
            assert (again["id"], again["joined"]) == (run, True)
        perform(Run.objects.get(uid=run))
    assert api.post(at, body | {"keep_recent": 3}, 202, **JSON)["joined"] is False


def test_a_restored_memory_goes_on_from_its_result(api: Api, session: Any) -> None:
    """After a restore the next compaction carries the goal and the files of the version that is in force again."""
    at = f"sessions/{session.uid}/"

    def compact(**body: Any) -> Any:
        asked = api.post(at + "compactions/", {"policy": "rule-based", **body}, 202, **JSON)
        perform(Run.objects.get(uid=asked["id"]))
        return api.get(f"compactions/{asked['id']}/")

    first = compact(before_compaction=1, keep_recent=12)
    assert (first["state"], first["before_compaction"], first["token_source"]) == ("done", 1, "counted")
    compact(view="branch-1", keep_recent=6)
    back = api.post(at + "branches/branch-1/restore/", {"version": 2}, **JSON)
    assert (back["versions"][0]["created_by"], back["versions"][0]["restored"]) == ("restore", 2)
    last = compact(view="branch-1", keep_recent=2)
    assert last["state"] == "done"
    assert last["result"]["goal"].startswith("prompt 0 of s1")
    assert set(first["result"]["read_files"]) <= set(last["result"]["read_files"])
    assert last["parent"] == first["id"]


def test_what_is_wrong_is_named(api: Api, session: Any) -> None:
    """Each refusal has its place."""
    at = f"sessions/{session.uid}/"
    for body, place in (
        ({"policy": "nobody"}, "body: policy"),
        ({"polcy": 1}, "body: polcy"),
        ([1], "body"),
        ({"policy": STRUCTURED, "pins": ["x"]}, "body: pins"),
        ({"policy": "llm-summary", "confirm": True}, "body: policy"),
        ({"policy": STRUCTURED, "instructions": "x" * 1_000_000}, "body: instructions"),
    ):
        assert api.post(at + "compactions/", body, 400, **JSON)["error"]["place"] == place
    assert api.error(at + "memory/", 400, format="docx")["place"] == "query: format"
    assert api.error(at + "memory/", 400, view="nobody's")["place"] == "query: view"
    api.post(at + "branches/branch-1/promote/", {}, 404, **JSON)
    api.get("compactions/00000000-0000-0000-0000-000000000000/", 404)


def test_cancel(api: Api, session: Any) -> None:
    """A compaction that waits is stopped at once."""
    asked = api.post(f"sessions/{session.uid}/compactions/", {"policy": STRUCTURED}, 202, **JSON)
    assert api.post(f"compactions/{asked['id']}/cancel/", {}, **JSON)["state"] == "cancelled"


def test_originals_that_were_put_aside(api: Api, session: Any) -> None:
    """By their id, as items and as a model gets them."""
    item = Item("r", Kind.TOOL_RESULT, "all of it", call_id="c")
    DjangoOffloadStore(session.workspace, session).put(Offload("o-1", (item,), "large"))
    found = api.get("offloads/o-1/")
    assert found["items"] == [{"id": "r", "kind": "tool_result", "tool": None, "text": "all of it"}]
    assert found["text"] == "all of it"
    api.get("offloads/o-2/", 404)
    api.get("offloads/%00/", 404)


OFFLOADING = {
    "version": 1,
    "name": "offloads",
    "compaction": {"kind": "auto_context", "large_payload_threshold": 300, "last_keep": 2, "gate_s3": False},
}


def test_the_originals_of_a_run_are_listed_and_reloaded(api: Api, session: Any, settings: Any) -> None:
    """With the run, with the session, with the memory that points to them; and by the tool that a model calls."""
    at = f"sessions/{session.uid}/"
    body = {"policy": OFFLOADING, "before_compaction": 1, "confirm": True}
    with FakeOpenAI(says("a short summary")) as server:
        settings.MODEL_BASE_URL, settings.MODEL_NAME = server.url, "gpt-4o"
        asked = api.post(at + "compactions/", body, 202, **JSON)
        perform(Run.objects.get(uid=asked["id"]))
    done = api.get(f"compactions/{asked['id']}/")
    assert done["state"] == "done", done
    names = [one["id"] for one in done["offloads"]]
    assert names
    assert all(one["items"] > 0 for one in done["offloads"])
    assert [one["id"] for one in api.get(at + "offloads/")["results"]] == names
    memory = api.get(at + "memory/")
    assert set(memory["offloads"]) <= set(names)
    assert memory["offloads"]
    schema = api.get(at + "reload/")
    (parameter,) = schema["parameters"]["required"]
    original = api.get(f"offloads/{names[0]}/")["text"]
    assert api.post(at + "reload/", {parameter: names[0]}, **JSON) == {"text": original}
    for wrong in ({parameter: "nobody"}, {parameter: 3}, {parameter: "a\u0000b"}, {}, [], {"x": 1}):
        assert "text" in api.post(at + "reload/", wrong, **JSON)


def test_the_line_for_the_agents_own_compaction(api: Api, session: Any) -> None:
    """By the query, else by what the compaction was told that made the memory."""
    at = f"sessions/{session.uid}/"
    first = api.get(at + "items/", limit=1)["results"][0]["id"]
    body = {"policy": STRUCTURED, "before_step": 12, "pins": [first], "instructions": "mind the ports"}
    perform(Run.objects.get(uid=api.post(at + "compactions/", body, 202, **JSON)["id"]))
    memory = api.get(at + "memory/")
    assert memory["compact"].startswith('/compact mind the ports Keep word for word: "prompt 0 of s1')
    asked = api.get(at + "memory/", pin=first, instructions="nothing else")
    assert asked["compact"].startswith("/compact nothing else Keep word for word")
    assert api.get(at + "memory/", view="recorded")["compact"] == "/compact"
    assert memory["resume"] == f"claude --resume {session.native_id}"


def test_what_a_memory_is_asked_for_is_given_or_refused(api: Api, session: Any) -> None:
    """A version of what has none, and a pin that is no item, are named; nothing that was asked is dropped unsaid."""
    at = f"sessions/{session.uid}/"
    refused = (
        ({"view": "recorded", "version": 7}, "query: version"),
        ({"version": 1}, "query: version"),
        ({"pin": "nope"}, "query: pin"),
        ({"pin": "a\x00b"}, "query: pin"),
        ({"pin": [str(number) for number in range(501)]}, "query: pin"),
        ({"instructions": "x" * 2_001}, "query: instructions"),
    )
    for query, place in refused:
        assert api.error(at + "memory/", 400, **query)["place"] == place
    item = api.get(at + "items/", limit=1)["results"][0]
    memory = api.get(at + "memory/", view="recorded", pin=item["id"])
    assert f"prompt 0 of {session.native_id}" not in str(memory["document"])
    assert memory["compact"].startswith(f'/compact Keep word for word: "prompt 0 of {session.native_id}')
    perform(Run.objects.get(uid=api.post(at + "compactions/", {"before_step": 12}, 202, **JSON)["id"]))
    assert api.get(at + "memory/", version=1)["version"] == 1


def test_a_model_reloads_only_what_is_its_sessions(api: Api, session: Any, tmp_path: Any) -> None:
    """Another session's original is as unknown as no original, unless they are relatives or its memory points to it."""
    path = tmp_path / "s2.jsonl"
    path.write_bytes(busy_log(session="s2").data)
    other = import_well(path)
    Session.objects.filter(pk=other.pk).update(forked_from=None)  # the two begin with the same records
    item = Item("r", Kind.TOOL_RESULT, "the secret of the first", call_id="c")
    DjangoOffloadStore(session.workspace, session).put(Offload("o-1", (item,), "large"))
    (parameter,) = api.get(f"sessions/{session.uid}/reload/")["parameters"]["required"]

    def reloaded(of: Any, name: str = "o-1") -> str:
        return str(api.post(f"sessions/{of.uid}/reload/", {parameter: name}, **JSON)["text"])

    assert reloaded(session) == item.text
    assert reloaded(other) == reloaded(other, "o-9").replace("o-9", "o-1")
    for link in ("forked_from", "parent"):
        Session.objects.filter(pk=other.pk).update(**{link: session})
        assert reloaded(other) == item.text
        Session.objects.filter(pk=other.pk).update(**{link: None})
    assert item.text not in reloaded(other)
    asked = api.post(f"sessions/{other.uid}/compactions/", {"before_step": 12}, 202, **JSON)
    perform(Run.objects.get(uid=asked["id"]))
    MemoryVersion.objects.filter(view__session=other, version=2).update(summary=tagged("short", "o-1"))
    assert reloaded(other) == item.text
