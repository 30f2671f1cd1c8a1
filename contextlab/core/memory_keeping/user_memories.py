"""What is known of a user: memories with an owner, the store's contract, and the tools by which a model keeps them.

| call                    | promise of every store                                                                    |
|-------------------------|-------------------------------------------------------------------------------------------|
| of(user)                | that user's memories that stand, oldest first; never another's                            |
| add(memory)             | stored as it is                                                                           |
| update(memory)          | replaces the one with its id and owner, the earlier text is kept as history; False: none  |
| delete(user, id)        | that one goes, if it is that user's; False: none                                          |
| clear(user)             | all of that user go, nobody else's; how many                                              |
| replace(user, ids, new) | the new ones stand instead of those, in one transaction: all or nothing                   |

| tool            | on by default | answers with                                                       |
|-----------------|---------------|--------------------------------------------------------------------|
| add_memory      | yes           | a line of text, always: a tool never raises to the model           |
| update_memory   | yes           | refused with a line where the text is empty or the id is not theirs |
| delete_memory   | no            |                                                                    |
| clear_memories  | no            | of this user only, whatever the model says                         |

In reference mode clear_memories empties the whole store, as the original does; it exists for the store in memory alone.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from contextlab.core.budget import Mode

DEFAULT_USER = "default"
LONGEST = 20_000
"""Characters of one memory."""


@dataclass(slots=True, frozen=True)
class UserMemory:
    """One thing known of a user. `input` is what it was taken from; times are ISO texts given by the caller."""

    id: str
    memory: str
    user_id: str | None = DEFAULT_USER
    topics: tuple[str, ...] | None = None
    input: str | None = None
    agent_id: str | None = None
    team_id: str | None = None
    created_at: str | None = None
    updated_at: str | None = None


class UserMemoryStore(Protocol):
    """Where user memories are kept."""

    def of(self, user_id: str) -> list[UserMemory]:
        """The memories of a user that stand, oldest first."""
        ...

    def add(self, memory: UserMemory) -> None:
        """Store a new one."""
        ...

    def update(self, memory: UserMemory) -> bool:
        """Replace the text and topics of the one with its id and owner; False where there is none."""
        ...

    def delete(self, user_id: str, memory_id: str) -> bool:
        """Take one away; False where this user has none of that id."""
        ...

    def clear(self, user_id: str) -> int:
        """Take all of a user away; how many there were."""
        ...

    def replace(self, user_id: str, memory_ids: Sequence[str], new: Sequence[UserMemory]) -> None:
        """The new ones instead of those, all or nothing."""
        ...


class InMemoryUserMemories:
    """A store for one process."""

    def __init__(self, memories: Sequence[UserMemory] = ()) -> None:
        """Begin with these."""
        self._rows = {memory.id: memory for memory in memories}
        self._lock = threading.RLock()

    def of(self, user_id: str) -> list[UserMemory]:
        """The memories of a user, oldest first."""
        with self._lock:
            return [memory for memory in self._rows.values() if memory.user_id == user_id]

    def add(self, memory: UserMemory) -> None:
        """Store a new one."""
        with self._lock:
            self._rows[memory.id] = memory

    def update(self, memory: UserMemory) -> bool:
        """Replace the one with its id and owner."""
        with self._lock:
            old = self._rows.get(memory.id)
            if old is None or old.user_id != memory.user_id:
                return False
            self._rows[memory.id] = memory
            return True

    def delete(self, user_id: str, memory_id: str) -> bool:
        """Take one away."""
        with self._lock:
            old = self._rows.get(memory_id)
            if old is None or old.user_id != user_id:
                return False
            del self._rows[memory_id]
            return True

    def clear(self, user_id: str) -> int:
        """Take all of a user away."""
        with self._lock:
            gone = [memory.id for memory in self.of(user_id)]
            for one in gone:
                del self._rows[one]
            return len(gone)

    def clear_all(self) -> int:
        """Take the memories of all users away: what the original's tool does."""
        with self._lock:
            gone = len(self._rows)
            self._rows.clear()
            return gone

    def replace(self, user_id: str, memory_ids: Sequence[str], new: Sequence[UserMemory]) -> None:
        """The new ones instead of those, all or nothing."""
        with self._lock:
            old = set(memory_ids)
            kept = {one.id: one for one in self._rows.values() if one.user_id != user_id or one.id not in old}
            self._rows = kept | {one.id: one for one in new}


@dataclass(slots=True, frozen=True)
class Switches:
    """Which tools a model has."""

    add: bool = True
    update: bool = True
    delete: bool = False
    clear: bool = False


@dataclass(slots=True)
class MemoryTools:
    """The tools of one user: `schemas` for the model's request, `answer(name, arguments)` for its calls.

    `owner` (user, agent, team) is the caller's, never the model's. `now` gives the time as an ISO text.
    """

    store: UserMemoryStore
    user_id: str
    new_id: Callable[[str], str]
    switches: Switches = Switches()
    agent_id: str | None = None
    team_id: str | None = None
    input: str | None = None
    now: Callable[[], str | None] = lambda: None
    mode: Mode = "safe"
    changed: list[str] = field(default_factory=list)
    """Ids that calls have added, changed or taken away, in order."""

    @property
    def schemas(self) -> list[dict[str, Any]]:
        """Name, description and JSON Schema of each tool that is switched on."""
        return [_SCHEMAS[name] for name in self._callable()]

    def answer(self, name: str, arguments: str | Mapping[str, object]) -> str:
        """Carry out a call; the line for the model, whatever happens."""
        if name not in _SCHEMAS:
            return f"There is no tool {name!r}."
        if name not in self._callable():
            return f"The tool {name} is switched off; nothing was changed."
        try:
            given = json.loads(arguments or "{}") if isinstance(arguments, str) else arguments
        except (ValueError, RecursionError):
            return f"Nothing was changed: the arguments of {name} are no JSON object."
        if not isinstance(given, Mapping):
            return f"Nothing was changed: the arguments of {name} are no JSON object."
        try:
            return self._callable()[name](given)
        except Exception as error:  # whatever a store raises, the model gets an answer and the agent goes on
            return f"Nothing was changed: the store failed ({type(error).__name__})."

    def _callable(self) -> dict[str, Callable[[Mapping[str, object]], str]]:
        tools = {
            "add_memory": (self.switches.add, self._add),
            "update_memory": (self.switches.update, self._update),
            "delete_memory": (self.switches.delete, self._delete),
            "clear_memories": (self.switches.clear, self._clear),
        }
        return {name: call for name, (on, call) in tools.items() if on}

    def _add(self, given: Mapping[str, object]) -> str:
        text = _text(given.get("memory"))
        if not text:
            return "Nothing was added: the memory is empty."
        if len(text) > LONGEST:
            return f"Nothing was added: a memory may have {LONGEST:,} characters, this one has {len(text):,}."
        now = self.now()
        memory = UserMemory(
            self.new_id("memory"), text, self.user_id, _topics(given.get("topics")), self.input,
            self.agent_id, self.team_id, now, now,
        )  # fmt: skip
        self.store.add(memory)
        self.changed.append(memory.id)
        return f"Added as {memory.id}."

    def _update(self, given: Mapping[str, object]) -> str:
        name, text = _text(given.get("id")), _text(given.get("memory"))
        if not text:
            return "Nothing was changed: the new text is empty. Use delete_memory to take a memory away."
        if len(text) > LONGEST:
            return (
                f"Nothing was changed: a memory may have {LONGEST:,} characters, this one has {len(text):,}."
            )
        old = next((memory for memory in self.store.of(self.user_id) if memory.id == name), None)
        if old is None:
            return f"Nothing was changed: there is no memory {name!r}."
        topics = _topics(given.get("topics"))
        new = replace(
            old, memory=text, topics=old.topics if topics is None else topics, updated_at=self.now(),
            agent_id=self.agent_id or old.agent_id, team_id=self.team_id or old.team_id,
        )  # fmt: skip
        if not self.store.update(new):
            return f"Nothing was changed: there is no memory {name!r}."
        self.changed.append(name)
        return f"Changed {name}."

    def _delete(self, given: Mapping[str, object]) -> str:
        name = _text(given.get("id"))
        if not self.store.delete(self.user_id, name):
            return f"Nothing was deleted: there is no memory {name!r}."
        self.changed.append(name)
        return f"Deleted {name}."

    def _clear(self, given: Mapping[str, object]) -> str:  # noqa: ARG002 - a model names no owner
        self.changed += [memory.id for memory in self.store.of(self.user_id)]
        if self.mode == "reference" and isinstance(self.store, InMemoryUserMemories):
            return f"Deleted {self.store.clear_all()} memories."
        return f"Deleted {self.store.clear(self.user_id)} memories of this user."


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _topics(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list):
        return None
    return tuple(dict.fromkeys(text for one in value if (text := _text(one))))


def _schema(name: str, description: str, **properties: dict[str, Any]) -> dict[str, Any]:
    required = [key for key in properties if key != "topics"]
    parameters = {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
    return {"name": name, "description": description, "parameters": parameters}


_MEMORY = {"type": "string", "description": "One short statement about the user, in the third person."}
_TOPICS = {"type": "array", "items": {"type": "string"}, "description": "What it is about, one word each."}
_ID = {"type": "string", "description": "The id of the memory, as listed."}
_SCHEMAS = {
    schema["name"]: schema
    for schema in (
        _schema("add_memory", "Keep something new about the user.", memory=_MEMORY, topics=_TOPICS),
        _schema("update_memory", "Replace the text of a memory.", id=_ID, memory=_MEMORY, topics=_TOPICS),
        _schema("delete_memory", "Take a memory away that no longer holds.", id=_ID),
        _schema("clear_memories", "Take all memories of this user away."),
    )
}
TOOL_NAMES = tuple(_SCHEMAS)
