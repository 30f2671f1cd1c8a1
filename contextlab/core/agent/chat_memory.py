"""The whole timeline of a conversation, what only the person saw included; windows only read it.

| call                        | promise                                                                              |
|-----------------------------|--------------------------------------------------------------------------------------|
| get_messages(offset, count) | a page, counted back from the newest; inside the page the oldest comes first         |
| get_model_messages(count)   | the newest `count` messages that a model sees; what only the person saw takes no place |
| add_if_absent(message)      | False, and nothing changes, where its id is there already                            |
| update(message, expected)   | replaced with version + 1, if the stored version is `expected`; else False           |
| begin_turn(turn)            | SessionBusy while another turn is open; the open one may be taken up again           |
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from threading import Lock
from typing import Protocol

from contextlab.core.errors import SessionBusy
from contextlab.core.items import Item, Kind
from contextlab.core.projection import is_prompt

PAGE = 64


@dataclass(slots=True, frozen=True)
class ChatMessage:
    """A message of the timeline: its items, and whether a model sees it."""

    id: str
    items: tuple[Item, ...]
    model_visible: bool = True
    version: int = 0

    @property
    def for_model(self) -> bool:
        """Whether something of it goes to a model."""
        return self.model_visible and any(item.kind != Kind.UI for item in self.items)


class ChatMemory(Protocol):
    """A conversation's timeline; the table above is its contract."""

    def get_messages(self, offset: int, count: int) -> list[ChatMessage]:
        """A page back from the newest; raises ValueError for offset < 0 or count <= 0."""
        ...

    def get_model_messages(self, count: int) -> list[ChatMessage]:
        """The newest messages that a model sees; raises ValueError for count <= 0."""
        ...

    def get_message(self, message_id: str) -> ChatMessage | None:
        """One message."""
        ...

    def add_if_absent(self, message: ChatMessage) -> bool:
        """Append, once."""
        ...

    def update(self, message: ChatMessage, expected_version: int) -> bool:
        """Compare and set."""
        ...


class InMemoryChatMemory:
    """A timeline for one process; safe to share between threads."""

    def __init__(self) -> None:
        """Empty, and no turn is open."""
        self._lock = Lock()
        self._messages: dict[str, ChatMessage] = {}
        self._open_turn: str | None = None

    def __len__(self) -> int:
        """All messages."""
        return len(self._messages)

    def get_messages(self, offset: int, count: int) -> list[ChatMessage]:
        """A page back from the newest; raises ValueError for offset < 0 or count <= 0."""
        if offset < 0:
            raise ValueError(f"offset must not be negative: {offset}")
        return _page(self._timeline(), offset, count)

    def get_model_messages(self, count: int) -> list[ChatMessage]:
        """The newest messages that a model sees; raises ValueError for count <= 0."""
        return _page([message for message in self._timeline() if message.for_model], 0, count)

    def get_message(self, message_id: str) -> ChatMessage | None:
        """One message."""
        return self._messages.get(message_id)

    def add_if_absent(self, message: ChatMessage) -> bool:
        """Append, once."""
        with self._lock:
            if message.id in self._messages:
                return False
            self._messages[message.id] = message
            return True

    def update(self, message: ChatMessage, expected_version: int) -> bool:
        """Compare and set: the stored message has the next version."""
        with self._lock:
            stored = self._messages.get(message.id)
            if stored is None or stored.version != expected_version:
                return False
            self._messages[message.id] = replace(message, version=expected_version + 1)
            return True

    def begin_turn(self, turn_id: str) -> None:
        """Open a turn, or take up the open one again; raises SessionBusy while another one is open."""
        with self._lock:
            if self._open_turn not in (None, turn_id):
                raise SessionBusy(
                    f"The session is in turn {self._open_turn!r}; it takes a second one after that."
                )
            self._open_turn = turn_id

    def end_turn(self, turn_id: str) -> None:
        """Close the turn; one that is not open is left alone."""
        with self._lock:
            if self._open_turn == turn_id:
                self._open_turn = None

    def _timeline(self) -> list[ChatMessage]:
        with self._lock:
            return list(self._messages.values())


def recent_items(memory: ChatMemory, turns: int, page: int = PAGE) -> list[Item]:
    """The items of the newest turns that a model sees, and of one turn more, read page by page from the newest.

    Enough for a window of so many turns, however long the timeline is. A message that comes in meanwhile moves the
    pages; none is read twice.
    """
    pages: list[list[Item]] = []
    known: set[str] = set()
    offset = prompts = 0
    while prompts <= turns:
        messages = memory.get_messages(offset, page)
        seen = [item for one in messages if one.id not in known and one.for_model for item in one.items]
        known.update(one.id for one in messages)
        pages.append(seen)
        prompts += sum(map(is_prompt, seen))
        offset += len(messages)
        if len(messages) < page:
            break
    return [item for seen in reversed(pages) for item in seen if item.kind != Kind.UI]


def _page(messages: list[ChatMessage], offset: int, count: int) -> list[ChatMessage]:
    if count <= 0:
        raise ValueError(f"count must be positive: {count}")
    end = max(0, len(messages) - offset)
    return messages[max(0, end - count) : end]
