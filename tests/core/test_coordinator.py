"""Coordinator and incremental compressor: nothing is summarised twice, no update is lost, the history stays."""

from __future__ import annotations

import copy
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlab.core import Item, Kind
from contextlab.core.agent.coordinator import Coordinator
from contextlab.core.compaction import Deps
from contextlab.core.compressors.incremental import Incremental
from contextlab.core.compressors.model_summary import ModelSummary
from contextlab.core.errors import ConcurrentCompression, EmptySummary, InvalidProjection, StaleHistory
from contextlab.core.registry import TRIGGERS
from contextlab.core.state import CompressionState, InMemoryStateStore
from contextlab.core.testing import ScriptedModel

PLANS = st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=12)
"""How much the history grows before each call, and whether the compressor fails at it."""


@dataclass
class Counting:
    """A compressor that counts how often it was given each item, and fails when it is told to."""

    kind = "counting"
    seen: list[str] = field(default_factory=list)
    calls: int = 0
    fails: bool = False
    answer: Sequence[Item] | None = None

    def compress(self, items: Sequence[Item], deps: Deps) -> list[Item]:
        if self.fails:
            raise RuntimeError("told to fail")
        self.calls += 1
        self.seen += [item.id for item in items if not item.id.startswith("sum")]
        for item in items:
            item.text = "spoilt"
        return [Item(f"sum{self.calls}", Kind.USER, "summary")] if self.answer is None else list(self.answer)


def trigger(tokens: int) -> Any:
    """Due at so many pending tokens."""
    return TRIGGERS.get("tokens").from_options({"min_tokens": tokens}, "safe")


def grown(history: list[Item], by: int) -> None:
    """Add items of one token each, every third one a prompt."""
    for _ in range(by):
        number = len(history)
        kind = Kind.USER if number % 3 == 0 else Kind.ASSISTANT
        history.append(Item(str(number), kind, f"text {number}", tokens=1))


@given(PLANS, st.integers(min_value=1, max_value=6))
def test_the_coordinator_covers_each_item_once(plan: list[tuple[int, bool]], due: int) -> None:
    """Whatever grows and fails: covered items never go to the compressor again, and what is handed out is all of it."""
    store, counting, history = InMemoryStateStore(), Counting(), list[Item]()
    coordinator = Coordinator(store, trigger(due), counting)
    for by, fails in plan:
        grown(history, by)
        before, counting.fails = copy.deepcopy(history), fails
        stored = store.load("c")
        try:
            done = coordinator.compress("c", history)
        except RuntimeError:
            assert store.load("c") == stored
            continue
        assert history == before
        state = store.load("c") or CompressionState()
        covered = 0 if state.covered_until is None else int(state.covered_until) + 1
        tail = [item.id for item in history[covered:]]
        assert [item.id for item in done.messages] == [*(item.id for item in state.summary), *tail]
        assert (state.covered_tokens, state.version) == (covered, counting.calls)
        assert state.covered_turns == (covered + 2) // 3
        assert len(tail) < due
        assert [item.text for item in done.messages[len(state.summary) :]] == [
            f"text {name}" for name in tail
        ]
    assert counting.seen == sorted(set(counting.seen), key=int)


@given(PLANS)
def test_the_incremental_compressor_covers_each_item_once(plan: list[tuple[int, bool]]) -> None:
    """The same history again asks nobody; a failure moves nothing; every item goes to the other compressor once."""
    counting, history = Counting(), list[Item]()
    compressor = Incremental(counting)
    for by, fails in plan:
        grown(history, by)
        before, counting.fails, state = copy.deepcopy(history), fails, compressor.state
        try:
            made = compressor.compress(history, Deps())
        except RuntimeError:
            assert compressor.state == state
            continue
        assert history == before
        calls = counting.calls
        assert compressor.compress(history, Deps()) == made
        assert counting.calls == calls
        assert compressor.state[1] == (history[-1].id if history else None)
    assert counting.seen == sorted(set(counting.seen), key=int)


def test_threads_that_share_a_store_lose_no_update() -> None:
    """Of coordinators at once one commits; the others are told so, and its summary stays."""
    store, history = InMemoryStateStore(), list[Item]()
    grown(history, 6)
    together = threading.Barrier(5)
    outcomes: list[object] = []

    class Slow(Counting):
        def compress(self, items: Sequence[Item], deps: Deps) -> list[Item]:
            together.wait(20)
            return super().compress(items, deps)

    def work() -> None:
        try:
            outcomes.append(Coordinator(store, trigger(1), Slow()).compress("c", history).state)
        except ConcurrentCompression as error:
            outcomes.append(error)

    run_all(work, 5)
    assert (
        sorted(type(one).__name__ for one in outcomes) == ["CompressionState"] + ["ConcurrentCompression"] * 4
    )
    state = store.load("c")
    assert state in outcomes
    assert state is not None
    assert (state.version, state.covered_tokens) == (1, 6)


def test_threads_that_share_an_incremental_compressor_summarise_once() -> None:
    """The second waits for the first and finds nothing new."""
    history: list[Item] = []
    grown(history, 4)
    counting = Counting()
    compressor = Incremental(counting)
    run_all(lambda: compressor.compress(history, Deps()), 6)
    assert (counting.calls, counting.seen) == (1, ["0", "1", "2", "3"])


def run_all(work: Any, count: int) -> None:
    """Run something in several threads."""
    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ([], EmptySummary),
        ([Item("a", Kind.ASSISTANT, "x")], InvalidProjection),
        ([Item("a", Kind.USER, "x"), Item("r", Kind.TOOL_RESULT, "x", call_id="1")], InvalidProjection),
    ],
    ids=["nothing", "starts with the assistant", "result without a call"],
)
def test_what_may_not_begin_a_prompt_is_not_stored(answer: list[Item], error: type[Exception]) -> None:
    """A compressor's answer that no provider would take is refused before it is saved."""
    store, history = InMemoryStateStore(), list[Item]()
    grown(history, 2)
    with pytest.raises(error):
        Coordinator(store, trigger(1), Counting(answer=answer)).compress("c", history)
    assert store.load("c") is None


def test_a_history_that_lost_its_covered_item_is_refused() -> None:
    """A summary is never put in front of a history that it does not belong to."""
    store, history = InMemoryStateStore(), list[Item]()
    grown(history, 3)
    coordinator = Coordinator(store, trigger(1), Counting())
    coordinator.compress("c", history)
    with pytest.raises(StaleHistory):
        coordinator.compress("c", history[:2])


def test_mistakes_are_refused() -> None:
    """A missing collaborator, id or history, and a negative estimate, raise ValueError."""
    nothing: Any = None
    with pytest.raises(ValueError, match="needs"):
        Coordinator(InMemoryStateStore(), nothing, Counting())
    coordinator = Coordinator(InMemoryStateStore(), trigger(1), Counting(), lambda items: -1)
    for name, history in (("c", [Item("a", Kind.USER)]), ("c", nothing), (nothing, []), (" ", [])):
        with pytest.raises(ValueError, match=r"\S"):
            coordinator.compress(name, history)


def test_a_model_summary_goes_on_from_the_last_one() -> None:
    """The model reads its own last summary and what is new, never the old items."""
    store, model, history = InMemoryStateStore(), ScriptedModel(), list[Item]()
    coordinator = Coordinator(store, trigger(3), ModelSummary())
    for _ in range(2):
        grown(history, 3)
        done = coordinator.compress("c", history, Deps(model=model))
    assert [item.text for item in done.messages][1:] == ["SUM2"]
    asked = model.calls[1][-1].content
    assert "SUM" in asked
    assert [f"text {number}" in asked for number in range(6)] == [False] * 3 + [True] * 3
