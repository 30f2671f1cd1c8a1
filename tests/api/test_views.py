"""Views by API: which there are, having one made, and reading steps through a branch."""

from __future__ import annotations

from typing import Any

import pytest

from contextlab.services.actions import perform
from contextlab.store.models import Run
from tests.api.conftest import Api
from tests.api.test_compactions import JSON
from tests.services.compaction.doing import asked, done
from tests.services.compaction.test_agreeing import RULES
from tests.services.compaction.test_continuing import AT
from tests.services.doing import import_well
from tests.services.test_ingest import busy_log


@pytest.fixture
def session(tmp_path: Any, db: None) -> Any:
    path = tmp_path / "s1.jsonl"
    path.write_bytes(busy_log().data)
    session = import_well(path)
    done(asked(session, policy=RULES, before_step=AT))
    return session


def test_a_branch_under_a_policy(api: Api, session: Any) -> None:
    """Asked for, made, listed; its steps are its own from the branch on and the log's before."""
    at = f"sessions/{session.uid}/"
    asked_for = api.post(at + "views/", {"branch": "branch-1", "policy": "keep-all"}, 202, **JSON)
    assert asked_for["name"] == "branch-1:keep-all"
    perform(Run.objects.get(uid=asked_for["run"]))
    again = api.post(at + "views/", {"branch": "branch-1", "policy": "keep-all"}, 200, **JSON)
    assert again == {"name": "branch-1:keep-all", "run": None}
    listed = {one["name"]: one for one in api.get(at + "views/")["results"]}
    assert (listed["branch-1:keep-all"]["base"], listed["branch-1:keep-all"]["current"]) == ("branch-1", True)
    name = {"view": "branch-1:keep-all"}
    mine, recorded = (api.get(at + f"steps/{AT}/", **view)["report"] for view in (name, {}))
    assert mine["summarised_items"] > recorded["summarised_items"]
    before, there = (api.get(at + f"steps/{AT - 1}/", **view)["report"] for view in (name, {}))
    assert before == there
    found = [one["report"] for one in api.get(at + "steps/", limit=100, **name)["results"]]
    assert None not in found
    assert found[AT - 2] == there
    assert found[AT - 1] == mine
    items = api.get(at + f"steps/{AT - 1}/items/", **name)["results"]
    assert items == api.get(at + f"steps/{AT - 1}/items/")["results"]


def test_what_cannot_be_made(api: Api, session: Any) -> None:
    """Each refusal has its place."""
    at = f"sessions/{session.uid}/views/"
    for body, place in (
        ([], "body"),
        ({"policy": "keep-all", "branch": "branch-7"}, "body"),
        ({"policy": "nobody"}, "body"),
        ({"branch": "branch-1"}, "body: policy"),
        ({"policy": "x" * 200}, "body: policy"),
        ({"policy": "a\u0000b"}, "body: policy"),
        ({"policy": 3}, "body: policy"),
        ({"colour": "red"}, "body: colour"),
    ):
        assert api.post(at, body, 400, **JSON)["error"]["place"] == place
