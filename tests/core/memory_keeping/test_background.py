"""User memories beside a live session: kept after each turn, awaited at the end, a failure never in the way."""

from __future__ import annotations

import json

from contextlab.core.budget import Budget
from contextlab.core.items import Kind
from contextlab.core.memory_keeping.background import BackgroundMemories, remember_turns
from contextlab.core.memory_keeping.manager import MemoryManager
from contextlab.core.memory_keeping.user_memories import InMemoryUserMemories
from contextlab.core.session import AgentSession
from contextlab.core.testing import CountingIds, ModelError, ScriptedModel


def _call(text: str) -> str:
    return json.dumps({"calls": [{"tool": "add_memory", "memory": text}]})


def test_each_turn_is_remembered() -> None:
    """What was said in a turn reaches the manager's model when the turn ends; all of it is there at the end."""
    store = InMemoryUserMemories()
    model = ScriptedModel([_call("Likes tea."), ModelError("overloaded", "busy"), _call("Lives in Bonn.")])
    manager = MemoryManager(store, model, new_id=CountingIds())
    session = AgentSession(Budget())
    with BackgroundMemories() as background:
        remember_turns(session, manager, background, "me")
        for prompt in ("I like tea.", "Now fix it.", "I live in Bonn."):
            with session.turn(prompt):
                session.next_context()
                session.add(Kind.ASSISTANT, f"Answer to: {prompt}")
        with session.turn():
            session.add(Kind.ASSISTANT, "Nobody asked.")
    assert [memory.memory for memory in store.of("me")] == ["Likes tea.", "Lives in Bonn."]
    assert list(background.errors) == ["item-3"]
    assert len(session.snapshot().items) == 7
    assert "Answer to: I like tea." in model.calls[0][1].content
