"""Reports about the model that summarises: it fails, refuses an option, answers oddly, cannot read so much."""

from __future__ import annotations

import pytest

from contextlab.adapters.openai_model import OpenAIModel
from contextlab.core.compaction import Deps
from contextlab.core.errors import CompactError
from contextlab.core.sections import read_reply
from tests.support.fake_openai import FakeOpenAI, refusing, says

from .memories import memory_of, session_of
from .reports import expected, given
from .summarizing import Summarizer, keeping


def test_summarizer_failure_01_by_hand_a_failure_is_seen_and_costs_nothing() -> None:
    """No stock sentence takes the place of messages; the provider's words reach the person."""
    name = "summarizer_failure-01"
    session = session_of(name, deps=Deps(model=Summarizer(given(name)["summarizer"])))
    before = session.snapshot()
    with pytest.raises(CompactError, match=expected(name)["error_stored_contains"]):
        session.compact(keeping(given(name)["policy"]["keepRecent"]), require_gain=False)
    assert session.snapshot() == before
    assert session.memory.summary is expected(name)["summary"]


def test_summarizer_failure_02_by_itself_a_failure_leaves_all_in_place() -> None:
    """The automatic path goes on with all items; what it says and what it does agree."""
    name = "summarizer_failure-02"
    policy = keeping(given(name)["policy"]["keepRecent"])
    session = session_of(name, policy=policy, deps=Deps(model=Summarizer(given(name)["summarizer"])))
    context, checks = session.next_context(), expected(name)
    assert context.compaction is not None
    assert context.compaction.compacted is checks["was_compacted"]
    assert len(context.projection.items) == checks["returned_item_count"]
    assert context.report.dropped_items == checks["report"]["droppedItemCount"]
    assert any("timeout" in note for note in context.report.notes)


def test_summarizer_failure_07_an_endpoint_without_json_mode_is_asked_plainly() -> None:
    """One more request without the option, and its answer is read."""
    name = "summarizer_failure-07"
    report, checks = given(name), expected(name)
    words = {"response_format": report["summarizer"]["first_call_raises"]}
    with FakeOpenAI(refusing(words, says(report["summarizer"]["second_call_returns"]))) as server:
        session = session_of(name, deps=Deps(model=OpenAIModel(server.url, "m")))
        assert session.compact(keeping(report["policy"]["keepRecent"]), require_gain=False).compacted
    assert len(server.requests) == checks["summarizer_calls"]
    assert checks["second_call_has_no"] not in server.requests[1].body
    assert session.last_result is not None
    assert [line.text for line in session.last_result.sections.completed] == checks["section"][1]


def test_summarizer_failure_09_a_reply_is_read_forgivingly() -> None:
    """A fence, prose around it, a text in place of a list, an unknown key; nothing is de-duplicated unasked."""
    reading = read_reply(given("summarizer_failure-09")["text"])
    assert [line.text for line in reading.sections.completed] == ["login"]
    assert [line.text for line in reading.sections.pending] == ["logout", "logout"]
    assert reading.sections.goal == expected("summarizer_failure-09")["goal"]
    assert reading.degraded is expected("summarizer_failure-09")["degraded"]


def test_summarizer_failure_10_it_is_known_who_wrote_a_summary() -> None:
    """A summary that was written without the model says so; failing instead is possible, and the default."""
    name = "summarizer_failure-10"
    report = given(name)
    session = session_of(name, deps=Deps(model=Summarizer(report["summarizer"])))
    keep = report["policy"]["keepRecent"]
    with pytest.raises(CompactError, match="down"):
        session.compact(keeping(keep), require_gain=False)
    assert session.compact(keeping(keep, fallback="mechanical"), require_gain=False).compacted
    assert session.last_result is not None
    assert session.last_result.method == "mechanical"
    assert session.last_result.strategy == expected(name)["run_field"][1]
    assert "no model wrote this" in session.last_result.summary


def test_summarizer_overflow_02_a_huge_output_does_not_stop_a_compaction() -> None:
    """The request shows its beginning and end and says how many lines are left out; memory has the whole of it."""
    name = "summarizer_overflow-02"
    model = Summarizer(given(name)["summarizer"])
    session = session_of(name, deps=Deps(model=model))
    then = session.snapshot()
    done = session.compact(keeping(given(name)["policy"]["keepRecent"]), require_gain=False)
    assert done.compacted
    assert expected(name)["summarizer_input_contains"] in model.asked[-1]
    assert "left out" in model.asked[-1]
    output = next(item for item in then.items if item.id == expected(name)["full_output_still_readable"])
    assert output.text == next(item for item in memory_of(name) if item.id == "m3").text
