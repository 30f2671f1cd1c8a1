"""All compactions of the workspace by API: the page's list with its filters and its cursor."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client

from tests.api.conftest import Api
from tests.api.test_bad_input import NASTY
from tests.factories import NOW, a_session
from tests.web.test_compaction_list import made_here, of_log

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def test_the_list_of_all_sessions(api: Api) -> None:
    """Newest first, with the state, the sizes and their sources, and where each is read whole; unknown is null."""
    first, second = a_session(), a_session(title="Move the invoices")
    log = of_log(first, ts=NOW - timedelta(days=1))
    job = made_here(second, branch="branch-1", tokens_before=800, tokens_after=90, token_source="counted")
    made, found = api.get("compactions/")["results"]
    assert (made["run"], made["number"], made["title"]) == (str(job.run.uid), None, "Move the invoices")
    assert (made["origin"], made["state"], made["branch"], made["version"]) == ("hand", "done", "branch-1", 2)
    assert [made[name] for name in ("tokens_before", "before_source", "tokens_after", "after_source")] == [
        800, "counted", 90, "counted",
    ]  # fmt: skip
    assert (found["run"], found["number"], found["session"]) == (None, log.number, str(first.uid))
    assert (found["tokens_after"], found["after_source"], found["facts"]) == (None, "", None)


def test_filters_and_pages(api: Api) -> None:
    """The page's filters under the same names; following `next` and `previous` reads each row once."""
    first, second = a_session(title="Fix the cleanup"), a_session()
    for number in range(1, 6):
        of_log(first, number, ts=NOW - timedelta(hours=number))
    made_here(second, state="failed", policy_name="mine")
    for query in ({"origin": "hand"}, {"state": "failed"}, {"policy": "mine"}, {"session": str(second.uid)}):
        assert [row["state"] for row in api.get("compactions/", **query)["results"]] == ["failed"]
    assert api.get("compactions/", q="cleanup")["matching"] == 5
    page = api.get("compactions/", limit=4)
    rest = api.get(page["next"].partition("/api/")[2])
    rows = page["results"] + rest["results"]
    assert (len(rows), len({(row["run"], row["number"]) for row in rows}), rest["next"]) == (6, 6, None)
    assert api.get(rest["previous"].partition("/api/")[2])["results"] == page["results"]


@pytest.mark.parametrize("name", ["origin", "state", "session", "cursor", "limit"])
def test_what_cannot_be_meant_is_refused_with_its_place(name: str) -> None:
    """Unknown origins, states, sessions and cursors name the parameter; nothing nasty breaks the list."""
    of_log(a_session())
    client = Client(raise_request_exception=False)
    refused = client.get("/api/compactions/", {name: "bogus"})
    assert refused.status_code == 400
    assert refused.json()["error"]["place"] == f"query: {name}"
    for value in NASTY:
        assert client.get(f"/api/compactions/?{name}={value}").status_code in (200, 400)
