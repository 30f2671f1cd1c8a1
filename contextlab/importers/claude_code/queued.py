"""What a person typed while the agent worked: sometimes a queue operation is its only record.

`enqueue` brings a text, `remove` takes one into the running turn (then no other record of it exists), `dequeue`
takes one as the next prompt (then the user record that follows is it), `popAll` gives all back to the input line.
"""

from __future__ import annotations

from contextlab.core.events import ItemEvent, Place
from contextlab.core.items import Injected, Kind
from contextlab.importers.claude_code.ids import digest

Entry = tuple[str, str | None, Place]
"""Text, time and place of an `enqueue`."""

_NOT_TYPED = ("/", "{", "<")
"""How commands and the client's own tasks begin."""


class Queue:
    """The queue of one session, and what left it for the model without a record of its own."""

    __slots__ = ("_delivered", "_entries", "_seen")

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._delivered: list[ItemEvent] = []
        self._seen: dict[str, int] = {}

    def add(self, text: str, ts: str | None, place: Place) -> None:
        """A text was queued."""
        self._entries.append((text, ts, place))

    def take(self, text: str | None) -> Entry | None:
        """What a `remove` takes: the text it names, else the oldest typed text, else the newest other entry."""
        for index, entry in enumerate(self._entries):
            if entry[0] == text or (text is None and not entry[0].lstrip().startswith(_NOT_TYPED)):
                return self._entries.pop(index)
        return self._entries.pop() if self._entries and text is None else None

    def became_prompt(self, text: str) -> None:
        """A prompt has its own record: it does not wait in the queue any more."""
        for index, entry in enumerate(self._entries):
            if entry[0] == text:
                del self._entries[index]
                return

    def clear(self) -> None:
        """Everything went back into the input line."""
        self._entries.clear()

    def deliver(self, text: str, ts: str | None, place: Place, injected: Injected) -> None:
        """A text goes to the model with the next step; its id is made of the text and how often it occurred."""
        name = f"queued-{digest(text)}"
        count = self._seen[name] = self._seen.get(name, 0) + 1
        if count > 1:
            name = f"{name}-{count}"
        event = ItemEvent(name, Kind.USER, text, name, ts, place, injected=injected, label="queued")
        self._delivered.append(event)

    def has_own_record(self, text: str) -> None:
        """A text that was to be delivered turns out to have a record (an attachment): it is not told twice."""
        for event in self._delivered:
            if event.text == text:
                self._delivered.remove(event)
                return

    def release(self) -> list[ItemEvent]:
        """What was delivered since the last time."""
        released, self._delivered = self._delivered, []
        return released
