"""What stands in a Codex session's context now, as far as a compaction or a rollback must name it."""

from __future__ import annotations

from dataclasses import dataclass, field

from contextlab.core.events import ItemEvent
from contextlab.core.items import Kind


@dataclass(slots=True, frozen=True)
class _Standing:
    id: str
    key: str
    kept: bool
    """Whether a compaction without a replacement history keeps it: system prompt and user messages."""
    prompt: bool
    """Whether a rollback counts it as the start of a user turn."""


@dataclass(slots=True)
class Live:
    """Ids of the items in context, in order. `fixed` ones (the system prompt) outlive everything."""

    fixed: list[str] = field(default_factory=list)
    _standing: list[_Standing] = field(default_factory=list)

    def add(self, event: ItemEvent, key: str) -> None:
        """An item entered the context."""
        kept = event.kind in (Kind.SYSTEM, Kind.USER)
        prompt = event.kind == Kind.USER and (event.opens_turn or event.injected is None)
        self._standing.append(_Standing(event.id, key, kept, prompt))

    def match(self, keys: list[str]) -> list[str | None]:
        """For each key of a replacement history the id of the item it repeats; the later of equal ones first."""
        waiting: dict[str, list[str]] = {}
        for item in self._standing:
            waiting.setdefault(item.key, []).append(item.id)
        found: list[str | None] = []
        for key in reversed(keys):
            same = waiting.get(key)
            found.append(same.pop() if same else None)
        return found[::-1]

    def user_side(self) -> list[str]:
        """Ids of what a compaction without a replacement history leaves: system prompt and user messages."""
        return [item.id for item in self._standing if item.kept]

    def replace(self, kept: list[str]) -> None:
        """Only these items stay, in this order (what is new is added afterwards)."""
        by_id = {item.id: item for item in self._standing}
        self._standing = [by_id[one] for one in kept if one in by_id]

    def roll_back(self, turns: int) -> list[str]:
        """Take out the last `turns` user messages with all that follows the first of them; returns what went."""
        starts = [place for place, item in enumerate(self._standing) if item.prompt]
        if turns <= 0 or not starts:
            return []
        cut = starts[-turns] if turns <= len(starts) else starts[0]
        gone = [item.id for item in self._standing[cut:]]
        del self._standing[cut:]
        return gone
