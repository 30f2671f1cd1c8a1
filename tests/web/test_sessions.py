"""The sessions page: what it lists, how it is narrowed, and that nothing in an address or a log breaks it."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client

from tests.factories import NOW, a_file, a_session, a_turn, a_workspace
from tests.web.pages import Page, read

pytestmark = [pytest.mark.django_db, pytest.mark.database]
HTMX = {"HX-Request": "true"}


def listed(page: Page) -> list[str]:
    """Addresses of the sessions in the list, in order."""
    return [link["href"].removeprefix("/sessions/") for link in page.all("a", data_open="")]


def shown(client: Client, **query: Any) -> list[str]:
    """The sessions listed under a query."""
    return listed(read(client.get("/?" + urlencode(query, doseq=True))))


def uids(*sessions: Any) -> list[str]:
    return [str(session.uid) for session in sessions]


def test_a_row_says_what_the_columns_hold(client: Client) -> None:
    """Title, project, model, turns, steps, peak with its source, limit, compactions."""
    a_session(title="Fix the flaky test", turns=19, steps=220, compactions=2, subagents=3)
    text = read(client.get("/")).text
    for words in (
        "Fix the flaky test",
        "acme-api",
        "main",
        "Claude Code",
        "3 subagents",
        "19",
        "220",
        "149k / 200k",
    ):
        assert words in text
    assert "reported" in text


def test_counters_leave_out_shared_steps_and_rows_of_subagents(client: Client) -> None:
    """Steps that a fork shares count once; a subagent is counted with its parent."""
    parent = a_session(steps=100, compactions=2, subagents=1)
    a_session(steps=50, shared_steps=30, compactions=0)
    a_session(role="subagent", parent=parent, steps=900)
    text = read(client.get("/")).text
    assert "2 sessions" in text
    assert "120 steps" in text
    assert "2 compactions" in text
    assert "1 subagent" in text


def test_an_orphan_subagent_is_listed(client: Client) -> None:
    """A subagent whose parent was never imported would be nowhere otherwise."""
    orphan = a_session(role="subagent", title="")
    assert shown(client) == uids(orphan)


def test_unknown_is_said(client: Client) -> None:
    """No peak, no limit, no model, no time: words, never 0 or None."""
    a_session(
        peak_tokens=None, peak_source="", limit=None, fill_percent=None, model="", last_at=None, sparkline=[]
    )
    text = read(client.get("/")).text
    assert "unknown" in text
    assert "no time" in text
    assert "None" not in text
    assert "nan" not in text.lower().split()


def test_look_at_names_only_what_is_there(client: Client) -> None:
    """A quiet session has nothing to look at; others say what."""
    a_session(title="quiet")
    assert "% full" not in read(client.get("/?q=quiet")).text
    a_session(title="busy", fill_percent=94.2, findings=2)
    file = a_file(missing_since=NOW, report={"skipped_total": 3})
    a_session(title="gone", file=file, steps=0)
    text = read(client.get("/")).text
    assert "94 % full" in text
    assert "changed outside the log, 2 times" in text
    assert "3 lines skipped" in text
    assert "only copy" in text
    assert "empty log" in text


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ({"source": "codex"}, "codex"),
        ({"model": "gpt-5"}, "codex"),
        ({"is": "compacted"}, "compacted"),
        ({"is": "full"}, "full"),
        ({"is": "over"}, "over"),
        ({"is": ["full", "over"]}, "over"),
        ({"project": "/p", "branch": "b"}, "placed"),
        ({"q": "LEDGER"}, "placed"),
        ({"q": "invoice zebra"}, "full"),
    ],
)
def test_filters(client: Client, query: dict[str, Any], wanted: str) -> None:
    """Each filter lets through what it says."""
    plain: dict[str, Any] = {"compactions": 0, "fill_percent": 10.0, "title": "x"}
    made = {
        "codex": a_session(**plain | {"format": "codex", "model": "gpt-5"}),
        "compacted": a_session(**plain | {"compactions": 2}),
        "full": a_session(**plain | {"fill_percent": 85.0}),
        "over": a_session(**plain | {"fill_percent": 101.0}),
        "placed": a_session(**plain | {"project": "/p", "branch": "b", "title": "the ledger"}),
    }
    a_turn(made["full"], "move the Invoice to the zebra")
    expected = {wanted, "over"} if query == {"is": "full"} else {wanted}
    assert set(shown(client, **query)) == {str(made[name].uid) for name in expected}


@pytest.mark.parametrize(
    "sort", ["newest", "oldest", "fullest", "peak", "turns", "steps", "compactions", "title"]
)
def test_paging_by_key_shows_each_session_once(client: Client, sort: str) -> None:
    """Whatever the order, and with ties and unknown values, following `next` visits every session exactly once."""
    made = [
        a_session(
            title=f"t{number % 7}", steps=number % 3, peak_tokens=number % 5 or None, compactions=number % 2,
            fill_percent=float(number % 4) or None, sort_at=NOW - timedelta(hours=number % 11),
        )
        for number in range(120)
    ]  # fmt: skip
    seen, address, pages = [], f"/?sort={sort}", []
    while address:
        page = read(client.get(address))
        seen += listed(page)
        pages.append(listed(page))
        address = next((link["href"] for link in page.all("a", rel="next")), "")
    assert len(seen) == len(made)
    assert set(seen) == set(uids(*made))
    back = read(client.get(f"/?sort={sort}"))
    for _ in pages[1:]:
        back = read(client.get(back.all("a", rel="next")[0]["href"]))
    previous = read(client.get(back.all("a", rel="prev")[0]["href"]))
    assert listed(previous) == pages[-2]


def test_grouping_by_project_and_branch(client: Client) -> None:
    """Groups stand together and say how many sessions they have."""
    for project in ("/b", "/a", "/b", "/a", "/b"):
        a_session(project=project)
    page = read(client.get("/?group=project"))
    assert re.search(r"/a on main · 2 sessions .* /b on main · 3 sessions", page.text)


@pytest.mark.parametrize(
    "query",
    [
        "q=%00", "q=%00abc%00", "q=%ED%A0%80", "q=%FF%FE", "q=%25%5F%27%22", "q=" + "x" * 5000, "q=" + "a+" * 500,
        "at=zzz", "at=" + "A" * 5000, "at=W10", "at=bnVsbA", "at=WyJuZXdlc3QiLDAsMSwxZTk5OSwxXQ", "at=%00", "at=é",
        "sort=%00", "sort=id", "group=%00", "is=%00&is=nonsense", "source=%00", "model=%00", "project=%00&branch=%00",
        "project=" + "p" * 9000, "source=<script>", "page=2", "q[]=1", "&&&=&", "view=recorded",
    ],
)  # fmt: skip
def test_nonsense_in_the_address_never_breaks_the_list(client: Client, query: str) -> None:
    """Whatever is typed, a page comes."""
    a_session()
    read(client.get(f"/?{query}"))
    read(client.get(f"/?{query}", headers=HTMX))


def test_a_cursor_of_another_sort_is_left_out(client: Client) -> None:
    """A cursor belongs to its order; with another one the first page is shown."""
    for _ in range(60):
        a_session()
    after = read(client.get("/?sort=newest")).all("a", rel="next")[0]["href"]
    mixed = after.replace("/?", "/?sort=title&")
    assert "1–50 of 60" in read(client.get(mixed)).text


def test_htmx_gets_the_list_and_the_address_of_its_state(client: Client) -> None:
    """A filter pushes an address, typing replaces it, the list that renews itself does neither."""
    a_session(title="ledger")
    pushed = client.get("/?q=ledger&model=&sort=newest&group=", headers=HTMX)
    assert pushed.headers["HX-Push-Url"] == "/?q=ledger"
    assert b"<html" not in pushed.content
    typed = client.get("/?q=ledger", headers=HTMX | {"HX-Trigger": "search"})
    assert typed.headers["HX-Replace-Url"] == "/?q=ledger"
    renewed = client.get("/?q=ledger", headers=HTMX | {"HX-Trigger": "sessions"})
    assert not {"HX-Push-Url", "HX-Replace-Url"} & set(renewed.headers)


def test_nothing_matches(client: Client) -> None:
    """An empty result says what was looked for, and how to get out."""
    a_session()
    page = read(client.get("/?q=unheard-of"))
    assert "No session matches" in page.text
    assert "unheard-of" in page.text


def test_fifty_rows_are_bounded(client: Client, django_assert_max_num_queries: Any) -> None:
    """A full page of long rows keeps the limits of nodes and size, and reads with a fixed number of queries."""
    for number in range(55):
        spark = [[1000 * number + bar * 977 % 90_000, bar % 9 == 0] for bar in range(45)]
        long = f"{number} " + "word " * 58
        a_session(
            title=long,
            project="/p/" + "d" * 380,
            branch="b" * 200,
            sparkline=spark,
            findings=3,
            file=a_file(),
        )
    with django_assert_max_num_queries(14):
        page = read(client.get("/"))
    assert len(listed(page)) == 50


def test_sessions_of_another_workspace_are_not_shown(client: Client) -> None:
    """Every read passes through the workspace."""
    from contextlab.store.models import Workspace

    a_workspace()
    stranger = a_session(workspace=Workspace.objects.create(name="other"), title="secret")
    assert "secret" not in read(client.get("/")).text
    assert client.get(f"/sessions/{stranger.uid}/fresh").status_code == 404


def test_freshness(client: Client) -> None:
    """An open page learns how far its log has been read."""
    session = a_session(steps=7, turns=2, items=30)
    answer = client.get(f"/sessions/{session.uid}/fresh")
    assert answer.json() == {"steps": 7, "turns": 2, "items": 30, "revision": 1}
    assert client.get("/fresh").json()["steps"] == 7


def test_the_list_under_its_old_address(client: Client) -> None:
    """Cutting the end off a session's address leads to the list."""
    assert client.get("/sessions?q=a").headers["Location"] == "/?q=a"
