"""What the API tells of sessions, turns, steps, items and spans."""

from __future__ import annotations

from typing import Any

import pytest

from contextlab.cli._replaying import REPORT_KEYS
from tests.api.conftest import Api
from tests.web.made import Log, Made

ITEM_KEYS = {
    "id", "position", "entry", "kind", "tool", "call_id", "verdict", "reason", "tokens", "chars", "in_context",
    "replaced_by",
}  # fmt: skip


def walk(api: Api, path: str, **query: Any) -> list[Any]:
    """All rows of a list, page by page."""
    rows, answer = [], api.get(path, **query)
    while True:
        rows += answer["results"]
        if answer["next"] is None:
            return rows
        answer = api.read(api.client.get(answer["next"]), 200)


def test_lists_sessions_with_their_counters(api: Api, made: Made) -> None:
    """A session is a row with what its columns hold; unknown is null."""
    answer = api.get("sessions/")
    (row,) = answer["results"]
    assert (row["id"], row["title"], row["turns"], row["steps"]) == (
        str(made.session.uid),
        "Made by hand",
        2,
        4,
    )
    assert row["compactions"] == 1
    assert row["peak_tokens"] == 2400
    assert row["last_at"] is None
    assert (answer["matching"], answer["next"], answer["previous"]) == (1, None, None)


def test_narrows_the_list(api: Api, made: Made) -> None:
    """Words, format, model, project and marks narrow the list like the page does."""
    assert api.get("sessions/", q="made hand")["matching"] == 1
    assert api.get("sessions/", format="codex")["matching"] == 0
    assert api.get("sessions/", model=made.session.model)["matching"] == 1
    assert api.get("sessions/", **{"is": "compacted"})["matching"] == 1
    assert api.get("sessions/", project="elsewhere")["matching"] == 0


def test_pages_of_sessions_join_without_gap(api: Api) -> None:
    """Following `next` gives every session once, and `previous` leads back."""
    for number in range(120):
        Log().ask(f"prompt {number}").save(native_id=f"s{number}", title=f"S {number:03}", file=None)
    titles = [row["title"] for row in walk(api, "sessions/", sort="title")]
    assert titles == [f"S {number:03}" for number in range(120)]
    second = api.read(api.client.get(api.get("sessions/", sort="title")["next"]), 200)
    back = api.read(api.client.get(second["previous"]), 200)
    assert [row["title"] for row in back["results"]] == titles[:50]


def test_reads_one_session(api: Api, made: Made, base: str) -> None:
    """A session comes with its usage, views, compactions and children."""
    child = (
        Log()
        .ask("explore")
        .save(native_id="child", role="subagent", parent=made.session, parent_call_id="call-1", file=None)
    )
    found = api.get(base)
    assert found["native_id"] == made.session.native_id
    assert found["usage"] == {"input": None, "cache_read": None, "cache_write": None, "output": None}
    assert [view["name"] for view in found["views"]] == ["recorded"]
    (compaction,) = found["compaction_list"]
    assert (compaction["at_step"], compaction["pre_tokens"], compaction["post_tokens"]) == (4, 2500, None)
    (row,) = found["children"]
    assert (row["id"], row["call_id"]) == (str(child.session.uid), "call-1")


def test_reads_turns_and_their_steps(api: Api, base: str) -> None:
    """A turn has the steps of its number; its report is that of the last, with the extremes beside it."""
    first, second = walk(api, base + "turns/", limit=1)
    assert (first["turn"], first["title"], first["first_step"], first["last_step"]) == (
        1,
        "why does it fail?",
        1,
        3,
    )
    assert second["turn"] == 2
    turn = api.get(base + "turns/1/")
    assert [step["step"] for step in turn["steps"]] == [1, 2, 3]
    assert turn["report"] == turn["steps"][-1]["report"]
    assert (turn["lowest_tokens"], turn["highest_tokens"]) == (900, 2400)


def test_steps_have_the_names_of_the_command_line(api: Api, made: Made, base: str) -> None:
    """Whatever `contextlab replay` calls a figure of a report, the API calls it the same."""
    steps = walk(api, base + "steps/", limit=3)
    assert [step["step"] for step in steps] == [1, 2, 3, 4]
    assert set(REPORT_KEYS) <= set(steps[0]["report"])
    second = api.get(base + "steps/2/")
    assert second == steps[1]
    assert second["session"] == str(made.session.uid)
    assert second["usage"] == {
        "input": 10, "cache_read": 1500, "cache_write": None, "output": 30, "reasoning": None, "partial": False,
    }  # fmt: skip
    assert second["report"]["reported_input_tokens"] == 1510
    assert second["report"]["composition"].keys() >= {"system", "user", "tool_result"}
    assert second["report"]["calibrated_tokens"] is None
    assert [step["step"] for step in walk(api, base + "steps/", turn=2)] == [4]


def test_a_disproved_limit_is_unknown(api: Api) -> None:
    """A prompt that was accepted above the limit disproves it."""
    made = Log().ask("x").step(limit=200_000, input=219_313).save()
    assert api.get(f"sessions/{made.session.uid}/steps/1/")["limit"] is None


def test_a_step_without_a_view_has_no_report(api: Api) -> None:
    """While nothing was projected the steps are there and their reports are null."""
    made = Log().ask("x").step(input=5).save()
    base = f"sessions/{made.session.uid}/"
    assert api.get(base + "steps/1/")["report"] is None
    assert api.error(base + "steps/1/items/", 404)["message"] == "There is no such report of this step yet."


def test_items_of_a_step_tell_their_fate(api: Api, base: str) -> None:
    """Items in memory are listed with verdict and reason, sent ones numbered in their order."""
    items = walk(api, base + "steps/3/items/", limit=2)
    assert all(set(item) == ITEM_KEYS for item in items)
    fates = [(item["position"], item["verdict"], item["reason"], item["in_context"]) for item in items]
    assert fates == [
        (0, "kept", None, 0),
        (1, "reasoning_cleared", "provider_strips", None),
        (2, "kept", None, 1),
        (3, "cleared", "micro_compacted", 2),
        (4, "kept", None, 3),
        (5, "kept", None, 4),
    ]
    cleared = items[3]
    assert (cleared["kind"], cleared["tool"], cleared["call_id"]) == ("tool_result", "bash", "call-1")
    assert cleared["replaced_by"].startswith("[")


def test_summarised_items_name_their_summary(api: Api, base: str) -> None:
    """After a compaction the items before it are replaced by the summary's id."""
    items = walk(api, base + "steps/4/items/")
    summary = next(item for item in items if item["kind"] == "summary")
    assert {item["replaced_by"] for item in items if item["verdict"] == "summarised"} == {summary["id"]}
    assert [item["in_context"] for item in items] == [None] * 7 + [0, 1]


def test_lists_all_items(api: Api, made: Made, base: str) -> None:
    """Every item of the session once, by position."""
    items = walk(api, base + "items/", limit=4)
    assert [item["position"] for item in items] == list(range(made.session.items))
    assert items[3] | {"id": "", "preview": ""} == {
        "id": "", "position": 3, "entry": 3, "kind": "tool_result", "turn": 1, "step": None, "first_step": 2,
        "tool": None, "call_id": "call-1", "pair": 2, "chars": 8, "tokens": None, "estimate": 2, "error": False,
        "injected": None, "label": None, "media": [], "preview": "", "ts": None,
    }  # fmt: skip


def test_an_item_has_its_text(api: Api, base: str) -> None:
    """The text comes whole, or cut at a limit that is named."""
    item = api.get(base + "items/0/")
    assert (item["text"], item["truncated"]) == ("why does it fail?", False)
    cut = api.get(base + "items/0/", text_limit=3)
    assert (cut["text"], cut["truncated"]) == ("why", True)


def test_spans_of_a_view(api: Api, base: str) -> None:
    """Spans are rectangles; with a step only those in force."""
    spans = walk(api, base + "spans/", limit=1)
    assert spans[0] == {
        "first_item": 0, "last_item": 6, "verdict": "summarised", "reason": "compacted", "first_step": 4,
        "end_step": None,
    }  # fmt: skip
    assert len(spans) == 3
    assert [span["verdict"] for span in walk(api, base + "spans/", step=3)] == [
        "reasoning_cleared",
        "cleared",
    ]


@pytest.mark.parametrize(
    "rest", ["", "turns/", "turns/1/", "steps/", "steps/1/", "steps/1/items/", "items/", "spans/"]
)
def test_another_view_is_read_by_its_name(api: Api, made: Made, base: str, rest: str) -> None:
    """`?view=` chooses the view everywhere, and one that does not exist is named as the place."""
    made.view([], name="keep-all")
    assert api.get(base + rest, view="keep-all")
    if rest not in ("", "turns/", "items/"):
        assert api.error(base + rest, 404, view="nobody")["place"] == "query: view"
