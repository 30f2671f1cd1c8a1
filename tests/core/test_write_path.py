"""Memory that compacts itself after an add: nothing is lost, nothing is paid again and again."""

from __future__ import annotations

import pytest

from contextlab.core import Item, Kind
from contextlab.core.agent.reload_tool import ReloadTool
from contextlab.core.auto_context.tags import offload_of
from contextlab.core.compaction import CompactResult, Decision, Deps, Outcome, Snapshot
from contextlab.core.language_model import ModelError
from contextlab.core.memory import AgentMemory, PolicyMemoryCompressor, WindowedMemoryCompressor
from contextlab.core.offload import InMemoryOffloadStore
from contextlab.core.registry import POLICIES
from contextlab.core.testing import ScriptedModel

OFFLOADING = {"msg_threshold": 6, "last_keep": 2, "large_payload_threshold": 50, "offload_single_preview": 10}


class Losing:
    """A policy that forgets the first item, or breaks."""

    kind = "losing"
    needs_model = False

    def __init__(self, breaks: bool = False) -> None:
        self.breaks = breaks

    def should_compact(self, snapshot: Snapshot) -> Decision:
        if self.breaks:
            raise RuntimeError("boom")
        return Decision(len(snapshot.items) > 1, "as told")

    def compact(self, snapshot: Snapshot, deps: Deps) -> Outcome:
        result = CompactResult(summary="S")
        return Outcome(result, memory=Snapshot(snapshot.items[1:], "S", result))


def summarising(model: ScriptedModel, **options: object) -> PolicyMemoryCompressor:
    """A model that summarises all but the last two."""
    policy = POLICIES.get("llm_summary").from_options({"max_items": 2}, "safe")
    return PolicyMemoryCompressor(policy, Deps(model=model), **options)


def talk(memory: AgentMemory, turns: int, size: int = 40) -> list[str]:
    """Add questions and answers; their ids."""
    names = [f"{who}{number}" for number in range(turns) for who in "ua"]
    for name in names:
        memory.add(Item(name, Kind.USER if name[0] == "u" else Kind.ASSISTANT, name.ljust(size, ".")))
    return names


def test_the_write_path_keeps_a_window() -> None:
    """A windowed memory keeps its newest entries, its pins and its summary after every add."""
    memory = AgentMemory(summary="S", compressor=WindowedMemoryCompressor(2))
    memory.add(Item("p", Kind.USER, "keep", pinned=True), *(Item(str(n), Kind.USER, "x") for n in range(5)))
    assert [item.id for item in memory.items] == ["p", "4"]
    assert memory.summary == "S"


def test_a_policy_works_on_the_write_path() -> None:
    """The adapter compacts as soon as the policy is due, keeps the result, and loses no add to a failure."""
    policy = POLICIES.get("llm_summary").from_options({"max_items": 2}, "safe")
    model = ScriptedModel(["SUM", ModelError("timeout", "no answer")])
    compressor = PolicyMemoryCompressor(policy, Deps(model=model))
    memory = AgentMemory(compressor=compressor)
    for number in range(4):
        memory.add(Item(f"u{number}", Kind.USER, "q"), Item(f"a{number}", Kind.ASSISTANT, "a"))
    assert compressor.last_result is not None
    assert compressor.last_result.method == "model"
    assert memory.items[-1].id == "a3"
    assert len(model.calls) >= 2


def test_what_is_put_aside_can_be_had_again() -> None:
    """Each original behind a mark in memory is in the store, and without a store nothing is replaced."""
    policy = POLICIES.get("auto_context").from_options(OFFLOADING, "safe")
    for store in (InMemoryOffloadStore(), None):
        memory = AgentMemory(compressor=PolicyMemoryCompressor(policy, Deps(offloads=store)))
        talk(memory, 8, 300)
        aside = [(item.id, name) for item in memory.items if (name := offload_of(item.text))]
        assert bool(aside) == (store is not None)
        assert all(ReloadTool(store).call(name) == item.ljust(300, ".") for item, name in aside)


def test_a_summary_that_is_larger_replaces_nothing_and_pauses() -> None:
    """Without gain memory stays as it is, and three calls of no use are the last until memory has grown."""
    model = ScriptedModel(["long " * 1_000] * 99)
    memory = AgentMemory(compressor=summarising(model))
    names = talk(memory, 3, 1)
    assert ([item.id for item in memory.items], memory.summary) == (names, None)
    for number in range(2):
        memory.add(Item(f"z{number}", Kind.USER, "q"))
    assert len(model.calls) == 3


def test_a_model_that_is_down_is_left_alone_until_a_person_says_so() -> None:
    """Three failures in a row pause it, each add is kept, and `close` lets it try again."""
    model = ScriptedModel([ModelError("overloaded", "busy")] * 99)
    compressor = summarising(model)
    memory = AgentMemory(compressor=compressor)
    names = talk(memory, 50)
    assert [item.id for item in memory.items] == names
    assert len(model.calls) == 3
    assert "paused after 3" in str(compressor.last_error)
    compressor.close()
    memory.add(Item("z", Kind.USER, "q"))
    assert len(model.calls) == 4
    assert isinstance(compressor.last_error, ModelError)


@pytest.mark.parametrize("breaks", [False, True])
def test_a_policy_of_somebody_else_loses_nothing(breaks: bool) -> None:
    """One that forgets an item, or raises what it likes, leaves memory as it was and is told in `last_error`."""
    compressor = PolicyMemoryCompressor(Losing(breaks), Deps())  # type: ignore[arg-type]
    memory = AgentMemory(compressor=compressor)
    memory.add(Item("a", Kind.USER, "x" * 400), Item("b", Kind.ASSISTANT, "y"))
    assert [item.id for item in memory.items] == ["a", "b"]
    assert compressor.last_error is not None


def test_what_a_compressor_raises_comes_when_all_is_in_memory() -> None:
    """An error of somebody's own compressor reaches the caller, and no item of the call is lost for it."""

    class Broken:
        def compress(self, snapshot: Snapshot) -> Snapshot:
            raise OSError("disk")

    memory = AgentMemory(compressor=Broken())
    with pytest.raises(OSError, match="disk"):
        memory.add(Item("a", Kind.USER, "x"), Item("b", Kind.ASSISTANT, "y"))
    assert [item.id for item in memory.items] == ["a", "b"]


def test_reference_mode_takes_what_the_policy_gives() -> None:
    """The original looks at no gain and has no breaker: a larger summary is taken, a failing model asked each time."""
    memory = AgentMemory(compressor=summarising(ScriptedModel(["long " * 1_000] * 99), mode="reference"))
    talk(memory, 3, 1)
    assert memory.summary
    model = ScriptedModel([ModelError("overloaded", "busy")] * 99)
    talk(AgentMemory(compressor=summarising(model, mode="reference")), 5)
    assert len(model.calls) > 3
