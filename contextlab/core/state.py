"""How far a conversation is summarised, and where that is kept: compare-and-set, never read-then-write.

| call                        | promise of every store                                                             |
|-----------------------------|------------------------------------------------------------------------------------|
| load(id)                    | the stored state, None where there is none                                         |
| save(id, state, expected)   | stored and True, if the stored version is `expected` (none counts as 0); else      |
|                             | False, and what is stored stays                                                    |
| two saves at once           | exactly one is True                                                                |
| blank id, no state,         | ValueError                                                                         |
| negative version            |                                                                                    |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Protocol

from contextlab.core.codec import UnreadableRecord, dump, item_fields, load, read_items
from contextlab.core.errors import StaleHistory
from contextlab.core.items import Item

MOST = 2**63 - 1
"""The largest count that stores hold; counts stop there."""


@dataclass(slots=True, frozen=True)
class CompressionState:
    """What the summary of a conversation covers. Version 0 is a conversation that was never summarised."""

    version: int = 0
    compression_version: int = 0
    """How many summaries there were."""
    covered_until: str | None = None
    """Id of the last item that the summary covers."""
    summary: tuple[Item, ...] = ()
    covered_tokens: int = 0
    covered_turns: int = 0


class StateStore(Protocol):
    """Keeps the state of conversations; the table above is its contract."""

    def load(self, conversation_id: str) -> CompressionState | None:
        """The stored state, None where there is none."""
        ...

    def save(self, conversation_id: str, state: CompressionState, expected_version: int) -> bool:
        """Compare and set."""
        ...


class InMemoryStateStore:
    """A state store for one process; safe to share between threads."""

    def __init__(self) -> None:
        """Empty."""
        self._lock = Lock()
        self._kept: dict[str, CompressionState] = {}

    def load(self, conversation_id: str) -> CompressionState | None:
        """The stored state, None where there is none."""
        check_id(conversation_id)
        with self._lock:
            return self._kept.get(conversation_id)

    def save(self, conversation_id: str, state: CompressionState, expected_version: int) -> bool:
        """Compare and set."""
        check_save(conversation_id, state, expected_version)
        with self._lock:
            kept = self._kept.get(conversation_id)
            if (kept.version if kept else 0) != expected_version:
                return False
            self._kept[conversation_id] = state
            return True


def check_id(conversation_id: str) -> None:
    """Raise ValueError for an id that no store can hold."""
    if not conversation_id or not conversation_id.strip():
        raise ValueError("a conversation needs an id")
    if len(conversation_id) > 255 or "\0" in conversation_id:
        raise ValueError("a conversation's id has at most 255 characters and no NUL")


def check_save(conversation_id: str, state: CompressionState | None, expected_version: int) -> None:
    """Raise ValueError for arguments of `save` that can only be a mistake."""
    check_id(conversation_id)
    if state is None:
        raise ValueError("there is no state to save")
    if expected_version < 0 or state.version < 0:
        raise ValueError("a version is not negative")


def pending_after(history: Sequence[Item], covered_until: str | None) -> list[Item]:
    """The items behind the covered one (all of them without one); StaleHistory where it is not in the history."""
    if covered_until is None:
        return list(history)
    for index in range(len(history) - 1, -1, -1):
        if history[index].id == covered_until:
            return list(history[index + 1 :])
    raise StaleHistory(
        f"The history does not hold the item {covered_until!r}, up to which it was summarised: it is not complete, "
        "or belongs to another conversation."
    )


def add_up(count: int, more: int) -> int:
    """The sum of two counts, at most what stores hold."""
    return min(count + more, MOST)


def dump_state(state: CompressionState) -> str:
    """A state as JSON text."""
    summary = [item_fields(item) for item in state.summary]
    return dump({name: getattr(state, name) for name in (*_NUMBERS, "covered_until")} | {"summary": summary})


def load_state(text: str | bytes) -> CompressionState:
    """The state that was written; raises UnreadableRecord."""
    row = load(text)
    summary = read_items(row.pop("summary", None))
    known = all(isinstance(row.get(name), int) for name in _NUMBERS)
    if not known or not isinstance(row.get("covered_until"), str | None):
        raise UnreadableRecord("a state that is stored cannot be read")
    return CompressionState(**{name: row[name] for name in (*_NUMBERS, "covered_until")}, summary=summary)


_NUMBERS = ("version", "compression_version", "covered_tokens", "covered_turns")
