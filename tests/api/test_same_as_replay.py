"""The API says of a log what `contextlab replay` says of it: two ways through the same core, one with a database."""

from __future__ import annotations

from typing import Any

import pytest

from contextlab.cli._policies import chosen_policy
from contextlab.cli._reading import sources, token_counter
from contextlab.cli._replaying import replayer_of, sessions_of, step_answer, step_items
from contextlab.services.actions import perform
from contextlab.services.opening import open_view
from contextlab.services.samples import FOLDER, ensure_samples
from contextlab.store.models import Session
from tests.api.conftest import Api
from tests.api.test_reads import walk

pytestmark = pytest.mark.django_db(transaction=True)
FORMATS = ["claude-code", "codex", "openai-chat"]
STEPS = {"claude-code": (1, 31, 65, 66, 72, 121), "codex": (1, 27, 28, 42), "openai-chat": (1, 5)}


def replayed(format_: str, keep_texts: bool = False) -> Any:
    """The main session of a sample folder as the command line replays it."""
    (source,) = [one for one in sources([str(FOLDER / format_)]) if "subagents" not in one.relative]
    (session,) = sessions_of(source, token_counter(), keep_texts=keep_texts)
    return session


@pytest.mark.parametrize("format_", FORMATS)
def test_reports_and_items_agree(transactional_db: None, format_: str) -> None:
    """Every step's report, and the fate of every item at some steps, are the same both ways."""
    ensure_samples()
    session, api = replayed(format_), Api()
    base = f"sessions/{Session.objects.get(format=format_, role='').uid}/"
    told = {step["step"]: step for step in walk(api, base + "steps/", limit=50)}
    replayer = replayer_of(session, None, token_counter())
    for result in replayer.run():
        expected = step_answer(session, result)
        found = told.pop(result.step.number)
        report = {name: found["report"][name] for name in expected["report"]}
        assert report == expected["report"], f"step {result.step.number}"
        own = ("turn", "step_id", "model", "limit")
        assert [found[name] for name in own] == [expected[name] for name in own]
        assert found["restart"] == (result.step.restart or None)
        if result.step.number in STEPS[format_]:
            _same_items(api, base, session, replayer, result)
    assert told == {}


def _same_items(api: Api, base: str, session: Any, replayer: Any, result: Any, **query: str) -> None:
    expected = list(step_items(session, replayer, result))
    found = walk(api, f"{base}steps/{result.step.number}/items/", limit=7, **query)
    for one in (*expected, *found):
        one.pop("entry")  # the log's own name on the command line, a number in the database
    assert found == expected


@pytest.mark.parametrize("name", ["type-aware", "rule-based", "agents-flex-window"])
def test_the_same_under_a_policy(transactional_db: None, name: str) -> None:
    """Under a policy too, also where it compacts: what it summarised is not said to stand in the log's summaries."""
    ensure_samples()
    stored = Session.objects.get(format="claude-code", role="")
    _, run = open_view(stored, name)
    assert run is not None
    perform(run)
    session, api = replayed("claude-code", keep_texts=True), Api()
    base, query = f"sessions/{stored.uid}/", {"view": name}
    told = {step["step"]: step for step in walk(api, base + "steps/", limit=50, **query)}
    replayer = replayer_of(session, chosen_policy(name), token_counter())
    for result in replayer.run():
        expected = step_answer(session, result)
        found = told.pop(result.step.number)["report"]
        assert {key: found[key] for key in expected["report"]} == expected["report"], result.step.number
        if result.step.number in STEPS["claude-code"]:
            _same_items(api, base, session, replayer, result, **query)
    assert told == {}
