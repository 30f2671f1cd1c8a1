"""User memories: a model keeps them through tools that never raise and never touch another user's."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlab.core.language_model import ModelError
from contextlab.core.memory_keeping.manager import MemoryManager
from contextlab.core.memory_keeping.user_memories import (
    LONGEST,
    TOOL_NAMES,
    InMemoryUserMemories,
    MemoryTools,
    Switches,
    UserMemory,
)
from contextlab.core.testing import CountingIds, ScriptedModel

THEIRS = UserMemory("theirs", "likes tea", "other")
VALUES = st.one_of(
    st.none(), st.text(max_size=9), st.integers(), st.lists(st.text(max_size=3)), st.just("theirs")
)


def _tools(store: InMemoryUserMemories, **switches: bool) -> MemoryTools:
    return MemoryTools(store, "me", CountingIds(), Switches(**switches))


@given(
    st.sampled_from([*TOOL_NAMES, "drop_table"]),
    st.one_of(
        st.text(max_size=20), st.dictionaries(st.sampled_from(["id", "memory", "topics", "user_id"]), VALUES)
    ),
)
def test_a_tool_answers_whatever_a_model_sends(name: str, arguments: Any) -> None:
    """A call gets a line of text as its answer, and another user's memory is as it was."""
    store = InMemoryUserMemories([THEIRS])
    answer = _tools(store, delete=True, clear=True).answer(name, arguments)
    assert answer.strip()
    assert store.of("other") == [THEIRS]


def test_what_is_switched_off_is_not_done() -> None:
    """Deleting must be switched on, and the model is told so."""
    store = InMemoryUserMemories([UserMemory("a", "text", "me")])
    assert "switched off" in _tools(store).answer("delete_memory", {"id": "a"})
    assert "Deleted" in _tools(store, delete=True).answer("delete_memory", {"id": "a"})
    assert "there is no memory" in _tools(store, delete=True).answer("delete_memory", {"id": "theirs"})
    assert f"{LONGEST:,}" in _tools(store).answer("add_memory", {"memory": "x" * (LONGEST + 1)})
    assert store.of("me") == []


def test_a_model_of_its_own_keeps_what_was_said() -> None:
    """What is said is shown with what is known; the model's calls go through the tools and their switches."""
    store = InMemoryUserMemories([UserMemory("a", "Lives in Bonn.", "me", ("place",))])
    calls = [
        {"tool": "add_memory", "memory": "Prefers short answers.", "topics": ["style"]},
        {"tool": "update_memory", "arguments": {"id": "a", "memory": "Lives in Cologne."}},
        {"tool": "clear_memories"},
    ]
    model = ScriptedModel(["Here you are: " + json.dumps({"calls": calls})])
    manager = MemoryManager(store, model, capture_instructions="Only style and place.", new_id=CountingIds())
    answers = manager.remember("me", "I moved to Cologne. Keep it short.")
    assert answers == [
        "Added as memory-1.",
        "Changed a.",
        "The tool clear_memories is switched off; nothing was changed.",
    ]
    assert [(one.memory, one.topics) for one in store.of("me")] == [
        ("Lives in Cologne.", ("place",)), ("Prefers short answers.", ("style",)),
    ]  # fmt: skip
    assert "Only style and place." in model.calls[0][0].content
    assert "Lives in Bonn." in model.calls[0][1].content


def test_an_answer_that_is_none_changes_nothing() -> None:
    """A manager whose model answers with prose, or that has no model, says so and leaves all as it was."""
    store = InMemoryUserMemories([THEIRS])
    with pytest.raises(ModelError, match="no list of calls"):
        MemoryManager(store, ScriptedModel(["I have noted it."])).remember("other", "hello")
    with pytest.raises(ModelError, match="no model"):
        MemoryManager(store).remember("other", "hello")
    assert store.of("other") == [THEIRS]
