"""The memories on both sides of a compaction of the log: taken away, and that of before restored as a branch."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from contextlab.services.actions import perform
from contextlab.services.opening import open_view
from contextlab.store.models import Session, View
from tests.services.compaction.doing import asked, done
from tests.web.pages import read

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def memory(client: Client, session: Session, query: str) -> Any:
    return json.loads(client.get(f"/sessions/{session.uid}/memory/json?{query}").content)


def test_both_memories_of_a_logs_compaction_are_taken_away(client: Client, session: Session) -> None:
    """Before it the items that were summarised, after it the log's summary, in every format that memories have."""
    page = read(client.get(f"/sessions/{session.uid}/compactions/1"))
    downloads = [one["href"] for one in page.all("a") if "&side=" in one.get("href", "")]
    assert len(downloads) == 10
    for address in downloads:
        assert client.get(address).headers["Content-Disposition"].startswith("attachment")
    before, after = (memory(client, session, f"compaction=1&side={side}") for side in ("before", "after"))
    assert len(before) > len(after)
    assert "What was done up to turn 6." in json.dumps(after)
    assert "What was done up to turn 6." not in json.dumps(before)
    at = f"/sessions/{session.uid}/memory/json"
    assert client.get(f"{at}?compaction=9").status_code == 404


def test_the_memory_of_before_is_restored_as_a_branch(client: Client, session: Session) -> None:
    """It holds what the agent's compaction found, is one branch until something is done to it, and is gone on from."""
    at = f"/sessions/{session.uid}/compactions"
    assert read(client.get(f"{at}/1")).all("form", action=f"{at}/1/restore")
    first, again = client.post(f"{at}/1/restore"), client.post(f"{at}/1/restore")
    assert first.url == again.url == f"/sessions/{session.uid}/memory?branch=branch-1"
    assert "Memory of branch-1, version 1" in read(client.get(first.url)).text
    assert memory(client, session, "branch=branch-1") == memory(client, session, "compaction=1&side=before")
    assert "the memory before it" in read(client.get(at)).text
    done(asked(session, view="branch-1", policy="rule-based", keep_recent=2))
    assert View.objects.filter(session=session, kind="branch").count() == 1
    assert client.post(f"{at}/1/restore").url == f"/sessions/{session.uid}/memory?branch=branch-2"
    assert client.post(f"{at}/9/restore").status_code == 400
    assert client.get(f"{at}/1/restore").status_code == 405


def test_the_rest_of_the_log_goes_on_from_a_restored_memory(client: Client, session: Session) -> None:
    """As if the agent had not compacted there: the first step after it sees what was in memory before."""
    client.post(f"/sessions/{session.uid}/compactions/1/restore")
    view = View.objects.get(session=session, name="branch-1")
    _, run = open_view(session, "branch-1:keep-all")
    assert run is not None
    perform(run)
    step = f"/sessions/{session.uid}/steps/{view.base_step}"
    recorded = client.get(f"/api{step}/").json()["report"]
    on_top = client.get(f"/api{step}/?view=branch-1:keep-all").json()["report"]
    assert on_top["projected_items"] > recorded["projected_items"]
    read(client.get(f"{step}?view=branch-1:keep-all"))
