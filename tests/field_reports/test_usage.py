"""Usage: what a provider reported is counted once, and a window is as full as its last prompt."""

from __future__ import annotations

from typing import Any

import pytest

from contextlab.adapters.tokens import counter
from contextlab.core.items import Kind
from contextlab.core.measuring.models import window_for
from contextlab.core.measuring.window import MISMATCH, counter_mismatch, fill, limit_of
from contextlab.core.recorded import RecordedReplayer
from contextlab.core.registry import POLICIES
from contextlab.core.session import AgentSession
from tests.field_reports.reports import expected, given
from tests.field_reports.test_deciding import above
from tests.importers.codex_log import Rollout
from tests.importers.reading import Read, lines, read

CLAUDE = {
    "input_tokens": 0,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
    "output_tokens": 1,
}


def claude(*steps: dict[str, int], model: str = "claude-opus-4-5") -> Read:
    """A transcript of one turn with a model call for each usage."""
    records: list[dict[str, Any]] = [
        {"type": "user", "uuid": "u0", "sessionId": "s1", "message": {"role": "user", "content": "go"}}
    ]
    for number, usage in enumerate(steps, 1):
        content = [{"type": "text", "text": f"answer {number}"}]
        message = {"id": f"m{number}", "role": "assistant", "model": model, "content": content}
        record = {
            "type": "assistant",
            "uuid": f"u{number}",
            "parentUuid": f"u{number - 1}",
            "sessionId": "s1",
        }
        records.append(record | {"message": message | {"stop_reason": "end_turn", "usage": CLAUDE | usage}})
    return read(lines(*records))


def test_usage_03_one_answer_on_two_lines_is_counted_once() -> None:
    """Lines that share a message id are one call: one usage, both content blocks in order."""
    made = read(lines(*given("usage-03")["records"]))
    (step,) = made.session.timeline.steps
    assert step.cache_write == expected("usage-03")["cache_creation"]
    assert [item.kind for item in made.items] == [Kind.ASSISTANT, Kind.TOOL_CALL]
    assert len({item.entry for item in made.items}) == 1


def test_usage_04_cached_tokens_are_inside_openais_input() -> None:
    """Codex counts cached tokens in its input: the prompt is the input, not the sum of both."""
    report = given("usage-04")
    usage = report["usage"]
    last = {
        "input_tokens": usage["input_tokens"], "cached_input_tokens": usage["cached_tokens"],
        "output_tokens": usage["output_tokens"], "reasoning_output_tokens": 0, "total_tokens": usage["total_tokens"],
    }  # fmt: skip
    log = Rollout()
    log.task("t1", window=report["window"])
    log.say("user", "go")
    log.say("assistant", "done")
    info = {"total_token_usage": last, "last_token_usage": last, "model_context_window": report["window"]}
    log.event("token_count", info=info)
    (step,) = read(lines(*log.records)).session.timeline.steps
    checks = expected("usage-04")
    assert step.prompt_tokens == checks["prompt_tokens"]
    assert fill(step.prompt_tokens, limit_of(step).tokens).percent == checks["percent"]


def test_usage_06_cache_reads_occupy_the_window() -> None:
    """A prompt that is nearly all cache still fills the window."""
    report = given("usage-06")
    (step,) = claude(report["usage"]).session.timeline.steps
    assert step.prompt_tokens == expected("usage-06")["prompt_tokens"]
    full = fill(step.prompt_tokens, report["window"]).percent
    assert full is not None
    assert full > 100 * report["threshold"]


def test_usage_09_the_context_is_the_last_call_not_the_sum() -> None:
    """Three calls of one turn: the window holds what the last one was given; cumulative records fill nothing."""
    report, checks = given("usage-09"), expected("usage-09")
    calls = [record["usage"] for record in report["records"] if record["type"] == "model_call"]
    made = claude(
        *({"input_tokens": call["input"], "cache_read_input_tokens": call["cache_read"]} for call in calls)
    )
    last = made.session.timeline.steps[-1].prompt_tokens
    assert last == checks["fill_tokens"] != checks["not_fill"]
    assert fill(last, report["window"]).percent == checks["fill_percent"]


def test_usage_10_the_window_is_that_of_the_models_variant() -> None:
    """A model named [1m] has a window of a million tokens."""
    report = given("usage-10")
    window = window_for(report["model"])
    assert window == report["window"]
    assert fill(report["prompt_tokens"], window).percent == expected("usage-10")["percent"]


def test_usage_11_an_accepted_prompt_disproves_a_smaller_window() -> None:
    """Then the window is unknown and no percentage is invented."""
    report = given("usage-11")
    *before, last = report["observed_prompt_tokens"]
    for prompt, accepted in ((last, before), (before[0], [last])):
        found = fill(prompt, report["declared_window"], accepted=accepted)
        assert expected("usage-11")["flag"] in found.flags
        assert (found.window, found.percent) == (None, None)
        assert found.tokens == prompt


def test_usage_13_negative_tokens_are_refused() -> None:
    """Nothing is drawn from an impossible figure, wherever it comes from."""
    report = given("usage-13")
    found = fill(report["prompt_tokens"], report["window"])
    assert (found.tokens, found.percent) == (None, None)
    assert found.flags == (expected("usage-13")["rejected"],)
    (step,) = claude({"input_tokens": report["prompt_tokens"]}).session.timeline.steps
    assert step.input is None


def test_usage_14_both_shares_have_their_names() -> None:
    """80 % of the window and 95.8 % of what a reserve leaves of it."""
    report, checks = given("usage-14"), expected("usage-14")
    found = fill(report["prompt_tokens"], report["window"], report["reserve"])
    assert found.percent == checks["percent_of_window"]
    assert found.percent_of_usable == checks["percent_of_usable"]


def test_usage_16_structured_results_have_a_size() -> None:
    """A result that is JSON and not text is serialised and counted."""
    (item,) = given("usage-16")["items"]
    call = {"id": "c1", "type": "function", "function": {"name": "rows", "arguments": "{}"}}
    answer = {"role": "assistant", "content": None, "tool_calls": [call]}
    result = {key: value for key, value in item.items() if key != "_id"}
    made = read(lines({"role": "user", "content": "go"}, answer, result))
    (text,) = made.texts(Kind.TOOL_RESULT)
    assert '"item 19"' in text
    assert counter().count(text) >= expected("usage-16")["tokens_at_least"]


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
def test_usage_17_markers_in_texts_are_text(encoding: str) -> None:
    """Special-token strings of a log neither raise nor count as one token."""
    (item,) = given("usage-17")["items"]
    assert counter(encoding).count(item["content"]) >= expected("usage-17")["tokens_at_least"]


def test_fidelity_04_a_fall_that_nothing_explains_is_flagged() -> None:
    """The prompt falls to a tenth, the log says nothing: the step carries the finding."""
    turns = given("fidelity-04")["turns"]
    made = claude(*({"input_tokens": turn["prompt_tokens"]} for turn in turns))
    results = list(RecordedReplayer(made.session.timeline, count=counter().count).run())
    found = [result.step.number for result in results if result.report.finding == "changed_outside_log"]
    assert found == [expected("fidelity-04")["at_turn"]]


def test_usage_21_one_counter_feeds_display_and_trigger() -> None:
    """What decides about a compaction is the number that the report shows."""
    session = AgentSession(policy=POLICIES.get("rule_based").from_options({}, "safe"), trigger=above(10**9))
    for number in range(30):
        session.add(Kind.USER, f"question {number} " * 40)
        session.add(Kind.ASSISTANT, f"answer {number} " * 60)
    decision = session.auto.decide()
    assert expected("usage-21")["same_source"]
    assert decision.estimate == session.next_context().report.projected_tokens


@pytest.mark.parametrize(
    ("decided_with", "since", "delta"),
    [
        (given("usage-21")["trigger_tokens"], 0, expected("usage-21")["delta"]),
        (given("usage-21")["trigger_tokens"], 80_000, None),
        (given("usage-21")["display_tokens"], 0, None),
        (given("usage-21")["display_tokens"] // 2, 5_000, 158_986 - 317_972),
        (None, 0, None),
    ],
)
def test_usage_21_a_log_that_decided_with_another_count_is_flagged(
    decided_with: int | None, since: int, delta: int | None
) -> None:
    """Not where what came since the last prompt explains the difference, and not where a figure is unknown."""
    assert expected("usage-21")["flag"] == MISMATCH
    assert counter_mismatch(given("usage-21")["display_tokens"], decided_with, since) == delta
