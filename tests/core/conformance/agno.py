"""Agno: many memories made into one, the manager with its tools, and memory work beside an answer.

All its cases describe their input in words.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from contextlab.core.memory_keeping.background import BackgroundMemories
from contextlab.core.memory_keeping.manager import MemoryManager
from contextlab.core.memory_keeping.summarise import summarise
from contextlab.core.memory_keeping.user_memories import InMemoryUserMemories, Switches, UserMemory
from contextlab.core.testing import CountingIds, ScriptedModel
from tests.core.conformance.cases import case_by_id
from tests.core.conformance.compare import Raised
from tests.core.conformance.given import Unsupported


def run(case: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Cases of this system are translated by hand."""
    raise Unsupported("the case describes its input in words")


class Heard(logging.Handler):
    """What was logged."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._logger = logging.getLogger("contextlab.core.memory_keeping")

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())

    def __enter__(self) -> Heard:
        self._logger.addHandler(self)
        return self

    def __exit__(self, *rest: object) -> None:
        self._logger.removeHandler(self)


def _memories(rows: list[list[Any]], name: str) -> list[UserMemory]:
    made = []
    for number, row in enumerate(rows):
        text, user, third = (*row, None)[:3]
        agent = third if isinstance(third, str) else None
        topics = tuple(third) if isinstance(third, list) else None
        made.append(UserMemory(f"old-{name}-{number}", text, user, topics, agent_id=agent))
    return made


def _summarise(name: str, mode: Any) -> dict[str, Any]:
    case = case_by_id(name)
    memories, options = _memories(case["input"]["memories"], name), case["options"]
    answer = (
        RuntimeError(options["model_error"]) if "model_error" in options else options.get("model_output", "m")
    )
    model = ScriptedModel([answer if answer is not None else ""])
    before = list(memories)
    with Heard() as heard:
        try:
            made = summarise(memories, model, CountingIds(), mode=mode)
        except (ValueError, RuntimeError) as error:
            return {
                "raises": Raised(error), "model_calls": len(model.calls), "stored_unchanged": memories == before,
            }  # fmt: skip
    one = made[0]
    prompt = model.calls[0][-1].content
    return {
        "count": len(made),
        "memory": one.memory,
        "topics": None if one.topics is None else list(one.topics),
        "topics_set": sorted(one.topics or ()),
        "user_id": one.user_id,
        "agent_id": one.agent_id,
        "new_id": one.id not in {memory.id for memory in before},
        "model_calls": len(model.calls),
        "prompt_memories": len(prompt.splitlines()),
        "logged": bool(heard.texts),
    }


class Failing(InMemoryUserMemories):
    """A store whose inserts fail; counts what is written."""

    def __init__(self, memories: list[UserMemory], fail: bool = False) -> None:
        super().__init__(memories)
        self.fail, self.writes = fail, 0

    def add(self, memory: UserMemory) -> None:
        self.writes += 1
        if self.fail:
            raise OSError("insert failed")
        super().add(memory)

    def clear(self, user_id: str) -> int:
        self.writes += 1
        return super().clear(user_id)

    def replace(self, user_id: str, memory_ids: Any, new: Any) -> None:
        self.writes += 1
        if self.fail:
            raise OSError("insert failed")
        super().replace(user_id, memory_ids, new)


def _manager(store: InMemoryUserMemories, mode: Any = "safe") -> MemoryManager:
    return MemoryManager(store, ScriptedModel(), new_id=CountingIds(), mode=mode)


def _two(count: int = 2) -> list[UserMemory]:
    return [UserMemory(f"m{number}", f"text {number}", "default") for number in range(count)]


def _nothing(mode: Any) -> dict[str, Any]:
    """AGNO-12."""
    manager = _manager(InMemoryUserMemories(), mode)
    assert isinstance(manager.model, ScriptedModel)
    return {"result": manager.optimise(), "model_calls": len(manager.model.calls)}


def _looking(mode: Any) -> dict[str, Any]:
    """AGNO-13."""
    store = Failing(_two())
    assert len(_manager(store, mode).optimise(apply=False)) == 1
    return {"store_writes": store.writes}


def _failing(mode: Any) -> dict[str, Any]:
    """AGNO-14."""
    store = Failing(_two(), fail=True)
    before = store.of("default")
    try:
        _manager(store, mode).optimise()
    except OSError:
        left = store.of("default")
        return {"rows_after": "old rows" if left == before else left or "none"}
    return {"rows_after": "no error"}


def _switches(mode: Any) -> dict[str, Any]:
    """AGNO-15."""
    names = [schema["name"] for schema in _manager(InMemoryUserMemories(), mode).tools("u").schemas]
    tools = {
        "add": "add_memory",
        "update": "update_memory",
        "delete": "delete_memory",
        "clear": "clear_memories",
    }
    return {switch: tool in names for switch, tool in tools.items()}


def _blank(mode: Any) -> dict[str, Any]:
    """AGNO-16."""
    store = InMemoryUserMemories([UserMemory("id", "old", "u1")])
    answer = _manager(store, mode).tools("u1").answer("update_memory", {"id": "id", "memory": ""})
    return {
        "stored_unchanged": [memory.memory for memory in store.of("u1")] == ["old"],
        "returns_text": bool(answer.strip()),
    }


def _clear(mode: Any) -> dict[str, Any]:
    """AGNO-17."""
    given = case_by_id("AGNO-17")["input"]
    stored = [
        UserMemory(f"{user}-{n}", "t", user) for user, count in given["stored"].items() for n in range(count)
    ]
    store = InMemoryUserMemories(stored)
    manager = _manager(store, mode)
    manager.switches = Switches(clear=True)
    manager.tools(given["clear_for"]).answer("clear_memories", "{}")
    return {"left": {user: len(store.of(user)) for user in given["stored"]}}


def _owners(mode: Any) -> dict[str, Any]:
    """AGNO-18."""
    store = InMemoryUserMemories([UserMemory("id", "old", "u1")])
    tools = _manager(store, mode).tools("u1", agent_id="A")
    tools.answer("update_memory", {"id": "id", "memory": "new"})
    one = store.of("u1")[0]
    assert one.memory == "new"
    return {"user_id": one.user_id, "agent_id": one.agent_id}


def _beside(mode: Any) -> dict[str, Any]:
    """AGNO-19."""

    def fails() -> None:
        raise OSError("the store is down")

    with Heard() as heard, BackgroundMemories() as background:
        background.start("turn-1", fails)
        answer = "the answer"
        background.wait()
    return {
        "answer_delivered": answer == "the answer" and "turn-1" in background.errors,
        "logged": bool(heard.texts),
    }


def _retry(mode: Any) -> dict[str, Any]:
    """AGNO-20."""
    executed: list[str] = []
    gate = threading.Event()
    with BackgroundMemories() as background:
        background.start("before", gate.wait)  # the thread is busy, what follows waits in the queue
        background.start("turn-1", lambda: executed.append("first"))
        background.start("turn-1", lambda: executed.append("second"))
        gate.set()
        background.wait()
    assert executed == ["second"]
    return {"tasks_executed": len(executed)}


SUMMARISED = [f"AGNO-{number:02}" for number in range(1, 12)]
PROSE: dict[str, Callable[[str], dict[str, Any]]] = {
    **{name: partial(_summarise, name) for name in SUMMARISED},
    "AGNO-12": _nothing,
    "AGNO-13": _looking,
    "AGNO-14": _failing,
    "AGNO-15": _switches,
    "AGNO-16": _blank,
    "AGNO-17": _clear,
    "AGNO-18": _owners,
    "AGNO-19": _beside,
    "AGNO-20": _retry,
}
