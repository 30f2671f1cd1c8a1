"""What a compaction goes on from, and what stands beside it: on its page, in the list and by API."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from contextlab.services import opening
from contextlab.services.actions import perform
from contextlab.store.models import Run
from tests.api.conftest import Api
from tests.api.test_live import JSON, LONG, Agent, item, step
from tests.services.compaction.doing import asked, done
from tests.web.pages import read

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def agent(db: None, settings: Any, tmp_path: Any) -> Agent:
    settings.DATA_DIR = tmp_path
    agent = Agent(Api(), name="fix it", policy="keep-all")
    for number in range(1, 5):
        agent.turn(number, LONG)
    return agent


def rows_of(session: Any) -> dict[str, Any]:
    return {row["id"]: row for row in Api().get(f"sessions/{session.uid}/compactions/")["results"]}


def compact_live(agent: Agent) -> str:
    body = {"view": "live", "policy": "rule-based", "keep_recent": 1}
    run = agent.api.post(agent.at + "compactions/", body, 202, **JSON)["id"]
    perform(Run.objects.get(uid=run))
    return str(run)


def test_what_a_compaction_of_the_log_found_is_compacted_beside_it(client: Client, session: Any) -> None:
    """Another summary of the memory that the log's own compaction read is its sibling, not its child."""
    again = done(asked(session, before_compaction=1, policy="rule-based", keep_recent=4)).run
    after = done(asked(session, before_step=18, policy="rule-based", keep_recent=1)).run
    rows = rows_of(session)
    assert rows[str(again.uid)]["parent"] is None
    assert rows[str(again.uid)]["before_compaction"] == 1
    assert rows["log-1"]["children"] == [str(after.uid)]
    page = read(client.get(f"/compactions/{again.uid}"))
    assert "goes on from the log's items went on to none yet beside it #1 of the log" in page.text
    own = read(client.get(f"/sessions/{session.uid}/compactions/1"))
    assert f"went on to {rows[str(after.uid)]['policy']}: branch-2, version 2 beside it" in own.text
    compare = f"/sessions/{session.uid}/compactions/compare?left=log-1&right={again.uid}"
    assert own.all("a", href=compare)
    read(client.get(compare))


def test_only_compactions_of_the_same_memory_are_beside_each_other(client: Client, session: Any) -> None:
    """A branch that is compacted further has a new version behind the first, not another try at it."""
    first = done(asked(session, before_step=12, policy="rule-based", keep_recent=6)).run
    further = done(asked(session, view="branch-1", policy="rule-based", keep_recent=2)).run
    page = read(client.get(f"/compactions/{further.uid}"))
    assert "goes on from rule-based: branch-1, version 2 went on to none yet memory branch-1" in page.text
    assert rows_of(session)[str(further.uid)]["parent"] == str(first.uid)


def test_the_memory_of_a_policy_is_named(client: Client, session: Any) -> None:
    """What is compacted under a policy's view holds that policy's own summaries: it is not the log's items."""
    _, run = opening.open_view(session, "rule-based")
    perform(run)
    made = done(asked(session, view="rule-based", policy="rule-based", keep_recent=1)).run
    row = rows_of(session)[str(made.uid)]
    assert (row["parent"], row["base_view"], row["base_version"]) == (None, "rule-based", None)
    for address in (f"/compactions/{made.uid}", f"/sessions/{session.uid}/compactions"):
        page = read(client.get(address))
        assert "the memory of rule-based" in page.text
        assert page.all("a", href=f"/sessions/{session.uid}?view=rule-based")


def test_each_compaction_of_a_live_session_names_the_one_before_it(client: Client, agent: Agent) -> None:
    """The list says which memory each went on from, a compaction that the agent made itself among them."""
    first = compact_live(agent)
    agent.send(
        item("u9", "user", LONG), step(9), item("a9", "assistant", LONG),
        {"type": "compaction", "id": "k", "keeps": ["a9"], "summary": "what went", "trigger": "auto"},
    )  # fmt: skip
    agent.turn(10, LONG)
    last = compact_live(agent)
    rows = rows_of(agent.session)
    assert [rows[name]["parent"] for name in (first, "log-1", last)] == [None, first, "log-1"]
    page = read(client.get(f"/sessions/{agent.session.uid}/compactions")).text
    for words in ("live, version 1", "rule-based: live, version 2", "#1 of the log"):
        assert words in page


def test_what_nobody_has_read_yet_is_named_all_the_same(client: Client, session: Any) -> None:
    """A compaction that waits, or that changed nothing, says which memory it is about."""
    done(asked(session, before_step=12, policy="rule-based", keep_recent=6))
    waits = asked(session, view="branch-1", policy="rule-based", keep_recent=50)
    of_log = asked(session, before_step=17, policy="rule-based", keep_recent=50)
    text = read(client.get(f"/sessions/{session.uid}/compactions")).text
    assert "the memory of branch-1" in text
    assert rows_of(session)[str(of_log.uid)]["parent"] == "log-1"
    assert rows_of(session)[str(waits.uid)]["parent"] is None
