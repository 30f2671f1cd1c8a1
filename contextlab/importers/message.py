"""A message of a recorded conversation before it has its place: items without ids, and what is known of its call."""

from __future__ import annotations

from dataclasses import dataclass, field

from contextlab.core.events import ItemEvent, Place, Usage
from contextlab.importers.values import digest

COMPACTION = "compaction"
"""Role of the message that stands for a compacted history."""


@dataclass(slots=True)
class Message:
    """A message as items without ids: `key` is equal for equal content, whoever repeats it."""

    role: str
    items: list[ItemEvent] = field(default_factory=list)
    key: str = ""
    ts: str | None = None
    joined: bool = False
    """Whether it is a further part of the provider message before it, and shares that one's entry."""
    keeps_user: bool = False
    """Of a compaction: the user's messages before it stay as they are."""

    def seal(self) -> Message:
        """Make the key from what the items say."""
        parts = [self.role]
        for item in self.items:
            sizes = ",".join(f"{one.mime}{one.size}" for one in item.media)
            parts += (item.kind, item.text, item.tool or "", item.call_id or "", sizes)
        self.key = digest(*parts)
        return self


@dataclass(slots=True)
class Call:
    """What is known about a model call beside its messages."""

    model: str | None = None
    limit: int | None = None
    usage: Usage | None = None
    exact: bool = False
    place: Place | None = None
    ts: str | None = None
