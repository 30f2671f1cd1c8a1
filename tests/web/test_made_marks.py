"""Compactions made here on a session's page: counted, marked on the chart and in its table, each with its page."""

from __future__ import annotations

import pytest
from django.test import Client

from contextlab.services import opening
from contextlab.services.actions import perform
from contextlab.store.models import CompactionJob, Run, Session
from tests.services.compaction.doing import asked, done
from tests.web.pages import Page, read

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def hand(session: Session) -> CompactionJob:
    return done(asked(session, before_step=6, policy="rule-based", keep_recent=2))


def marks(client: Client, session: Session, view: str = "recorded") -> list[tuple[str, int]]:
    """Kinds and steps of the marks that concern compactions."""
    data = client.get(f"/sessions/{session.uid}/chart.json?view={view}").json()
    return [
        (one["kind"], one["step"]) for one in data["marks"] if one["kind"] in ("compaction", "hand", "auto")
    ]


def opened(client: Client, session: Session, rest: str = "") -> Page:
    return read(client.get(f"/sessions/{session.uid}{rest}"))


def test_before_there_is_any_nothing_speaks_of_them(client: Client, session: Session) -> None:
    """Neither legend nor branches stand on the page of a session in which nothing was made; the log's are counted."""
    page = opened(client, session)
    assert "by hand" not in page.text
    assert "Branches" not in page.text
    (count,) = page.all("a", href=f"/compactions?session={session.uid}&state=done")
    assert count["title"] == "All compactions of this session"


def test_all_are_counted_and_lead_to_their_list(
    client: Client, session: Session, hand: CompactionJob
) -> None:
    """The head says how many there are and where from; the list behind it has exactly those."""
    page = opened(client, session)
    assert "compactions 2 ( 1 in the log, 1 by hand)" in page.text.replace("(1", "( 1")
    rows = read(client.get(f"/compactions?session={session.uid}&state=done")).all("a", data_open="")
    assert len(rows) == 2
    assert "Branches" in page.text


def test_what_came_to_nothing_is_not_counted_as_a_compaction(
    client: Client, session: Session, hand: CompactionJob
) -> None:
    """Runs that failed, were stopped, found nothing to do or still wait are told apart from those that were made."""
    assert done(asked(session, before_step=2, policy="rule-based")).run.state == "noop"
    for state in ("failed", "cancelled", "conflict", "queued"):
        run = asked(session, before_step=8, policy="rule-based", instructions=state)
        Run.objects.filter(pk=run.pk).update(state=state)
    text = opened(client, session).text
    assert "compactions 2 ( 1 in the log, 1 by hand)" in text.replace("(1", "( 1")
    assert "; 5 asked for without a new memory" in text
    assert len(read(client.get(f"/compactions?session={session.uid}")).all("tr", data_row="")) == 7


def test_the_recorded_chart_marks_them_beside_the_logs(
    client: Client, session: Session, hand: CompactionJob
) -> None:
    """By hand and automatic have kinds, sizes and pages of their own; the log's stays as it was."""
    before = marks(client, session)
    auto = done(asked(session, before_step=10, policy="rule-based", keep_recent=2))
    CompactionJob.objects.filter(pk=auto.pk).update(trigger="auto")
    assert [one for one in before if one[0] == "hand"] == [("hand", 6)]
    assert sorted(marks(client, session)) == sorted([*before, ("auto", 10)])
    data = client.get(f"/sessions/{session.uid}/chart.json").json()
    found = next(one for one in data["marks"] if one["kind"] == "hand")
    hand.refresh_from_db()
    assert (found["run"], found["label"]) == (str(hand.run.uid), "branch-1 v2")
    assert (found["pre"], found["post"]) == (hand.tokens_before, hand.tokens_after)
    assert [one["step"] for one in data["marks"]] == sorted(one["step"] for one in data["marks"])


def test_what_made_no_memory_is_no_mark(client: Client, session: Session) -> None:
    """A run with nothing to do, and one that waits, change nothing on the chart."""
    before = marks(client, session)
    assert done(asked(session, before_step=2, policy="rule-based")).run.state == "noop"
    asked(session, before_step=8, policy="rule-based")
    assert marks(client, session) == before


def test_other_views_mark_their_own_only(client: Client, session: Session, hand: CompactionJob) -> None:
    """A policy's view has none of another memory's; the rest of the log on a branch has that branch's."""
    for name in ("keep-all", "branch-1:keep-all"):
        _, run = opening.open_view(session, name)
        assert run is not None
        perform(run)
    assert marks(client, session, "keep-all") == []
    assert marks(client, session, "branch-1:keep-all") == [("hand", 6)]
    assert "by hand" in opened(client, session, "?view=branch-1:keep-all").text


def test_the_table_names_each_at_its_step(client: Client, session: Session, hand: CompactionJob) -> None:
    """For those who see no canvas: log and hand are told apart by words and link to their pages."""
    last = done(asked(session, policy="rule-based", keep_recent=2))
    assert last.at_step == session.steps + 1
    table = opened(client, session, "/steps")
    hrefs = {link["href"] for link in table.all("a")}
    assert {f"/compactions/{hand.run.uid}", f"/compactions/{last.run.uid}"} <= hrefs
    assert f"/sessions/{session.uid}/compactions/1" in hrefs
    assert "branch-1 v2 , by hand" in table.text.replace("v2,", "v2 ,")
    assert "by hand , after it" in table.text.replace("hand,", "hand ,")


def test_positions_of_an_earlier_reading_are_no_marks(
    client: Client, session: Session, hand: CompactionJob
) -> None:
    """After the log was rewritten its steps are others: a mark of before would stand at the wrong one."""
    CompactionJob.objects.update(revision=session.revision + 1)
    assert ("hand", 6) not in marks(client, session)


def test_on_a_branch_the_steps_before_it_have_their_reports(
    client: Client, session: Session, hand: CompactionJob
) -> None:
    """Turns, the turn that the branch leaves in, and the table show what is shared with the view below."""
    _, run = opening.open_view(session, "branch-1:keep-all")
    assert run is not None
    perform(run)
    query = "?view=branch-1:keep-all"
    assert "not projected" not in opened(client, session, query).text
    assert "not projected" not in opened(client, session, "/steps" + query).text
    turn = client.get(f"/api/sessions/{session.uid}/steps/{hand.at_step}/").json()["turn"]
    below, on_top = (opened(client, session, f"/turns/{turn}{view}").text for view in ("", query))
    assert "not projected" not in on_top
    assert below != on_top
    for step in (hand.at_step - 1, hand.at_step):
        page = opened(client, session, f"/steps/{step}{query}")
        beside = page.text.partition("Context, in the order sent")[0].partition("Steps turn")[2]
        assert beside
        assert "unknown" not in beside
