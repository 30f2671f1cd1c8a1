"""The recorded view: what the log says happened, and nothing that it does not say."""

from __future__ import annotations

import random

import pytest

from contextlab.core import Reason, Replay, Verdict, replay_recorded, verdicts_at
from contextlab.core.assembler import Assembler
from contextlab.core.events import Cleared, Compaction, Event, ItemEvent, Note, SessionStart, StepEvent, Usage
from contextlab.core.items import Injected, Kind
from contextlab.core.spans import Painted
from contextlab.core.timeline import Timeline

OPUS, SONNET, GPT = "claude-opus-4-5", "claude-sonnet-4-5", "gpt-5.5"
KEPT: Painted = (Verdict.KEPT, None)
SUMMARISED: Painted = (Verdict.SUMMARISED, Reason.COMPACTED)
CLEARED: Painted = (Verdict.CLEARED, Reason.MICRO_COMPACTED)
STRIPPED: Painted = (Verdict.REASONING_CLEARED, Reason.PROVIDER_STRIPS)
BRANCH: Painted = (Verdict.DROPPED, Reason.ABANDONED_BRANCH)
GONE: Painted = (Verdict.DROPPED, Reason.CONTEXT_CLEARED)


def item(name: str, kind: Kind = Kind.USER, text: str = "four", call_id: str | None = None) -> ItemEvent:
    """An item of a log."""
    return ItemEvent(name, kind, text, name, call_id=call_id)


def timeline_of(*events: Event) -> Timeline:
    """The timeline of these events."""
    assembler = Assembler(SessionStart("s"))
    assembler.feed_all(events)
    return assembler.timeline


def seen(*events: Event) -> tuple[Timeline, Replay]:
    """A log and its recorded view."""
    timeline = timeline_of(*events)
    return timeline, replay_recorded(timeline)


def fates(timeline: Timeline, result: Replay, step: int) -> list[Painted]:
    """The fates of all items before a step."""
    return verdicts_at(result.spans, step, range(timeline.steps[step - 1].upto))


def test_a_compaction_summarises_all_but_what_it_keeps() -> None:
    """What stood before is summarised, the summary and the kept items stand; the next compaction folds them too."""
    timeline, result = seen(
        item("a"), item("b"), StepEvent("s1"), item("c", Kind.ASSISTANT),
        Compaction("k1", summary="sum1", keeps=("b",)), item("sum1", Kind.SUMMARY), StepEvent("s2"),
        Compaction("k2", summary="sum2"), item("sum2", Kind.SUMMARY), StepEvent("s3"),
    )  # fmt: skip
    assert fates(timeline, result, 1) == [KEPT, KEPT]
    assert fates(timeline, result, 2) == [SUMMARISED, KEPT, SUMMARISED, KEPT]
    assert fates(timeline, result, 3) == [SUMMARISED, SUMMARISED, SUMMARISED, SUMMARISED, KEPT]
    second = result.reports[1]
    assert (second.source_items, second.projected_items, second.summarised_items, second.dropped_items) == (
        2,
        2,
        2,
        0,
    )


def test_a_micro_compaction_clears_the_results_it_names() -> None:
    """Named results count with the log's placeholder from the next step on; ids that are not there are ignored."""
    timeline, result = seen(
        item("k", Kind.TOOL_CALL, call_id="c"), item("r", Kind.TOOL_RESULT, "x" * 400, call_id="c"), StepEvent("s1"),
        Cleared("m", ("r", "nobody")), StepEvent("s2"),
    )  # fmt: skip
    assert fates(timeline, result, 2) == [KEPT, CLEARED]
    before, after = result.reports
    assert (after.cleared_items, after.source_chars) == (1, before.source_chars)
    assert after.projected_chars == 4 + len("[Old tool result content cleared]")
    assert before.projected_tokens is not None
    assert after.projected_tokens is not None
    assert after.projected_tokens < before.projected_tokens


def test_an_abandoned_branch_is_dropped_and_may_come_back() -> None:
    """A rewind takes items out of memory, and a return brings them back."""
    timeline, result = seen(
        item("a"), item("b"), StepEvent("s1"),
        Cleared("d", ("b",), Verdict.DROPPED, Reason.ABANDONED_BRANCH), item("c"), StepEvent("s2"),
        Cleared("e", ("b",), Verdict.KEPT, Reason.ABANDONED_BRANCH), StepEvent("s3"),
    )  # fmt: skip
    assert fates(timeline, result, 2) == [KEPT, BRANCH, KEPT]
    assert fates(timeline, result, 3) == [KEPT, KEPT, KEPT]
    assert [report.source_items for report in result.reports] == [2, 2, 3]


def test_a_rewind_over_a_compaction_brings_the_originals_back() -> None:
    """The path before it is in memory again; summary and what else it stood for are dropped until a return to it."""
    timeline, result = seen(
        item("a"), item("b"), StepEvent("s1"), item("c"), Compaction("k", summary="sum"), item("sum", Kind.SUMMARY),
        StepEvent("s2"),
        Cleared("d", ("sum",), Verdict.DROPPED, Reason.ABANDONED_BRANCH),
        Cleared("e", ("a", "b"), Verdict.KEPT, Reason.ABANDONED_BRANCH), item("f"), StepEvent("s3"),
        Cleared("g", ("a", "b", "f"), Verdict.DROPPED, Reason.ABANDONED_BRANCH),
        Cleared("h", ("sum",), Verdict.KEPT, Reason.ABANDONED_BRANCH), StepEvent("s4"),
    )  # fmt: skip
    assert fates(timeline, result, 2) == [SUMMARISED, SUMMARISED, SUMMARISED, KEPT]
    assert fates(timeline, result, 3) == [KEPT, KEPT, BRANCH, BRANCH, KEPT]
    assert fates(timeline, result, 4) == [SUMMARISED, SUMMARISED, SUMMARISED, KEPT, BRANCH]
    counts = [(report.source_items, report.summarised_items) for report in result.reports]
    assert counts == [(2, 0), (1, 3), (3, 0), (1, 3)]


def test_what_comes_back_is_offloaded_where_it_was() -> None:
    """A rewind does not put the original into the context where only a preview ever stood."""
    offloaded = item("r", Kind.TOOL_RESULT, "preview", call_id="c")
    offloaded.original = "tool-results/r.txt"
    timeline, result = seen(
        item("k", Kind.TOOL_CALL, call_id="c"), offloaded, StepEvent("s1"),
        Cleared("d", ("r",), Verdict.DROPPED, Reason.ABANDONED_BRANCH), StepEvent("s2"),
        Cleared("e", ("r",), Verdict.KEPT, Reason.ABANDONED_BRANCH), StepEvent("s3"),
    )  # fmt: skip
    assert fates(timeline, result, 3) == [KEPT, (Verdict.OFFLOADED, Reason.LOG_OFFLOADED)]


def test_clearing_drops_everything_before_it() -> None:
    """After /clear nothing before it is left, not even in a summary."""
    timeline, result = seen(
        item("a"), StepEvent("s1"), Compaction("k", summary="sum"), item("sum", Kind.SUMMARY), StepEvent("s2"),
        Cleared("x", (), Verdict.DROPPED, Reason.CONTEXT_CLEARED, all_before=True), item("b"), StepEvent("s3"),
    )  # fmt: skip
    assert fates(timeline, result, 3) == [GONE, GONE, KEPT]
    assert (result.reports[2].source_items, result.reports[2].summarised_items) == (1, 0)
    assert (result.reports[2].head_end, result.reports[2].tail_start) == (0, 2)


def test_the_agents_own_offload() -> None:
    """A result that the agent stored elsewhere is offloaded from its first step on; its preview is what counts."""
    offloaded = item("r", Kind.TOOL_RESULT, "preview", call_id="c")
    offloaded.original = "tool-results/r.txt"
    timeline, result = seen(item("k", Kind.TOOL_CALL, call_id="c"), offloaded, StepEvent("s1"))
    assert fates(timeline, result, 1) == [KEPT, (Verdict.OFFLOADED, Reason.LOG_OFFLOADED)]
    assert (result.reports[0].offloaded_items, result.reports[0].projected_chars) == (1, 11)


def test_what_only_the_person_saw_is_never_in_a_context() -> None:
    """`ui` items are told as such and counted nowhere."""
    timeline, result = seen(item("a"), item("b", Kind.UI), StepEvent("s1"))
    assert fates(timeline, result, 1) == [KEPT, (Verdict.DROPPED, Reason.UI_ONLY)]
    assert (result.reports[0].source_items, result.reports[0].dropped_items) == (1, 0)


@pytest.mark.parametrize(
    ("model", "injected", "fate"),
    [
        (OPUS, None, KEPT),
        (SONNET, None, STRIPPED),
        (SONNET, Injected.META, KEPT),
        (GPT, None, STRIPPED),
        (GPT, Injected.CONTEXT, STRIPPED),
        ("claude-opus-4-1", None, STRIPPED),
    ],
)
def test_reasoning_of_earlier_turns(model: str, injected: Injected | None, fate: Painted) -> None:
    """Kept inside its turn; stripped at the next prompt unless the model keeps it; for gpt-5 any user item counts."""
    words = item("u2")
    words.injected = injected
    timeline, result = seen(
        item("u"), StepEvent("s1", model=model), item("z", Kind.REASONING), StepEvent("s2", model=model),
        words, StepEvent("s3", model=model),
    )  # fmt: skip
    assert fates(timeline, result, 2)[1] == KEPT
    assert fates(timeline, result, 3)[1] == fate


def test_stripped_reasoning_counts_nothing() -> None:
    """Stripped reasoning is an item of size 0: the log has it, the provider does not send it."""
    _, result = seen(
        item("u"), StepEvent("s1", model=SONNET), item("z", Kind.REASONING), item("u2"),
        StepEvent("s2", model=SONNET),
    )  # fmt: skip
    report = result.reports[1]
    assert (report.source_items, report.projected_items, report.reasoning_cleared_items) == (3, 3, 1)
    assert (report.source_chars, report.projected_chars) == (12, 8)


def test_faults_of_the_log_are_listed() -> None:
    """Results without a call, and calls without a result older than the current turn, are listed until they leave."""
    _, result = seen(
        item("u"), item("k", Kind.TOOL_CALL, call_id="c"), item("r", Kind.TOOL_RESULT, call_id="lost"),
        StepEvent("s1"), item("u2"), StepEvent("s2"),
        Cleared("x", (), Verdict.DROPPED, Reason.CONTEXT_CLEARED, all_before=True), StepEvent("s3"),
    )  # fmt: skip
    assert [report.source_faults for report in result.reports] == [
        ["result without a call: lost (position 2)"],
        ["call without a result: c (position 1)", "result without a call: lost (position 2)"],
        [],
    ]


def test_a_long_list_of_faults_is_cut() -> None:
    """At most ten faults are named, the rest is counted."""
    results = [item(f"r{number}", Kind.TOOL_RESULT, call_id=f"c{number}") for number in range(14)]
    _, result = seen(*results, StepEvent("s1"))
    faults = result.reports[0].source_faults
    assert len(faults) == 11
    assert faults[-1] == "and 4 more"


def usage(step: str, total: int, cached: int) -> Usage:
    """Reported input, most of it read from the cache."""
    return Usage(step, input=total - cached, cache_read=cached)


def test_the_unrecorded_part_is_what_the_log_does_not_explain() -> None:
    """Reported input minus the calibrated size of what the log shows; unknown where nothing was reported."""
    _, result = seen(
        item("u"), StepEvent("s1", model=OPUS), usage("s1", 20_000, 0), item("v"), StepEvent("s2")
    )
    first, second = result.reports
    assert first.reported_input_tokens == 20_000
    assert first.calibrated_tokens is not None
    assert first.hidden_tokens == 20_000 - first.calibrated_tokens
    assert (second.reported_input_tokens, second.hidden_tokens, second.finding) == (None, None, None)


@pytest.mark.parametrize(
    ("total", "cached", "mark", "finding"),
    [
        (15_000, 3_000, False, "changed_outside_log"),
        (15_000, 15_000, False, None),
        (19_000, 3_000, False, None),
        (15_000, 3_000, True, None),
        (25_000, 3_000, False, None),
    ],
)
def test_changes_outside_the_log(total: int, cached: int, mark: bool, finding: str | None) -> None:
    """A fall that the log does not explain, with the cached prefix missed, is a finding; no item gets a verdict."""
    events: list[Event] = [item("u"), StepEvent("s1", model=OPUS), usage("s1", 20_000, 10_000), item("v")]
    if mark:
        events.append(Cleared("m", ("u",), Verdict.DROPPED, Reason.ABANDONED_BRANCH))
    timeline, result = seen(*events, StepEvent("s2", model=OPUS), usage("s2", total, cached))
    assert result.reports[1].finding == finding
    if not mark:
        assert fates(timeline, result, 2) == [KEPT, KEPT]


def test_a_restart_belongs_to_the_step_behind_it() -> None:
    """What began anew is told at the next step, once, beside the finding that it may explain."""
    events: list[Event] = [item("u"), StepEvent("s1", model=OPUS), usage("s1", 20_000, 10_000), item("v")]
    events += [
        Note("restart", "session start"),
        Note("restart", "new version 2"),
        Note("clock", "back by 3 s"),
    ]
    timeline, result = seen(*events, StepEvent("s2", model=OPUS), usage("s2", 15_000, 3_000), StepEvent("s3"))
    assert [step.restart for step in timeline.steps] == ["", "session start, new version 2", ""]
    assert result.reports[1].finding == "changed_outside_log"


@pytest.mark.parametrize(
    ("total", "cache_seen", "finding"),
    [(9_000, False, "changed_outside_log"), (11_000, False, None), (9_000, True, None)],
)
def test_without_cache_figures_a_fall_must_be_more_than_half(
    total: int, cache_seen: bool, finding: str | None
) -> None:
    """A provider that reports no cache cannot say that the prefix was missed; one that does may be silent once."""
    first = Usage("s1", input=20_000, cache_read=0 if cache_seen else None)
    events: list[Event] = [item("u"), StepEvent("s1", model=OPUS), first]
    _, result = seen(*events, StepEvent("s2", model=OPUS), Usage("s2", input=total))
    assert [report.finding for report in result.reports] == [None, finding]


def test_codex_reasoning_has_the_size_that_was_reported() -> None:
    """Hidden reasoning of the gpt-5 family counts with its step's reported reasoning tokens, once."""
    events = [
        item("u"), StepEvent("s1", model=GPT), Usage("s1", input=1_000, reasoning=700),
        item("z1", Kind.REASONING, ""), item("z2", Kind.REASONING, ""), StepEvent("s2", model=GPT),
    ]  # fmt: skip
    _, result = seen(*events)
    first, second = (report.calibrated_tokens for report in result.reports)
    assert first is not None
    assert second == first + 700


def test_replaying_random_logs_never_fails() -> None:
    """Whatever a log says, in whatever order, every step gets a report."""
    from .sessions import random_timeline

    for seed in range(80):
        timeline = random_timeline(seed, random.Random(seed).randrange(1, 30))
        assert len(replay_recorded(timeline).reports) == len(timeline.steps)
