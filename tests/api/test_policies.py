"""Policies over the API: read, kept, saved, deleted and checked; errors name their place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from contextlab.core.documents.presets import PRESETS
from contextlab.core.policy import BUILTINS
from contextlab.services import policies
from contextlab.store.models import PolicyDocument, Workspace
from tests.api.conftest import Api
from tests.services.test_policies import TOML, text

pytestmark = pytest.mark.django_db

DOCUMENT = {"version": 1, "name": "mine", "projector": {"kind": "default", "max_items": 4}}


def send(api: Api, method: str, path: str, body: Any, status: int) -> Any:
    """A request with a JSON body."""
    answer = getattr(api.client, method)(f"/api/{path}", json.dumps(body), content_type="application/json")
    return api.read(answer, status)


def test_a_policy_from_beginning_to_end(api: Api) -> None:
    """Created, read, saved in a new version, listed and deleted."""
    made = send(api, "post", "policies/", DOCUMENT, 201)
    assert (made["name"], made["version"], made["origin"], made["document"]) == ("mine", 1, "own", DOCUMENT)
    address = f"policies/{made['id']}/"
    saved = send(api, "put", address + "?version=1", {**DOCUMENT, "mode": "reference"}, 200)
    assert (saved["version"], [one["version"] for one in saved["versions"]]) == (2, [2, 1])
    assert api.get(address)["document"]["mode"] == "reference"
    assert "mine" in [one["name"] for one in api.get("policies/")["results"]]
    assert api.read(api.client.delete(f"/api/{address}"), 200) == {"deleted": made["id"]}
    assert api.error(address, 404)["message"]


def test_the_list_has_what_comes_with_the_package(api: Api) -> None:
    """Built-in policies and presets are in the list, without an id of their own."""
    rows = {row["name"]: row for row in api.get("policies/")["results"]}
    assert set(rows) == {*BUILTINS, *PRESETS}
    assert rows["rule-based"]["compacts"] is True
    assert rows["llm-summary"]["needs_model"] is True
    assert {row["id"] for row in rows.values()} == {None}


def test_a_document_may_be_sent_as_text(api: Api) -> None:
    """Under the key `text` a document keeps its comments, in JSON or TOML."""
    assert send(api, "post", "policies/", {"text": TOML}, 201)["text"] == TOML


def test_a_conflict_is_told(api: Api) -> None:
    """Saving over a version that is no longer in force writes nothing."""
    made = send(api, "post", "policies/", DOCUMENT, 201)
    send(api, "put", f"policies/{made['id']}/", {**DOCUMENT, "mode": "reference"}, 200)
    error = send(api, "put", f"policies/{made['id']}/?version=1", {**DOCUMENT, "require_gain": False}, 409)[
        "error"
    ]
    assert (error["code"], error["place"]) == ("conflict", "query: version")
    assert PolicyDocument.objects.get().version == 2


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({**DOCUMENT, "colour": 1}, "body: colour"),
        ({**DOCUMENT, "projector": {"kind": "nobody"}}, "body: projector.kind"),
        ({**DOCUMENT, "name": "keep-all"}, "body: name"),
        ({"text": "{"}, "body"),
        ({"text": 7}, "body: text"),
        ([], "body"),
        ("x", "body"),
        (None, "body"),
    ],
)
def test_bad_documents_are_refused_with_their_place(api: Api, body: Any, place: str) -> None:
    """A document that cannot be used is a 400 that names the key."""
    assert send(api, "post", "policies/", body, 400)["error"]["place"] == place
    assert not PolicyDocument.objects.exists()


def test_checking_keeps_nothing(api: Api) -> None:
    """A check answers whether a document can be used, with key and line of what is wrong."""
    good = send(api, "post", "policies/validate/", DOCUMENT, 200)
    assert (good["valid"], good["name"], good["needs_model"]) == (True, "mine", False)
    bad = send(api, "post", "policies/validate/", {"text": TOML.replace("max_items", "max_itemz")}, 200)
    assert bad["valid"] is False
    assert (bad["error"]["place"], bad["error"]["line"]) == ("projector.max_itemz", 7)
    bad = send(api, "post", "policies/validate/", {**DOCUMENT, "mode": "fast"}, 200)
    assert (bad["error"]["place"], bad["error"]["line"]) == ("mode", None)
    assert not PolicyDocument.objects.exists()


def test_the_schema(api: Api) -> None:
    """The schema of documents is an answer of its own."""
    assert api.get("policies/schema/")["properties"]["version"] == {"const": 1}


def test_policies_of_others_are_not_there(api: Api) -> None:
    """Another workspace's policies can neither be read, nor saved, nor deleted."""
    api.get("policies/")
    other = policies.create(Workspace.objects.create(), text("theirs"))
    path = f"policies/{other.uid}/"
    assert "theirs" not in str(api.get("policies/"))
    api.error(path, 404)
    send(api, "put", path, DOCUMENT, 404)
    api.read(api.client.delete(f"/api/{path}"), 404)


def test_a_compaction_may_name_a_policy_of_the_workspace(api: Api, made: Any) -> None:
    """What is asked for by name is looked for among the workspace's policies, too."""
    body = {"policy": "mine"}
    error = send(api, "post", f"sessions/{made.session.uid}/compactions/?preview=1", body, 400)["error"]
    assert "there is no policy 'mine'" in error["message"]
    send(api, "post", "policies/", {**DOCUMENT, "compaction": {"kind": "rule_based", "keep_recent": 1}}, 201)
    told = send(api, "post", f"sessions/{made.session.uid}/compactions/?preview=1", body, 200)
    assert told["policy"] == "mine"
