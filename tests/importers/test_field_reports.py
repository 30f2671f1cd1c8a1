"""Bugs that people reported elsewhere, as tests here: usage, fill of the window, fidelity. Ids name the reports."""

from __future__ import annotations

from contextlab.core.measuring.models import window_for
from contextlab.core.measuring.window import fill
from contextlab.core.recorded import replay_recorded
from tests.field_reports.reports import given
from tests.importers.reading import Read, lines, read

HEAD = {"format": "contextlab-events", "version": 1, "session": {"id": "s1"}}


def calls(*usages: dict[str, int], model: str = "unknown-model") -> Read:
    """A session of model calls that report this usage."""
    records: list[dict[str, object]] = [HEAD, {"type": "item", "kind": "user", "text": "go"}]
    for usage in usages:
        records += [{"type": "step", "model": model}, {"type": "item", "kind": "assistant", "text": "ok"}]
        records.append({"type": "usage", **usage})
    return read(lines(*records))


def test_cached_tokens_inside_the_input_are_not_added_again():
    """usage-04: 184,704 of 400,000 is 46.2 %, not 92 %."""
    usage = {
        "prompt_tokens": 184_704,
        "completion_tokens": 49,
        "prompt_tokens_details": {"cached_tokens": 183_936},
    }
    answer = {"choices": [{"message": {"role": "assistant", "content": "ok"}}], "usage": usage}
    made = read(lines({"request": {"messages": [{"role": "user", "content": "go"}]}, "response": answer}))
    [step] = made.session.timeline.steps
    assert fill(step.prompt_tokens, 400_000).percent == 46.2


def test_cache_reads_fill_the_window():
    """usage-06: with a near-perfect cache the reported input is 1 token; the window is full all the same."""
    [step] = calls({"input": 1, "cache_write": 900, "cache_read": 180_000}).session.timeline.steps
    full = fill(step.prompt_tokens, 200_000)
    assert full.tokens == 180_901
    assert full.percent > 80


def test_the_fill_is_the_last_calls_not_the_turns():
    """usage-09: 44,000 after three calls, not 126,000."""
    made = calls(
        {"input": 40_000, "cache_read": 0},
        {"input": 2_000, "cache_read": 40_000},
        {"input": 2_000, "cache_read": 42_000},
    )
    last = made.session.timeline.steps[-1]
    assert (last.prompt_tokens, fill(last.prompt_tokens, 1_000_000).percent) == (44_000, 4.4)


def test_the_window_is_that_of_the_models_variant():
    """usage-10: 77k of a million is 7.7 %, not 68 %."""
    assert fill(77_000, window_for("claude-opus-4-6[1m]")).percent == 7.7


def test_an_accepted_prompt_disproves_a_declared_window():
    """usage-11: a request of 219,313 went through, so the window is not 200,000 and no percentage is made up."""
    for full in (fill(219_313, 200_000), fill(177_000, 200_000, accepted=[177_000, 219_313])):
        assert full.percent is None
        assert full.window is None
        assert full.flags == ("declared_window_contradicted",)


def test_negative_tokens_are_rejected():
    """usage-13: 169 % left."""
    full = fill(-138_000, 200_000)
    assert (full.percent, full.tokens, full.flags) == (None, None, ("negative_tokens",))


def test_a_reserve_is_told_apart():
    """usage-14: 80 % of the window is 95.8 % of what can be used."""
    full = fill(160_000, 200_000, reserve=33_000)
    assert (full.percent, full.percent_of_usable) == (80.0, 95.8)


def test_without_a_window_there_is_no_percentage():
    """Tokens are known, the rest is not."""
    assert fill(5, None).percent is None
    assert fill(None, 5).percent is None


def test_a_fall_that_nothing_explains_is_flagged():
    """fidelity-04: 150k become 15k with no compaction in the log; no item gets a verdict from it."""
    turns = given("fidelity-04")["turns"]
    made = calls(*({"input": turn["prompt_tokens"]} for turn in turns))
    first, second = replay_recorded(made.session.timeline).reports
    assert first.finding is None
    assert second.finding is not None
    assert second.dropped_items == second.summarised_items == 0


def test_structured_results_are_counted():
    """usage-16: a JSON result is text of its size, in a chat list too."""
    rows = [{"id": number, "name": f"item {number}"} for number in range(20)]
    call = {"id": "c1", "type": "function", "function": {"name": "query", "arguments": "{}"}}
    made = read(
        lines(
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": {"structured": {"rows": rows}}},
        )
    )
    assert made.session.timeline.estimates[1] >= 100
