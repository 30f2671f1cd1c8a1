"""Replay of policies that compact: memory is replaced where no model is needed, and only marked where one is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlab.core import Kind, Policy, Replayer, SpanWriter, Verdict, parse_policy, verdicts_at
from contextlab.core.assembler import Assembler
from contextlab.core.events import Cleared, Event, ItemEvent, SessionStart, StepEvent, TurnStart
from contextlab.core.items import LEFT_OUT, Reason
from contextlab.core.replaying.compacting import Compacting
from contextlab.core.replaying.decisions import DecisionLog
from contextlab.core.replaying.memory import Memory
from contextlab.core.replaying.results import StepResult
from contextlab.core.replaying.sizes import Sizes
from contextlab.core.replaying.tape import Tape
from contextlab.core.replaying.unfired import Unfired
from contextlab.core.replaying.watch import Watch
from contextlab.core.timeline import Timeline
from tests.core.plugins import examples
from tests.core.sessions import random_timeline

SEEDS = st.integers(min_value=0, max_value=2**32 - 1)


def policy(compaction: dict[str, Any], trigger: dict[str, Any] | None = None, **more: Any) -> Policy:
    """A policy that compacts."""
    document = {"version": 1, "name": "mine", "compaction": compaction, **more}
    return parse_policy(document if trigger is None else {**document, "trigger": trigger})


RULES = policy({"kind": "rule_based", "keep_recent": 2}, {"kind": "items", "max_items": 6})
MODEL = policy({"kind": "llm_summary", "max_items": 2}, {"kind": "items", "max_items": 6})


def session(turns: int, cleared_before: int | None = None) -> tuple[Timeline, list[str]]:
    """A timeline of question and answer, a step each, with its texts; a cleared context before one of the turns."""
    events: list[Event] = [SessionStart("s")]
    for turn in range(1, turns + 1):
        if turn == cleared_before:
            reason = Reason.CONTEXT_CLEARED
            events.append(Cleared(f"clear{turn}", verdict=Verdict.DROPPED, reason=reason, all_before=True))
        events += [
            TurnStart(f"t{turn}"),
            ItemEvent(
                f"u{turn}", Kind.USER, f"Please do {turn}. " + "word " * 80, f"u{turn}", opens_turn=True
            ),
            StepEvent(f"step{turn}"),
            ItemEvent(
                f"a{turn}", Kind.ASSISTANT, f"Done {turn}. " + "word " * 80, f"a{turn}", step=f"step{turn}"
            ),
        ]
    assembler = Assembler(SessionStart("s"))
    rows = assembler.feed_all(events)
    return assembler.timeline, [row.event.text for row in rows]


def replayed(timeline: Timeline, texts: list[str], by: Policy) -> tuple[Replayer, list[StepResult]]:
    """The replay, run to its end."""
    replayer = Replayer(timeline, by, texts=texts.__getitem__)
    return replayer, list(replayer.run())


def test_without_a_model_the_compaction_is_made() -> None:
    """Where the trigger fires memory is replaced, and the steps behind see the summary in its place."""
    replayer, results = replayed(*session(6), RULES)
    first = replayer.fires[0]
    assert (first.step, first.made, first.rule, first.estimate, first.threshold) == (
        4,
        True,
        "items > 6",
        7,
        6,
    )
    assert first.result is not None
    assert first.result.method == "rules"
    assert (first.tokens_after or 0) < (first.tokens_before or 0)
    report = results[3].report
    assert report.notes[0] == f"compacted here: items > 6 (7), {first.summarised} item(s) summarised"
    assert report.summarised_items == first.summarised == 4
    assert (report.source_items, report.projected_items, report.dropped_items) == (3, 4, 0)
    assert (
        verdicts_at(replayer.spans(), 4, range(7))
        == [(Verdict.SUMMARISED, Reason.COMPACTED)] * 4 + [(Verdict.KEPT, None)] * 3
    )


def test_a_later_compaction_goes_on_from_the_first() -> None:
    """The second summary stands for what the first stood for as well."""
    replayer, results = replayed(*session(10), RULES)
    made = [fire for fire in replayer.fires if fire.made]
    assert len(made) > 1
    assert made[1].result is not None
    assert made[1].result.sections.goal is not None
    assert made[1].result.sections.goal.startswith("Please do 1.")
    assert results[-1].report.summarised_items == sum(fire.summarised for fire in made)


def test_where_a_model_is_needed_only_the_place_is_marked() -> None:
    """The first step at which it would fire says so with its figures; the later ones are after an unmade compaction."""
    replayer, results = replayed(*session(6), MODEL)
    (fire,) = replayer.fires
    assert (fire.step, fire.made, fire.reason) == (4, False, "needs_model")
    assert all(not result.report.notes for result in results[:3])
    assert results[3].report.notes == [
        "compaction would fire here: items > 6 (7); it needs a model, so it was not made"
    ]
    assert all(result.report.notes == ["after an unmade compaction (step 4)"] for result in results[4:])
    assert results[-1].report.projected_items == 11


def test_a_policy_that_never_fires_is_replayed_like_its_projector() -> None:
    """A trigger that is never due changes nothing."""
    timeline, texts = session(6)
    never = policy({"kind": "rule_based"}, {"kind": "never"})
    plain = parse_policy({"version": 1, "name": "plain"})
    one, other = replayed(timeline, texts, never), replayed(timeline, texts, plain)
    assert [result.report for result in one[1]] == [result.report for result in other[1]]
    assert one[0].spans() == other[0].spans()
    assert one[0].fires == []


def test_without_gain_nothing_is_replaced() -> None:
    """A compaction that does not make memory smaller is not made, and the report says why."""
    timeline, texts = session(5)
    tiny = policy({"kind": "structured_summary", "max_items": 6}, {"kind": "items", "max_items": 6})
    timeline.estimates[:] = type(timeline.estimates)("q", [1] * len(timeline))
    replayer, results = replayed(timeline, texts, tiny)
    assert replayer.fires == []
    assert "compaction: no_gain" in results[3].report.notes


def test_a_cleared_context_takes_the_summary_with_it() -> None:
    """When the log itself drops all that a summary stands for, the summary goes too."""
    _, results = replayed(*session(7, cleared_before=6), RULES)
    assert results[4].report.summarised_items == 4
    report = results[5].report
    assert (report.source_items, report.projected_items, report.summarised_items) == (1, 1, 0)


@pytest.mark.parametrize("trigger", [{"kind": "items", "max_items": 5}, {"kind": "tokens", "min_tokens": 40}])
@examples(30)
@given(SEEDS)
def test_reports_and_spans_tell_the_same(trigger: dict[str, Any], seed: int) -> None:
    """On any session: what is summarised, left out and sent is the same in the report and in the spans."""
    timeline = random_timeline(seed)
    texts = [f"word {position} " * 9 for position in range(len(timeline))]
    by = policy(
        {"kind": "rule_based", "keep_recent": 2},
        trigger,
        projector={"kind": "type_aware", "max_items": 9, "max_recent_tool_results": 1},
        require_gain=False,
    )
    replayer, results = replayed(timeline, texts, by)
    spans = replayer.spans()
    for result in results:
        step, report = result.step, result.report
        verdicts = [verdict for verdict, _ in verdicts_at(spans, step.number, range(step.upto))]
        assert report.summarised_items == verdicts.count(Verdict.SUMMARISED)
        sent = sum(verdict not in LEFT_OUT for verdict in verdicts)
        assert sent == report.source_items - report.dropped_items
        assert report.projected_items - sent in (0, 1)  # the summary
        assert report.head_end is not None
        assert report.tail_start is not None
        assert all(verdict in LEFT_OUT for verdict in verdicts[report.head_end : report.tail_start])


BY_SIZES: list[dict[str, Any] | None] = [
    {"kind": "never"},
    {"kind": "items", "max_items": 9},
    {"kind": "messages", "min_messages": 15},
    {"kind": "tokens", "min_tokens": 300},
    {"kind": "pending_turns", "min_turns": 3},
    {"kind": "tool_result_size", "min_chars": 400},
    {"kind": "tool_result_size", "min_chars": 200, "each": True},
    {
        "kind": "any_of",
        "triggers": [{"kind": "items", "max_items": 30}, {"kind": "tokens", "min_tokens": 900}],
    },
    None,
]
"""Triggers that decide by sizes alone; without one the policy itself does."""


@pytest.mark.parametrize("trigger", BY_SIZES)
@examples(15)
@given(SEEDS)
def test_sizes_decide_as_the_memory_itself(trigger: dict[str, Any] | None, seed: int) -> None:
    """On any session the replay that goes by sizes decides and tells what the one that asks a live memory does."""
    timeline = random_timeline(seed)
    texts = [f"word {position} " * 9 for position in range(len(timeline))].__getitem__
    projector = {"kind": "type_aware", "max_items": 9, "max_recent_tool_results": 1}
    rules = {"kind": "rule_based", "keep_recent": 2, "max_items": 12}
    by = policy(rules, trigger, projector=projector, require_gain=bool(seed % 2))
    slow, fast = Compacting(Sizes(timeline), by, texts), Unfired.of(Sizes(timeline), by, texts)
    assert fast is not None
    told = zip(list(slow.run()), list(fast.run()), strict=True)
    before, after = slow.writer.spans(), fast.spans()
    for (step, one), (_, other) in told:
        other.head_end, other.tail_start = (
            one.head_end,
            one.tail_start,
        )  # the longest gap may be told otherwise
        assert one == other
        places = range(step.upto)
        assert verdicts_at(before, step.number, places) == verdicts_at(after, step.number, places)
    assert slow.decisions.runs == fast.decisions.runs
    assert slow.fires == fast.fires


@pytest.mark.parametrize("trigger", BY_SIZES)
@examples(10)
@given(SEEDS)
def test_sizes_decide_where_a_model_is_needed(trigger: dict[str, Any] | None, seed: int) -> None:
    """The place at which a model is needed, and every figure up to it, are those that a live memory gives."""
    timeline = random_timeline(seed)
    by = policy({"kind": "llm_summary", "max_items": 12}, trigger)
    replayer = Replayer(timeline, by)
    assert len(list(replayer.run())) == len(timeline.steps)
    memory, tape = Memory(Sizes(timeline), by, None), Tape(timeline, SpanWriter())
    log = DecisionLog()
    watch = Watch([], log)
    for step, _ in tape.play():
        memory.follow(tape)
        watch.look(memory.session.auto.decide, step)
    assert replayer.decisions == log.runs
    assert replayer.fires == watch.fires


def test_the_same_replay_twice() -> None:
    """Same session, same policy: same reports, spans and summaries."""
    timeline, texts = session(9)
    one, other = replayed(timeline, texts, RULES), replayed(timeline, texts, RULES)
    assert one[1] == other[1]
    assert one[0].spans() == other[0].spans()
    assert one[0].fires == other[0].fires
