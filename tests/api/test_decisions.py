"""The decision log by API."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.conftest import Api
from tests.services.compaction.test_decisions import RULES
from tests.services.doing import import_well
from tests.services.test_ingest import busy_log
from tests.services.test_policies import made as policy_made
from tests.services.test_policies import view_of


@pytest.fixture
def session(tmp_path: Any, db: None) -> Any:
    path = tmp_path / "s1.jsonl"
    path.write_bytes(busy_log().data)
    session = import_well(path)
    policy_made("rules", **RULES)
    view_of(session, "rules")
    return session


def test_runs_and_single_steps(api: Api, session: Any) -> None:
    """Runs of steps with the range of their estimates; with each=1 a line for each step; pages of both."""
    at = f"sessions/{session.uid}/decisions/"
    found = api.get(at, view="rules")
    assert sum(found["steps"].values()) == session.steps
    first = found["results"][0]
    assert (first["first_step"], first["outcome"], first["rule"], first["threshold"]) == (
        1,
        "not_due",
        "items > 9",
        9,
    )
    assert first["lowest"] <= first["highest"] <= 9
    assert {one["outcome"] for one in api.get(at, view="rules", outcome="made")["results"]} == {"made"}
    page = api.get(at, view="rules", limit=1)
    assert len(page["results"]) == 1
    assert page["next"]
    lines = api.get(at, view="rules", each=1, limit=3, **{"from": 2})["results"]
    assert [line["step"] for line in lines] == [2, 3, 4]
    assert all(isinstance(line["estimate"], int) for line in lines)


def test_what_has_no_log_and_what_is_wrong(api: Api, session: Any) -> None:
    """The recorded view has an empty one; a wrong outcome is named."""
    at = f"sessions/{session.uid}/decisions/"
    assert api.get(at) == {"steps": {}, "results": [], "next": None, "previous": None}
    assert api.error(at, 400, view="rules", outcome="perhaps")["place"] == "query: outcome"
    assert api.error(at, 404, view="nobody's")["place"] == "query: view"
