"""The list of all compactions of the workspace: what stands in it, how it is narrowed and paged, and what it costs."""

from __future__ import annotations

import itertools
import random
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client

from contextlab.store.models import (
    CompactionJob,
    CompactionRecord,
    MemoryVersion,
    Run,
    Session,
    SessionAudit,
    StepRecord,
    View,
    Workspace,
)
from tests.factories import NOW, a_session
from tests.web.pages import Page, read
from tests.web.test_hostile import PAYLOADS

pytestmark = [pytest.mark.django_db, pytest.mark.database]
HTMX = {"HX-Request": "true"}
_numbers = itertools.count(1)


def of_log(session: Session, number: int = 1, ts: datetime | None = NOW, **values: Any) -> CompactionRecord:
    """One that the session's log records."""
    given = {"native_id": f"c{number}", "at_step": 9, "upto": 20, "trigger": "auto", "pre_tokens": 90_000}
    values = {"revision": session.revision} | values
    return CompactionRecord.objects.create(session=session, number=number, ts=ts, **given | values)


def made_here(
    session: Session, at: datetime = NOW, state: str = "done", branch: str = "", **values: Any
) -> CompactionJob:
    """One that was asked for here; with a memory where a branch is named."""
    base, _ = View.objects.get_or_create(session=session, name="recorded", kind=View.Kind.RECORDED)
    run = Run.objects.create(workspace=session.workspace, kind=Run.Kind.COMPACT, state=state)
    given = {"at_step": 9, "policy_name": "rule-based", "policy_hash": "", "revision": session.revision}
    job = CompactionJob.objects.create(run=run, session=session, base_view=base, **given | values)
    CompactionJob.objects.filter(pk=job.pk).update(asked_at=at)
    if branch:
        view = View.objects.create(
            session=session, name=branch, kind=View.Kind.BRANCH, base=base, base_step=9
        )
        MemoryVersion.objects.create(view=view, version=2, created_by="compaction", compaction=job)
    return job


def opened(client: Client, **query: Any) -> Page:
    return read(client.get("/compactions?" + urlencode(query)))


def shown(page: Page) -> list[str]:
    """Addresses of the compactions in the list, in order."""
    return [link["href"] for link in page.all("a", data_open="")]


def address(one: CompactionJob | CompactionRecord) -> str:
    if isinstance(one, CompactionJob):
        return f"/compactions/{one.run.uid}"
    return f"/sessions/{one.session.uid}/compactions/{one.number}"


def test_before_the_first_compaction_the_page_says_what_to_do(client: Client) -> None:
    """An empty workspace gets words and a way on, not an empty table."""
    text = opened(client).text
    assert "No compaction yet" in text
    assert "Compact now" in text


def test_those_of_all_sessions_stand_together_newest_first(client: Client) -> None:
    """Found in logs, made by hand and automatic, each linking to its page and its session; no time comes last."""
    first, second = a_session(title="Fix the cleanup"), a_session(title="Move the invoices")
    untimed = of_log(second, ts=None)
    old = of_log(first, ts=NOW - timedelta(days=2))
    auto = made_here(second, at=NOW - timedelta(days=1), trigger="auto")
    hand = made_here(first, at=NOW, branch="branch-1", tokens_before=80_000, tokens_after=9_000,
                     token_source="counted")  # fmt: skip
    page = opened(client)
    assert shown(page) == [address(one) for one in (hand, auto, old, untimed)]
    text = page.text
    for words in ("branch-1 v2", "Fix the cleanup", "Move the invoices", "by hand", "automatic",
                  "#1 of the log", "rule-based", "80k → 9k", "counted", "no time in the log"):  # fmt: skip
        assert words in text
    hrefs = {link.get("href") for link in page.all("a")}
    assert {f"/sessions/{first.uid}", f"/sessions/{second.uid}"} <= hrefs
    assert any(link.get("href") == "/compactions" and link.get("aria-current") for link in page.all("a"))


def test_what_another_reading_or_another_workspace_holds_is_not_listed(client: Client) -> None:
    """Rows of an earlier revision, micro-compactions and other tenants' compactions stay out."""
    session = a_session(revision=2)
    kept = of_log(session)
    of_log(session, revision=1)
    of_log(session, number=1, micro=True)
    stranger = a_session(workspace=Workspace.objects.create(name="stranger"))
    of_log(stranger)
    job = made_here(stranger)
    assert shown(opened(client)) == [address(kept)]
    assert client.get(f"/compactions/{job.run.uid}/row").content == b""


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"origin": "log"}, ["log"]),
        ({"origin": "hand"}, ["hand", "failed"]),
        ({"origin": "auto"}, ["auto"]),
        ({"state": "done"}, ["hand", "auto", "log"]),
        ({"state": "failed"}, ["failed"]),
        ({"policy": "mine"}, ["auto"]),
        ({"policy": "nobody's"}, []),
        ({"q": "INVOICES acme"}, ["log"]),
        ({"q": "invoices nowhere"}, []),
        ({"origin": "hand", "state": "failed", "policy": "rule-based", "q": "cleanup"}, ["failed"]),
        ({"origin": "bogus", "state": "bogus", "at": "bogus"}, ["hand", "auto", "failed", "log"]),
    ],
)
def test_it_is_narrowed_by_its_address(client: Client, query: dict[str, str], expected: list[str]) -> None:
    """Origin, state, policy and the session's words narrow the list; nonsense narrows nothing."""
    first, second = a_session(title="Fix the cleanup"), a_session(title="Move the invoices")
    made = {
        "hand": made_here(first, at=NOW),
        "auto": made_here(first, at=NOW - timedelta(hours=1), trigger="auto", policy_name="mine"),
        "failed": made_here(first, at=NOW - timedelta(hours=2), state="failed"),
        "log": of_log(second, ts=NOW - timedelta(hours=3)),
    }
    page = opened(client, **query)
    assert shown(page) == [address(made[name]) for name in expected]
    assert ("No compaction matches" in page.text) == (not expected)


def test_it_shows_one_session_and_leads_back(client: Client) -> None:
    """Narrowed to a session it names it, links to it, and every filter keeps it until it is taken away."""
    first, second = a_session(title="Fix the cleanup"), a_session()
    mine, _ = of_log(first), of_log(second)
    page = opened(client, session=first.uid)
    assert shown(page) == [address(mine)]
    assert "Fix the cleanup ×" in page.text
    chips = [link["href"] for link in page.all("a", **{"class": "chip"})]
    assert f"/compactions?origin=log&session={first.uid}" in chips
    assert "/compactions" in chips
    gone = opened(client, session="11111111-1111-1111-1111-111111111111")
    assert "a session that is not here" in gone.text


def test_every_page_of_many_is_reached_both_ways(client: Client) -> None:
    """Forward and back over equal times and rows without one: each row once, in one order."""
    session, chance = a_session(), random.Random(7)
    for number in range(1, 76):
        of_log(session, number, chance.choice([None, NOW, NOW - timedelta(hours=number % 3)]))
        if number % 2:
            made_here(session, at=NOW - timedelta(hours=number % 4))
    total = 75 + 38

    def walk(page: Page, rel: str) -> list[list[str]]:
        pages = [shown(page)]
        while links := page.all("a", rel=rel):
            page = read(client.get(links[0]["href"]))
            pages.append(shown(page))
            last.append(page)
        return pages

    last = [opened(client)]
    forward = walk(last[0], "next")
    rows = [row for page in forward for row in page]
    assert len(rows) == len(set(rows)) == total
    assert "101–113 of 113" in last[-1].text
    assert walk(last[-1], "prev")[::-1] == forward


def test_what_was_lost_comes_from_the_audit(client: Client) -> None:
    """Stored counts where there are some; else it says that nobody looked, or that nobody can."""
    audited, other, sealed = a_session(), a_session(), a_session()
    of_log(audited)
    counts = {"kept": 4, "changed": 2, "partial": 0, "dropped": 34, "resupplied": 0, "cannot_tell": 0}
    audit = SessionAudit.objects.create(
        session=audited, revision=audited.revision, items=60, payload=b"", counts={"1": counts}
    )
    page = opened(client)
    assert "34 of 40 dropped, 2 changed" in page.text
    assert page.all("a", href=f"/sessions/{audited.uid}/audit/1")
    SessionAudit.objects.filter(pk=audit.pk).update(revision=99)
    assert "not audited" in opened(client).text
    CompactionRecord.objects.all().delete()
    of_log(sealed, opaque=True)
    made_here(other, state="noop", reason="no_gain")
    text = opened(client).text
    assert "cannot be told: encrypted" in text
    assert "nothing: memory is as it was" in text
    assert "no gain" in text


def test_sizes_say_where_they_come_from(client: Client) -> None:
    """What the log does not state is taken from the provider's report of the step beside it, and says so."""
    session = a_session()
    of_log(session, pre_tokens=90_000)
    assert "90k → unknown" in opened(client).text
    values = {"number": 9, "turn": 1, "upto": 1, "cache_read": 12_000, "input": 500}
    StepRecord.objects.create(session=session, revision=session.revision, native_id="s9", **values)
    text = opened(client).text
    assert "90k → 12.5k" in text
    assert "logged → reported" in text


def test_one_that_runs_asks_again_until_it_has_ended(client: Client) -> None:
    """The row of a running compaction renews itself; the row of a finished one has no trigger."""
    job = made_here(a_session(), state="running")
    row = f"/compactions/{job.run.uid}/row"
    assert opened(client).all("tr", hx_get=row)
    assert read(client.get(row)).all("tr", hx_get=row)
    Run.objects.update(state="done")
    ended = client.get(row).content.decode()
    assert "hx-trigger" not in ended
    assert "done" in ended
    assert not opened(client).all("tr", hx_get=row)


def test_htmx_gets_the_list_with_its_address(client: Client) -> None:
    """Typing replaces the address, so that the state can be shared and the back button leaves the page."""
    of_log(a_session())
    response = client.get("/compactions?q=acme&origin=&at=", headers=HTMX | {"HX-Trigger": "narrow"})
    assert response.headers["HX-Replace-Url"] == "/compactions?q=acme"
    assert b"<html" not in response.content


def test_hostile_words_are_text(client: Client) -> None:
    """Titles, policies and reasons from logs and people never become markup."""
    for given in PAYLOADS:
        payload = given.replace("\x00", "")
        session = a_session(title=payload, project=payload, agent=payload[:120])
        made_here(session, state="failed", policy_name=payload[:80], reason=payload[:40])
        of_log(session, trigger=payload[:30])
    page = client.get("/compactions")
    assert page.status_code == 200
    assert b"<script>alert" not in page.content
    assert b"<img src=x" not in page.content
    assert client.get("/compactions", {"q": PAYLOADS[0], "policy": PAYLOADS[0]}).status_code == 200


def test_a_page_costs_the_same_whatever_is_on_it(client: Client, django_assert_max_num_queries: Any) -> None:
    """Fifty rows of fifty sessions take as many queries as one, and the page stays small."""
    for number in range(1, 61):
        session = a_session()
        of_log(session, ts=NOW - timedelta(minutes=number))
        made_here(session, at=NOW - timedelta(minutes=number), branch="branch-1")
    with django_assert_max_num_queries(13):
        page = client.get("/compactions")
    read(page)
    assert page.content.count(b"<") / 2 < 3_000
    assert len(page.content) < 150_000
