"""A live session: what it hands out, how it compacts itself, and what a failure leaves behind."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from contextlab.core import FORMATS, Budget, Item, Kind, UnknownNameError, Verdict, faults_of
from contextlab.core.agent.session_events import EventKind, SessionEvent
from contextlab.core.compaction import CompactResult, Decision, Deps, Outcome, Snapshot
from contextlab.core.errors import CompactError, ConcurrentCompression, InvalidProjection, SessionBusy
from contextlab.core.language_model import ModelError
from contextlab.core.measuring.memory_size import snapshot_tokens
from contextlab.core.memory import SUMMARY_ID, AgentMemory
from contextlab.core.offload import InMemoryOffloadStore, Offload
from contextlab.core.registry import POLICIES, TRIGGERS
from contextlab.core.session import AgentSession
from contextlab.core.testing import CountingIds, ScriptedModel

WIRES = ("openai_chat", "openai_responses", "anthropic")


class Made:
    """A policy that is due as told and does as told."""

    kind = "made"
    needs_model = False

    def __init__(self, does: Callable[[Snapshot], Outcome], due: bool = True) -> None:
        self.does = does
        self.due = due
        self.calls = 0

    @classmethod
    def from_options(cls, options: Any, mode: str) -> Made:
        raise NotImplementedError

    def should_compact(self, snapshot: Snapshot) -> Decision:
        return Decision(self.due, "as told")

    def compact(self, snapshot: Snapshot, deps: Deps) -> Outcome:
        self.calls += 1
        return self.does(snapshot)


def covering(number: int, summary: str = "S") -> Callable[[Snapshot], Outcome]:
    """Replace the first items by a summary."""

    def does(snapshot: Snapshot) -> Outcome:
        result = CompactResult(summary=summary)
        after = Snapshot(snapshot.items[number:], summary, result)
        return Outcome(result, memory=after, covered=tuple(item.id for item in snapshot.items[:number]))

    return does


def chat(session: AgentSession, turns: int, size: int = 200) -> AgentSession:
    """Turns of a prompt, a call, its result and an answer."""
    for number in range(turns):
        session.add(Kind.USER, f"question {number} ".ljust(size, "."))
        session.add(Kind.TOOL_CALL, '{"path": "a.py"}', tool="read", call_id=f"c{number}-{turns}")
        session.add(Kind.TOOL_RESULT, "r" * size, call_id=f"c{number}-{turns}")
        session.add(Kind.ASSISTANT, f"answer {number} ".ljust(size, "."))
    return session


def summarising(model: ScriptedModel, max_items: int = 6, **options: Any) -> AgentSession:
    """A session that keeps so many entries and lets a model summarise the rest."""
    policy = POLICIES.get("llm_summary").from_options({"max_items": max_items}, "safe")
    return AgentSession(policy=policy, deps=Deps(model=model), **options)


@pytest.mark.parametrize("format", WIRES)
def test_a_loop_gets_valid_messages_and_stays_small(format: str) -> None:
    """Over many turns memory stays bounded, every context is valid, and the summary stands in it."""
    model = ScriptedModel()
    session = summarising(model)
    for _ in range(12):
        chat(session, 1)
        session.add(Kind.USER, "go on")
        context = session.next_context(format)
        assert faults_of(context.document, format) == []
        session.add(Kind.ASSISTANT, "ok")
    assert len(session.memory) < 14
    assert session.last_result is not None
    assert session.last_result.read_files == ["a.py"]
    assert f"SUM{len(model.calls)}" in str(session.next_context(format).document)


def test_a_format_that_nobody_knows_is_refused() -> None:
    """The error lists the formats there are."""
    with pytest.raises(UnknownNameError, match="anthropic"):
        AgentSession().next_context("morse")


def test_what_a_provider_wants_back_is_handed_back() -> None:
    """Signatures and ids of reasoning, and a result's error flag, come out byte for byte."""
    session = AgentSession()
    session.add(Kind.USER, "hi")
    session.add(Kind.REASONING, "hm", entry="m", secret="sig==", provider_id="rs_1")
    session.add(Kind.TOOL_CALL, "{}", entry="m", tool="read", call_id="c")
    session.add(Kind.TOOL_RESULT, "no such file", call_id="c", error=True)
    blocks = [block for message in session.next_context("anthropic").messages for block in message["content"]]
    assert {"type": "thinking", "thinking": "hm", "signature": "sig=="} in blocks
    assert blocks[-1]["is_error"] is True
    assert session.next_context("openai_responses").messages[1]["encrypted_content"] == "sig=="
    assert set(WIRES) < set(FORMATS)


def test_the_report_says_what_the_model_did_not_see() -> None:
    """The projection's report comes with the messages, faults of the source and repairs listed."""
    session = AgentSession(Budget(max_items=3))
    session.add(Kind.TOOL_RESULT, "orphan", call_id="x")
    chat(session, 2)
    context = session.next_context()
    assert (context.report.source_items, context.report.projected_items) == (9, 3)
    assert context.report.source_faults == ["result without a call: item-1"]
    assert "brought back the prompt of the current turn: item-6" in context.repairs


def test_no_limit_takes_the_summary() -> None:
    """The summary of what is gone stands in the context even where the limit would leave no room for it."""
    memory = AgentMemory([Item("s", Kind.SYSTEM, "rules"), Item("u", Kind.USER, "hi")], "what was")
    seen = AgentSession(Budget(max_items=1, max_tokens=1), memory=memory).next_context().projection
    assert [item.id for item in seen.items][:2] == ["s", SUMMARY_ID]


def test_a_failed_automatic_compaction_is_told_and_forgotten() -> None:
    """The step goes on with memory as it is; the failure stands in the compaction, the notes and an event."""
    events: list[SessionEvent] = []
    session = summarising(ScriptedModel([ModelError("overloaded", "529 overloaded")]), hooks=[events.append])
    before = chat(session, 3).snapshot()
    context = session.next_context()
    assert context.compaction is not None
    assert (context.compaction.state, context.compaction.reason) == ("failed", "529 overloaded")
    assert context.report.notes == ["compaction failed: 529 overloaded"]
    assert session.snapshot() == before
    assert [event.payload for event in events if event.kind == EventKind.COMPACT_FAILED] == ["529 overloaded"]


def test_a_trigger_that_breaks_does_not_break_the_step() -> None:
    """A stranger's trigger may raise anything; the agent still gets its messages."""

    class Broken:
        kind = "broken"

        def decide(self, snapshot: Snapshot, deps: Deps) -> Decision:
            raise ZeroDivisionError

    session = AgentSession(policy=Made(covering(1)), trigger=Broken())  # type: ignore[arg-type]
    session.add(Kind.USER, "hi")
    assert session.next_context().messages == [{"role": "user", "content": "hi"}]


def test_a_trigger_that_breaks_after_a_compaction_does_not_break_the_step() -> None:
    """Memory is replaced, the error is an event, and it is not paid for at each step from then on."""

    class Breaks:
        kind = "breaks"
        breaks = True

        def decide(self, snapshot: Snapshot, deps: Deps) -> Decision:
            self.breaks = not self.breaks
            if self.breaks:
                raise ZeroDivisionError("figures")
            return Decision(True, "as told")

    events: list[SessionEvent] = []
    trigger, model = Breaks(), ScriptedModel()
    session = summarising(model, trigger=trigger, hooks=[events.append])  # type: ignore[arg-type]
    session.add(Kind.SYSTEM, "rules " * 1_000)
    chat(session, 6)
    for number in range(6):
        trigger.breaks = True
        compaction = session.next_context().compaction
        assert compaction is not None
        assert compaction.compacted == (number < 3)
        chat(session, 1, 1)
    assert len(model.calls) == 3
    assert [str(event.payload) for event in events if event.kind == EventKind.ERROR] == [
        "the figures after a compaction: ZeroDivisionError('figures')"
    ] * 3


def test_by_hand_a_failure_is_raised() -> None:
    """Whatever a policy raises reaches the person as a CompactError, and memory is as it was."""
    session = chat(AgentSession(), 2)
    before = session.snapshot()
    with pytest.raises(CompactError, match="'made' failed: division"):
        session.compact(Made(lambda snapshot: 1 / 0))  # type: ignore[arg-type, return-value]
    assert session.snapshot() == before


def test_a_trigger_overrules_the_policy() -> None:
    """Where a trigger is set, the policy's own threshold is not asked."""
    trigger = TRIGGERS.get("tokens").from_options({"min_tokens": 10_000}, "safe")
    session = summarising(ScriptedModel(), trigger=trigger)
    assert chat(session, 5).next_context().compaction is None


def test_without_gain_nothing_is_replaced() -> None:
    """A summary larger than what it stands for is refused, unless somebody insists."""
    policy = Made(covering(4, "S" * 5000))
    session = chat(AgentSession(), 2)
    before = session.snapshot()
    done = session.compact(policy)
    assert (done.state, done.reason) == ("noop", "no_gain")
    assert session.snapshot() == before
    assert session.compact(policy, require_gain=False).compacted


@pytest.mark.parametrize(
    ("does", "fault"),
    [
        (covering(4, " "), "no text stands for"),
        (covering(2), "would be separated"),
        (covering(5), "pinned item item-5"),
        (covering(9), "unanswered prompt"),
        (lambda s: Outcome(CompactResult(), memory=Snapshot(s.items[4:], "S")), "neither kept nor covered"),
        (
            lambda s: Outcome(CompactResult(), memory=Snapshot((*s.items[:1], *s.items), "S")),
            "item-1 stands twice",
        ),
    ],
)
def test_an_outcome_that_loses_something_is_refused(does: Any, fault: str) -> None:
    """Pins, pairs, the open prompt and every single item are accounted for before memory is swapped."""
    session = chat(AgentSession(mode="safe"), 2)
    session.pin("item-5")
    session.add(Kind.USER, "and now?")
    before = session.snapshot()
    adjusted = Made(does)
    if "prompt" in fault:  # put back by the committer itself
        session.pin("item-5", pinned=False)
        assert session.compact(adjusted).compacted
        assert [item.id for item in session.memory.items] == ["item-9"]
        return
    with pytest.raises(InvalidProjection, match=fault):
        session.compact(adjusted)
    assert session.snapshot() == before


def test_an_item_with_a_known_id_is_not_lost_with_the_other() -> None:
    """Whoever numbers each turn anew loses nothing: what comes second has an id of its own, its message is the same."""
    session = summarising(ScriptedModel(), 2)
    for turn in range(3):
        session.add(Item("q", Kind.USER, f"question {turn}" * 20))
        added = session.add(Item("a", Kind.ASSISTANT, f"answer {turn}" * 20))
    assert (added.id, added.entry) == ("a~6", "a")
    assert session.next_context().compaction.compacted  # type: ignore[union-attr]
    assert [item.text for item in session.memory.items] == ["question 2" * 20, "answer 2" * 20]
    session.restore(Snapshot((Item("x", Kind.USER, "one"), Item("x", Kind.ASSISTANT, "two"))))
    assert [item.id for item in session.memory.items] == ["x", "x~2"]


@pytest.mark.parametrize(
    ("kind", "summarised", "dropped", "note"),
    [
        ("structured_summary", 0, 9, "maxItems applied: 0"),
        ("llm_summary", 9, 0, "no result is recorded of: z (read)"),
    ],
)
def test_a_report_knows_of_the_prompt_that_was_put_back(
    kind: str, summarised: int, dropped: int, note: str
) -> None:
    """Where a limit of 0 took the unanswered prompt too, the report is that of the memory with it, notes and all."""
    policy = POLICIES.get(kind).from_options({"max_items": 0}, "safe")
    session = AgentSession(policy=policy, deps=Deps(model=ScriptedModel()))
    session.add(Kind.TOOL_CALL, "{}", tool="read", call_id="z")
    chat(session, 2)
    prompt = session.add(Kind.USER, "and now?")
    outcome = session.compact(policy).outcome
    assert [item.id for item in session.memory.items] == [prompt.id]
    assert outcome is not None
    assert outcome.result is not None
    report = outcome.result.report
    assert report is not None
    assert (report.source_items, report.projected_items, report.projected_entries) == (10, 1, 1)
    assert (report.summarised_items, report.dropped_items, report.dropped_entries) == (
        summarised,
        dropped,
        dropped,
    )
    assert report.projected_tokens == snapshot_tokens(session.snapshot())
    assert note in report.notes
    assert session.last_result == outcome.result


def test_what_comes_meanwhile_follows() -> None:
    """Items added while a model writes stand behind what was kept; they are no conflict."""
    session = chat(AgentSession(), 2)

    def slow(snapshot: Snapshot) -> Outcome:
        session.add(Kind.USER, "meanwhile", id="late")
        return covering(4)(snapshot)

    assert session.compact(Made(slow)).compacted
    assert [item.id for item in session.memory.items] == ["item-5", "item-6", "item-7", "item-8", "late"]


def test_a_changed_prefix_is_planned_again_once() -> None:
    """A pin set inside what was read makes the run start over; a second one ends it as a conflict."""
    session = chat(AgentSession(), 2)
    pins = ["item-2", None]

    def pinning(snapshot: Snapshot) -> Outcome:
        pin = pins.pop(0)
        if pin:
            session.pin(pin)
        return covering(4)(snapshot) if not any(i.pinned for i in snapshot.items) else covering(1)(snapshot)

    assert session.compact(Made(pinning)).compacted
    flips = iter((True, False, True))
    again = Made(lambda snapshot: (session.pin("item-3", pinned=next(flips)), covering(2)(snapshot))[1])
    with pytest.raises(CompactError):
        session.compact(again)


def test_two_conflicts_end_the_run() -> None:
    """A prefix that changes under both plans is a conflict, told as such on the automatic path."""
    session = chat(AgentSession(), 2)
    number = iter(range(99))

    def racing(snapshot: Snapshot) -> Outcome:
        session.restore(Snapshot((*session.memory.items,), f"other {next(number)}"))
        return covering(4)(snapshot)

    with pytest.raises(ConcurrentCompression):
        session.compact(Made(racing))
    session.policy = Made(racing)
    compaction = session.next_context().compaction
    assert compaction is not None
    assert compaction.state == "conflict"


def test_it_cools_down_until_there_is_something_new() -> None:
    """After an attempt the same memory is not looked at again; one more item is enough for the next."""
    policy = Made(lambda snapshot: Outcome(reason="nothing_to_summarise"))
    session = chat(AgentSession(policy=policy), 1)
    for _ in range(3):
        session.next_context()
    assert policy.calls == 1
    session.add(Kind.USER, "more")
    session.next_context()
    assert policy.calls == 2


def test_three_useless_runs_pause_the_fourth() -> None:
    """At most three compactions in a row without getting below the threshold; by hand or above the limit it goes on."""
    policy = Made(covering(4))
    session = chat(AgentSession(policy=policy), 9)
    for _ in range(5):
        chat(session, 1)
        context = session.next_context()
    assert policy.calls == 3
    assert context.compaction is not None
    assert context.compaction.reason == "no_use"
    assert "the last gained" in context.report.notes[0]
    session.auto.hard_limit = 1
    session.next_context()
    assert policy.calls == 4
    session.compact(policy)
    assert not session.auto.useless.is_open


def test_a_pause_ends_when_memory_has_grown() -> None:
    """Half as large again is enough for one more try; while little is added nothing is."""
    policy = Made(covering(4))
    session = chat(AgentSession(policy=policy), 9)
    for _ in range(3):
        chat(session, 1)
        session.next_context()
    chat(session, 3)
    session.next_context()
    assert policy.calls == 3
    chat(session, 2)
    session.next_context()
    assert policy.calls == 4


def test_pins_that_are_too_large_alone_are_named() -> None:
    """Where nothing but pins is left over the threshold, the report says that they are the reason."""
    trigger = TRIGGERS.get("tokens").from_options({"min_tokens": 100}, "safe")
    session = summarising(ScriptedModel(), 2, trigger=trigger)
    session.add(Item("p", Kind.USER, "word " * 500, pinned=True))
    session.add(Kind.ASSISTANT, "ok")
    notes = session.next_context().report.notes
    assert any(note.startswith("pinned_over_budget") for note in notes)


def test_a_busy_session_refuses_a_second_turn() -> None:
    """A turn excludes another one, from another thread too, and ends with its block even when it fails."""
    session = AgentSession()
    refused: list[Exception] = []

    def second() -> None:
        try:
            with session.turn("me too"):
                pass
        except SessionBusy as error:
            refused.append(error)

    def first() -> None:
        with session.turn("first"):
            thread = threading.Thread(target=second)
            thread.start()
            thread.join()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        first()
    assert len(refused) == 1
    assert not session.busy
    assert [item.text for item in session.memory.items] == ["first"]


def test_originals_and_memory_are_swapped_together() -> None:
    """Where one original cannot be put aside, none is, and memory stays."""

    class Full(InMemoryOffloadStore):
        def put(self, offload: Offload) -> None:
            if offload.id == "b":
                raise OSError("disk full")
            super().put(offload)

    store = Full()
    session = chat(AgentSession(deps=Deps(offloads=store)), 2)
    before = session.snapshot()

    def does(snapshot: Snapshot) -> Outcome:
        outcome = covering(4)(snapshot)
        outcome.offloads = [Offload("a", snapshot.items[:2]), Offload("b", snapshot.items[2:4])]
        return outcome

    with pytest.raises(CompactError, match="disk full"):
        session.compact(Made(does))
    assert session.snapshot() == before
    assert store.get("a") == ()


def test_a_snapshot_is_not_changed_by_what_follows() -> None:
    """What was saved is what is restored, whatever happened in between; ids go on without repeats."""
    session = chat(AgentSession(), 1)
    saved = session.snapshot()
    session.pin("item-1")
    chat(session, 1)
    session.restore(saved)
    assert session.memory.items == saved.items
    resumed = AgentSession()
    resumed.restore(saved)
    added = resumed.add(Kind.USER, "next")
    assert added.id not in {item.id for item in saved.items}


def test_ui_items_are_kept_and_never_sent() -> None:
    """What only the person saw stays in memory and out of every context."""
    session = AgentSession(Budget(max_items=9))
    session.add(Kind.USER, "hi")
    session.add(Kind.UI, "spinner")
    context = session.next_context()
    assert "spinner" not in str(context.document)
    assert len(session.memory) == 2
    assert {fate.verdict for fate in context.projection.fates} == {Verdict.KEPT}


def test_what_a_counter_counts_is_counted_once() -> None:
    """An item is counted when it is added; steps and triggers go by that figure."""
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return len(text)

    session = AgentSession(deps=Deps(count=count))
    given = session.add(Item("a", Kind.USER, "hello"))
    for _ in range(3):
        report = session.next_context().report
    assert counted == ["hello"]
    assert given.tokens == report.source_tokens == 5


def test_pins_that_are_too_large_alone_cost_one_attempt() -> None:
    """Where what is pinned is over the threshold by itself, nothing is tried three times; it says why."""
    model = ScriptedModel()
    trigger = TRIGGERS.get("tokens").from_options({"min_tokens": 100}, "safe")
    session = summarising(model, 2, trigger=trigger)
    session.add(Kind.USER, "x" * 4_000, pinned=True)
    for _ in range(6):
        chat(session, 1, 20)
        context = session.next_context()
    assert len(model.calls) == 1
    assert any(note.startswith("pinned_over_budget") for note in context.report.notes)


def test_a_trigger_overrules_the_thresholds_of_a_policy() -> None:
    """A policy that looks at thresholds of its own does not, once a trigger is due."""
    policy = POLICIES.get("auto_context").from_options(
        {"large_payload_threshold": 500, "gate_s3": False}, "safe"
    )
    trigger = TRIGGERS.get("tool_result_size").from_options({"min_chars": 1_000}, "safe")
    deps = Deps(offloads=InMemoryOffloadStore(), new_id=CountingIds())
    session = AgentSession(policy=policy, trigger=trigger, deps=deps)
    session.add(Kind.USER, "read it")
    session.add(Kind.TOOL_CALL, "{}", tool="read", call_id="c")
    session.add(Kind.TOOL_RESULT, "long " * 1_000, call_id="c")
    session.add(Kind.ASSISTANT, "done")
    session.add(Kind.USER, "and?")
    compaction = session.next_context().compaction
    assert compaction is not None
    assert compaction.compacted
