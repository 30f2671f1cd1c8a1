"""Reports about when to compact: too often, not at all, on figures that are old, on the wrong error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import pytest

from contextlab.adapters.openai_model import OpenAIModel
from contextlab.core import Budget, Item, Kind
from contextlab.core.agent.live import Compaction
from contextlab.core.compaction import CompactResult, Decision, Deps, Outcome, Snapshot
from contextlab.core.language_model import ModelError, ModelMessage
from contextlab.core.registry import POLICIES, TRIGGERS
from contextlab.core.session import AgentSession
from contextlab.core.summarising.outcomes import replaced_by_summary
from contextlab.core.testing import ScriptedModel
from tests.support.fake_openai import FakeOpenAI, fails

from .memories import session_of
from .reports import expected, given


def above(tokens: float) -> Any:
    """The trigger that fires from so many tokens on."""
    return TRIGGERS.get("tokens").from_options({"min_tokens": int(tokens)}, "safe")


class Shrinking:
    """A policy whose summaries come to the size that a report tells."""

    kind: ClassVar[str] = "shrinking"
    needs_model: ClassVar[bool] = True

    def __init__(self, *sizes: int) -> None:
        self.sizes = sizes
        self.runs = 0

    @classmethod
    def from_options(cls, options: Mapping[str, object], mode: str) -> Self:
        return cls()

    def should_compact(self, snapshot: Snapshot) -> Decision:
        return Decision(False, "asks its trigger")

    def compact(self, snapshot: Snapshot, deps: Deps) -> Outcome:
        size = self.sizes[min(self.runs, len(self.sizes) - 1)]
        self.runs += 1
        first, *others = snapshot.items
        outcome = replaced_by_summary(snapshot, {first.id}, CompactResult(summary="s"), deps)
        assert outcome.memory is not None
        summary = Item(
            f"s{self.runs}", Kind.SUMMARY, "s", tokens=size - sum(one.tokens or 0 for one in others)
        )
        outcome.memory = replace(outcome.memory, items=(summary, *others), summary=None)
        return outcome


def of_size(tokens: int, policy: Shrinking, threshold: float, **options: Any) -> AgentSession:
    """A session with a memory of so many tokens: an old part, a prompt, an answer."""
    session = AgentSession(policy=policy, trigger=above(threshold), **options)
    session.add(Kind.ASSISTANT, "old", tokens=tokens - 20)
    session.add(Kind.USER, "go", tokens=10)
    session.add(Kind.ASSISTANT, "went", tokens=10)
    return session


def grow(session: AgentSession, tokens: int) -> None:
    """The agent goes on: memory has so many tokens again."""
    size = sum(item.tokens or 0 for item in session.memory.items)
    session.add(Kind.ASSISTANT, "more", tokens=max(1, tokens - size))


def test_pinned_06_pins_that_are_too_large_are_named_and_nothing_is_tried_for_ever() -> None:
    """One attempt at most; the report says over budget and why; the pin is as it was."""
    name = "pinned-06"
    report, checks = given(name), expected(name)
    threshold = int(report["threshold"] * report["window"])
    model = ScriptedModel(["s"] * 9)
    policy = POLICIES.get("llm_summary").from_options({"max_items": 2}, "safe")
    session = session_of(
        name, Budget(max_tokens=threshold), policy, trigger=above(threshold), deps=Deps(model=model)
    )
    first = session.memory.items[0]
    for _ in range(report["turns"]):
        session.add(Kind.USER, "go on")
        context = session.next_context()
        session.add(Kind.ASSISTANT, "ok")
    assert len(model.calls) <= checks["compactions_at_most"]
    assert context.report.over_budget is checks["report"]["budgetViolated"]
    assert any(note.startswith(checks["report"]["reason"]) for note in context.report.notes)
    assert session.memory.items[0] == first


def test_no_gain_03_little_gain_at_full_price_is_stopped() -> None:
    """Above the threshold after each of three runs: the breaker opens, and the note says what the last one gained."""
    report, checks = given("no_gain-03"), expected("no_gain-03")
    policy = Shrinking(report["tokens_after"])
    session = of_size(report["tokens_before"], policy, report["threshold"] * report["window"])
    notes: list[str] = []
    for _ in range(report["turns"]):
        notes = session.next_context().report.notes
        grow(session, report["tokens_before"])
    assert policy.runs <= checks["compactions_at_most"]
    assert session.auto.useless.is_open == (checks["breaker"] == "open")
    assert any(checks["note_contains"] in note for note in notes)


def test_no_gain_04_above_the_hard_limit_an_old_failure_does_not_count() -> None:
    """Paused for no use; over the limit it is tried all the same."""
    report, checks = given("no_gain-04"), expected("no_gain-04")
    policy = Shrinking(900_000)
    session = of_size(1_000_000, policy, 700_000, hard_limit=report["limit"])
    for _ in range(4):
        session.next_context()
        grow(session, 1_000_000)
    assert policy.runs == 3
    paused = session.next_context().compaction
    grow(session, report["tokens"])
    tried = session.next_context().compaction
    assert decided(paused) == ("none", "no_use")
    assert decided(tried)[0] == checks["decision"]
    assert decided(tried)[1] != checks["not_reason"]


def decided(compaction: Compaction | None) -> tuple[str, str]:
    """What was decided before a step, and why."""
    if compaction is None:
        return "none", ""
    return ("compact" if compaction.compacted else "none"), compaction.reason


def test_loop_03_after_a_compaction_the_new_size_counts() -> None:
    """What stood before is not looked at again."""
    report = given("loop-03")
    before, after, _ = report["steps"]
    policy = Shrinking(after["compacted_to"])
    session = of_size(before["reported_tokens"], policy, report["threshold"] * report["limit"])
    decisions = [decided(session.next_context().compaction)[0] for _ in range(2)]
    assert decisions == expected("loop-03")["decisions"]


def test_loop_04_the_size_is_looked_at_before_every_model_call() -> None:
    """Also inside a turn: one large result is enough."""
    report = given("loop-04")
    first, grown, _ = report["steps"]
    session = of_size(first["tokens"], Shrinking(90_000), report["threshold"] * report["limit"])
    decisions = [decided(session.next_context().compaction)[0]]
    session.add(Kind.TOOL_CALL, "{}", tool="read", call_id="c", tokens=0)
    session.add(Kind.TOOL_RESULT, "long", call_id="c", tokens=grown["append_tool_result_tokens"])
    decisions.append(decided(session.next_context().compaction)[0])
    assert decisions == expected("loop-04")["decisions"]


def test_loop_05_an_overflow_is_known_by_its_words() -> None:
    """A 400 whose words no list of codes has is one kind with all other overflows, and tells a limit."""
    report = given("loop-05")
    with FakeOpenAI(fails(report["status"], report["body"])) as server, pytest.raises(ModelError) as caught:
        OpenAIModel(server.url, "m").complete([ModelMessage("user", "x")])
    assert caught.value.kind == "prompt_too_long"
    assert caught.value.limit is not None
    assert caught.value.limit <= expected("loop-05")["learned_limit_at_most"]


def test_usage_21_one_counter_feeds_the_display_and_the_trigger() -> None:
    """What a report shows of memory is the figure by which the trigger decides, with a counter and without."""
    for count in (None, len, lambda text: text.count(" ") + 1):
        policy = Shrinking(1)
        session = AgentSession(policy=policy, trigger=above(10**9), deps=Deps(count=count))
        session.add(Kind.USER, "one two three")
        session.add(Kind.TOOL_CALL, '{"a": 1}', tool="read", call_id="c")
        session.add(Item("r", Kind.TOOL_RESULT, "four five", call_id="c"))
        session.memory.restore(replace(session.snapshot(), summary="earlier on"))
        report = session.next_context().report
        assert report.source_tokens == session.auto.decide().estimate
        assert report.token_source == ("estimated" if count is None else "counted")
