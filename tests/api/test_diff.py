"""GET /api/sessions/{id}/diff/: two steps of a view, one step in two views, new texts of old items."""

from __future__ import annotations

from contextlab.core.items import Kind, Reason, Verdict
from contextlab.core.spans import Span
from tests.api.conftest import Api
from tests.web.made import Log, Made


def test_two_steps_of_a_view(api: Api, base: str) -> None:
    """From before the compaction to behind it: what left with its reason, what entered; the rest is a number."""
    found = api.get(base + "diff/", step=3, to_step=4)
    lines = [(line["kind"], line["first"], line["last"], line["after"]) for line in found["lines"]]
    assert ("left", 0, 0, "summarised") in lines
    assert {"left", "entered"} <= {line[0] for line in lines}
    assert found["entered"] > 0
    assert found["complete"]
    back = api.get(base + "diff/", step=4, to_step=3)
    assert (back["left"], back["other"]["step"]) == (found["entered"], 3)


def test_one_step_in_two_views(api: Api, made: Made, base: str) -> None:
    """What a policy would have shown otherwise."""
    made.view([Span(2, 2, Verdict.DROPPED, Reason.MAX_ITEMS, 1)], "last-n")
    found = api.get(base + "diff/", step=3, to_view="last-n")
    told = {(line["kind"], line["first"]): line for line in found["lines"]}
    assert told["left", 2]["after_reason"] == "max_items"
    assert told["changed", 3]["before"] == "cleared"
    assert told["left", 2]["items"][0]["kind"] == "tool_call"
    assert found["unchanged"] == found["one"]["upto"] - 3


def test_a_new_system_prompt_is_compared_letter_by_letter(api: Api) -> None:
    """The old one left, the new one entered: one text that changed."""
    log = Log().item(Kind.SYSTEM, "Use port 8443 and be brief.").ask("go").step().say("ok")
    made = log.item(Kind.SYSTEM, "Use port 8433 and be brief.").step().say("ok").save()
    made.view([Span(0, 0, Verdict.DROPPED, Reason.CONTEXT_CLEARED, 2)])
    [found] = api.get(f"sessions/{made.session.uid}/diff/", step=1, to_step=2)["rewritten"]
    assert (found["old"], found["new"]) == (0, 3)
    assert [(piece["kind"], piece["text"]) for piece in found["pieces"]][1:3] == [("gone", "4"), ("new", "3")]


def test_bad_questions_are_told(api: Api, base: str) -> None:
    """No step, no such step, no such view."""
    assert api.error(base + "diff/", 400)["place"] == "query: step"
    assert api.error(base + "diff/", 404, step=99)["place"] == "query: step"
    assert api.error(base + "diff/", 404, step=1, to_view="nobody")["place"] == "query: to_view"
