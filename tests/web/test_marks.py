"""Where memory was compacted: the recorded view shows the log's own, a policy's view what that policy did."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from contextlab.services import opening, policies
from contextlab.services.actions import perform
from contextlab.services.workspaces import local_workspace
from contextlab.store.models import PolicyCompaction, Session, View
from tests.web.pages import Page, read

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def under(session: Session, name: str, compaction: dict[str, Any], items: int = 12) -> list[PolicyCompaction]:
    """The session's view under a policy that compacts above so many items; what it did."""
    document = {
        "version": 1, "name": name, "projector": {"kind": "default"}, "compaction": compaction,
        "trigger": {"kind": "items", "max_items": items},
    }  # fmt: skip
    policies.create(local_workspace(), json.dumps(document))
    _, run = opening.open_view(session, name)
    assert run is not None
    perform(run)
    return list(
        PolicyCompaction.objects.filter(view=View.objects.get(session=session, name=name)).order_by("step")
    )


@pytest.fixture
def rules(session: Session) -> list[PolicyCompaction]:
    """What a policy by rules did."""
    return under(session, "rules", {"kind": "rule_based", "keep_recent": 2})


@pytest.fixture
def asks(session: Session) -> PolicyCompaction:
    """Where a policy that asks a model would have compacted."""
    (fire,) = under(session, "asks", {"kind": "llm_summary"})
    return fire


def open_page(client: Client, session: Session, rest: str) -> Page:
    return read(client.get(f"/sessions/{session.uid}{rest}"))


def links(page: Page) -> set[str]:
    return {one.get("href", "") for one in page.all("a")}


def of_log(page: Page) -> set[str]:
    return {one for one in links(page) if "/compactions/" in one}


def test_the_turns_of_a_policy_view_name_the_policys_compactions(
    client: Client, session: Session, rules: list[PolicyCompaction]
) -> None:
    """Each stands at its turn and leads to the step behind it; none of the log's is there."""
    page = open_page(client, session, "?view=rules")
    assert not of_log(page)
    assert len(rules) > 1
    for fire in rules:
        assert f"/sessions/{session.uid}/steps/{fire.step}?view=rules#summary" in links(page)
    assert "Compactions under rules" in page.text
    assert f"{rules[0].tokens_before:,} → {rules[0].tokens_after:,}" in page.text


def test_the_recorded_view_shows_the_logs_compaction(
    client: Client, session: Session, rules: list[PolicyCompaction]
) -> None:
    """What policies would have done changes nothing of it."""
    page = open_page(client, session, "")
    assert of_log(page)
    assert "Compactions under" not in page.text
    data = client.get(f"/sessions/{session.uid}/map.json").json()
    assert data["marks"] == [[session.views.get(name="recorded").chart["marks"][0]["step"], 1, True]]


def test_map_and_chart_mark_the_same_places(
    client: Client, session: Session, rules: list[PolicyCompaction]
) -> None:
    """The map's lines, the chart's marks and the rows agree, each with its number."""
    steps = [fire.step for fire in rules]
    drawn = client.get(f"/sessions/{session.uid}/map.json?view=rules").json()
    assert drawn["marks"] == [[step, number, True] for number, step in enumerate(steps, 1)]
    chart = client.get(f"/sessions/{session.uid}/chart.json?view=rules").json()
    assert [(mark["step"], mark["number"]) for mark in chart["marks"]] == [
        (s, n) for n, s in enumerate(steps, 1)
    ]


def test_a_step_behind_a_policys_compaction_tells_of_it(
    client: Client, session: Session, rules: list[PolicyCompaction]
) -> None:
    """Its folds name that compaction, its summary is there to read, and the keys lead on to the next one."""
    page = open_page(client, session, f"/steps/{rules[0].step}?view=rules")
    assert "replaced by the summary of compaction #1" in page.text
    assert "compacted here: items > 12" in page.text
    assert "no model wrote it" in page.text
    assert not of_log(page)
    assert f"/sessions/{session.uid}/steps/{rules[1].step}?view=rules" in links(page)


def test_a_turn_of_a_policy_view_names_its_compactions(
    client: Client, session: Session, rules: list[PolicyCompaction]
) -> None:
    """The turn page too."""
    turn = session.steps and client.get(f"/api/sessions/{session.uid}/steps/{rules[0].step}/").json()["turn"]
    page = open_page(client, session, f"/turns/{turn}?view=rules")
    assert "compaction #1" in page.text
    assert not of_log(page)


def test_where_a_model_would_be_needed_the_place_is_marked(
    client: Client, session: Session, asks: PolicyCompaction
) -> None:
    """The first place says `would fire here` and offers to compact there; nothing claims that it happened."""
    page = open_page(client, session, "?view=asks")
    assert "would fire here" in page.text
    assert f"/sessions/{session.uid}/compact?before_step={asks.step}&policy=asks" in links(page)
    assert not of_log(page)
    drawn = client.get(f"/sessions/{session.uid}/map.json?view=asks").json()
    assert drawn["marks"] == [[asks.step, 1, False]]
    step = open_page(client, session, f"/steps/{asks.step}?view=asks")
    assert "would fire here" in step.text
    assert "replaced by the summary" not in step.text


def test_a_policy_that_does_not_compact_shows_no_compaction(client: Client, session: Session) -> None:
    """The log's own did not happen there either."""
    _, run = opening.open_view(session, "keep-all")
    assert run is not None
    perform(run)
    page = open_page(client, session, "?view=keep-all")
    assert not of_log(page)
    assert "Compactions under" not in page.text
    assert client.get(f"/sessions/{session.uid}/chart.json?view=keep-all").json()["marks"] == []


def test_a_session_that_compacts_at_every_step_stays_a_small_page(client: Client, session: Session) -> None:
    """Only the first compactions are listed, the chart marks all (the limits of every page hold)."""
    (view,) = session.views.filter(name="recorded")
    document = policies.text_from(local_workspace(), "rule-based").replace("my rule-based", "often")
    policies.create(local_workspace(), document)
    _, run = opening.open_view(session, "often")
    assert run is not None
    perform(run)
    often = session.views.get(name="often")
    assert often.steps == view.steps
    PolicyCompaction.objects.filter(view=often).delete()
    PolicyCompaction.objects.bulk_create(
        PolicyCompaction(view=often, step=n + 1, made=True) for n in range(500)
    )
    page = open_page(client, session, "?view=often")
    assert "The first 40 of 500" in page.text
