"""The session page and the turn page: figures with their sources, turns by key, views, and what links to what."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone

from contextlab.core.items import Kind, Reason, Verdict
from contextlab.core.spans import Span
from contextlab.store.models import LinkRecord, Run, StepReport
from tests.web.made import Log, Made, a_start
from tests.web.pages import read

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def talk(turns: int = 3, steps: int = 2) -> Made:
    log = Log().item(Kind.SYSTEM, "Be brief.")
    for turn in range(turns):
        log.ask(f"question {turn + 1}")
        for number in range(steps):
            log.step(input=1_000 * (turn + 1) + number, output=9).call("read", f"f{number}").result(
                "text " * 40
            )
    return log.save()


def test_the_head_says_where_each_figure_comes_from(client: Client) -> None:
    """Peak, limit, usage: reported, logged or unknown, each by its word."""
    made = talk()
    made.view([])
    page = read(client.get(made.url()))
    assert "peak 3.0k reported / 200k" in page.text or "peak 3k reported / 200k" in page.text
    assert "turns 3" in page.text
    assert "steps 6" in page.text
    assert "usage, unknown the log has none" in page.text
    assert page.all("canvas", id="chart")
    assert page.all("canvas", id="map")


def test_turns_come_by_key_and_can_be_jumped_to(client: Client) -> None:
    """Fifty at a time; the address holds where the table begins."""
    made = talk(turns=120, steps=1)
    made.view([])
    page = read(client.get(made.url()))
    assert len(page.all("tr", data_row="")) == 50
    assert "question 50" in page.text
    assert "question 51" not in page.text
    later = read(client.get(made.url("?turn=101")))
    assert "question 101" in later.text
    assert len(later.all("tr", data_row="")) == 20
    part = client.get(made.url("?turn=51"), headers={"HX-Request": "true", "HX-Target": "turns"})
    assert "<html" not in part.content.decode()
    assert "question 100" in read(part).text


def test_a_turn_shows_the_report_of_its_last_step_with_lowest_and_highest(client: Client) -> None:
    """Ruling: the turn's own report is that of its last step."""
    made = talk()
    view = made.view([Span(2, 3, Verdict.DROPPED, Reason.MAX_ITEMS, 6)], name="last-n")
    StepReport.objects.filter(view=view, step=5).update(projected_tokens=99_000)
    page = read(client.get(made.url("/turns/3?view=last-n")))
    assert "Turn 3 · question 3" in page.text
    assert "highest 99k estimated" in page.text
    assert "over the item limit" in page.text
    assert [link["href"] for link in page.all("a") if "/steps/5" in link.get("href", "")]


def test_steps_before_the_first_turn_are_turn_0(client: Client) -> None:
    """A log may begin in the middle: nothing of it is hidden."""
    made = Log().item(Kind.USER, "context").step(input=5).say("hello").ask("go").step(input=6).save()
    made.view([])
    assert "before the first turn" in read(client.get(made.url())).text
    assert "Turn 0 · before the first prompt" in read(client.get(made.url("/turns/0"))).text


def test_a_long_turn_pages_its_steps(client: Client) -> None:
    """A turn of a thousand steps is no longer than one of sixty."""
    made = Log().ask("go").repeat(150, lambda log, n: log.step(input=n + 1).say("x")).save()
    made.view([])
    page = read(client.get(made.url("/turns/1")))
    assert "later steps, from 61" in page.text
    assert "earlier steps" in read(client.get(made.url("/turns/1?from=61"))).text


def test_an_empty_session_says_what_is_there(client: Client) -> None:
    """No items, no steps, no title: every page of it still answers."""
    made = Log(a_start(title=None, model=None)).save(title="")
    page = read(client.get(made.url()))
    assert "Untitled session" in page.text
    assert "No model call in this log" in page.text
    assert client.get(made.url("/chart.json")).json()["buckets"] == []
    assert client.get(made.url("/map.json")).json()["bands"] == []


def test_items_without_a_step_are_no_error(client: Client) -> None:
    """A prompt that was never answered."""
    made = Log().ask("anyone?").save()
    page = read(client.get(made.url()))
    assert "anyone?" in page.text
    assert "no model call" in page.text
    assert "full width" not in page.text, "there are no bars"
    assert "No model call in this turn" in read(client.get(made.url("/turns/1"))).text
    assert "no model call has had it" in read(client.get(made.url("/items/0"))).text


def test_a_view_that_is_not_there_is_made_when_somebody_looks(client: Client) -> None:
    """The page shows the run and polls it; asking again does not queue a second one."""
    made = talk()
    made.view([])
    for _ in range(2):
        page = read(client.get(made.url("?view=type-aware")))
    assert "Projecting a view" in page.text
    assert "counterfactual" in page.text
    run = Run.objects.get(kind=Run.Kind.PROJECT)
    assert page.all("div", id=f"run-{run.uid}")[0]["hx-get"] == f"/runs/{run.uid}"
    assert "being worked out" in read(client.get(made.url("/steps/1?view=type-aware"))).text
    assert client.get(made.url("/map.json?view=type-aware")).json()["bands"] == []


def test_a_view_that_is_complete_queues_nothing(client: Client) -> None:
    """Looking at what is there costs no work."""
    made = talk()
    made.view([])
    read(client.get(made.url()))
    read(client.get(made.url("/steps/2")))
    assert not Run.objects.exists()


def test_relatives_and_the_only_copy_are_told(client: Client) -> None:
    """Parent, forks and subagents are links; a log that vanished is said to be gone."""
    parent, child, fork = talk(), talk(), talk()
    child.session.parent, child.session.role, child.session.agent = parent.session, "subagent", "explorer"
    child.session.save()
    fork.session.forked_from, fork.session.shared_steps = parent.session, 2
    fork.session.save()
    parent.session.file.missing_since = timezone.now()
    parent.session.file.save()
    page = read(client.get(parent.url()))
    assert "This is the only copy." in page.text
    assert "subagent: explorer" in page.text
    assert "forked from this one" in page.text
    assert page.all("a", href=child.url())
    assert "Subagent of" in read(client.get(child.url())).text
    assert "its first 2 steps are that session's" in read(client.get(fork.url())).text


def test_a_call_that_started_a_subagent_links_to_it(client: Client) -> None:
    """By the link of the log; a session that was not imported is named."""
    made, child = talk(), talk()
    LinkRecord.objects.create(
        session=made.session, child_native_id=child.session.native_id, call_id="call-1", agent="x"
    )
    LinkRecord.objects.create(session=made.session, child_native_id="far-away", call_id="call-1")
    page = read(client.get(made.url("/items/2")))
    assert page.all("a", href=child.url())
    assert "its log (far-away) has not been imported" in page.text


def test_the_table_beside_the_chart_has_the_same_numbers_by_page(client: Client) -> None:
    """For those who cannot see a canvas: fifty steps at a time."""
    made = talk(turns=60, steps=2)
    made.view([])
    page = read(client.get(made.url("/steps?from=101")))
    assert "Steps 101 to 120 of 120" in page.text
    assert len(page.all("tr")) - 1 == 20
    assert "earlier steps" in page.text
    assert read(client.get(made.url("/steps?from=99999999999999")))


def test_other_methods_and_views_do_no_harm(client: Client) -> None:
    """Unknown views are 404, nonsense numbers are ignored."""
    made = talk()
    made.view([])
    assert client.get(made.url("?view=../../etc/passwd")).status_code == 404
    read(client.get(made.url("?turn=-5")))
    read(client.get(made.url("?turn=99999999999999999999")))
    read(client.get(made.url("/turns/1?from=zzz")))
    assert client.get(made.url("/map.json?from=zzz&to=0")).status_code == 200
