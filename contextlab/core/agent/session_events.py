"""What happens in a live session, in the order in which it happens, and who is told.

| in a step                  | payload                             |
|----------------------------|-------------------------------------|
| before_compact             | the snapshot                        |
| memory_compress            | the CompactResult                   |
| on_compact                 | the CompactResult                   |
| compact_failed             | the error's text                    |
| step_start, before_turn    | the step's number (from 1)          |
| memory_compress            | the Report of the projection        |
| before_model_request       | the messages                        |
| model_request              | the messages                        |
| turn_end (of a `turn()`)   | the items added in it               |
| error (at any time)        | the text of what a hook raised, or  |
|                            | a trigger after a compaction        |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum


class EventKind(StrEnum):
    """What happened."""

    BEFORE_COMPACT = "before_compact"
    MEMORY_COMPRESS = "memory_compress"
    ON_COMPACT = "on_compact"
    COMPACT_FAILED = "compact_failed"
    STEP_START = "step_start"
    BEFORE_TURN = "before_turn"
    BEFORE_MODEL_REQUEST = "before_model_request"
    MODEL_REQUEST = "model_request"
    TURN_END = "turn_end"
    ERROR = "error"


@dataclass(slots=True, frozen=True)
class SessionEvent:
    """One thing that happened, with what it is about."""

    kind: EventKind
    payload: object = None


Hook = Callable[[SessionEvent], object]
"""Told of every event. What it raises is reported as an event of its own; nothing stops for it."""


class Hooks:
    """The hooks of a session, in order."""

    def __init__(self, hooks: Iterable[Hook] = ()) -> None:
        """Start with these."""
        self._hooks = list(hooks)

    def add(self, hook: Hook) -> None:
        """One more, told last."""
        self._hooks.append(hook)

    def tell(self, kind: EventKind, payload: object = None) -> None:
        """Tell all; a hook that raises is an ERROR event for all, and what raises then is let go."""
        errors = self._told(SessionEvent(kind, payload))
        for error in errors:
            self._told(SessionEvent(EventKind.ERROR, error))

    def _told(self, event: SessionEvent) -> list[str]:
        errors = []
        for hook in self._hooks:
            try:
                hook(event)
            except Exception as error:  # a hook is a stranger's
                errors.append(f"a hook raised at {event.kind}: {error!r}")
        return errors
