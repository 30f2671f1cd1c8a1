"""Memory work beside an answer: started after a turn, awaited at the end, its failure logged and never fatal.

| rule                                                                                         |
|----------------------------------------------------------------------------------------------|
| one work for each key (a turn's id); a retry with the key takes a queued one away, not a running one |
| `wait` gives what each gave, or None where it failed; what failed is logged and kept in `errors` |

    with BackgroundMemories() as background:
        remember_turns(session, manager, background, user_id="me")
        ...                                # turns as always; the answer does not wait
    # here all has been awaited
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self

from contextlab.core.agent.session_events import EventKind, SessionEvent
from contextlab.core.items import Item, Kind
from contextlab.core.memory_keeping.manager import MemoryManager, said_by_user
from contextlab.core.session import AgentSession

logger = logging.getLogger(__name__)


class BackgroundMemories:
    """Runs one piece of memory work at a time in a thread of its own."""

    def __init__(self) -> None:
        """Nothing runs yet."""
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="memories")
        self._works: dict[str, Future[object]] = {}
        self._lock = threading.Lock()
        self.errors: dict[str, str] = {}

    def start(self, key: str, work: Callable[[], object]) -> None:
        """Start a work; one of the same key that has not begun is taken away, one that runs is left to end alone."""
        with self._lock:
            earlier = self._works.get(key)
            if earlier is not None and not earlier.done() and not earlier.cancel():
                return
            self._works[key] = self._pool.submit(work)

    def wait(self, timeout: float | None = None) -> dict[str, object]:
        """Wait for all that was started (seconds for each); by key what it gave, None where it failed."""
        with self._lock:
            works, self._works = self._works, {}
        return {key: self._result(key, work, timeout) for key, work in works.items()}

    def _result(self, key: str, work: Future[object], timeout: float | None) -> object:
        try:
            return work.result(timeout)
        except CancelledError:
            return None
        except Exception as error:  # the answer stands, whatever became of the memories
            logger.warning("memory work %s failed: %s", key, type(error).__name__)
            self.errors[key] = f"{type(error).__name__}: {error}"
            return None

    def __enter__(self) -> Self:
        """Start with nothing."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait for all, and let the thread go."""
        self.wait()
        self._pool.shutdown()


def remember_turns(
    session: AgentSession, manager: MemoryManager, background: BackgroundMemories, user_id: str | None = None
) -> None:
    """After each turn of the session the manager's model keeps what was said in it, beside the agent's work."""

    def at_turn_end(event: SessionEvent) -> None:
        if event.kind != EventKind.TURN_END or not isinstance(event.payload, tuple):
            return
        said = _said(event.payload)
        if said:
            background.start(event.payload[0].id, lambda: manager.remember(user_id, said))

    session.hooks.add(at_turn_end)


def _said(items: tuple[Item, ...]) -> str:
    """The talk of a turn; empty where the user said nothing."""
    talk = [(str(item.kind), item.text) for item in items if item.kind in (Kind.USER, Kind.ASSISTANT)]
    return said_by_user(talk) if any(kind == Kind.USER for kind, _ in talk) else ""
