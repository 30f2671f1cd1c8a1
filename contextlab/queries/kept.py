"""What was worked out over all steps of a session, kept in memory for the sessions that were looked at last."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

from contextlab.store.models import Session, View

Value = TypeVar("Value")


class Kept(Generic[Value]):
    """Values by the state of a session and its recorded view; of a total weight, the least recently used go first."""

    def __init__(self, most: int) -> None:
        """`most`: the weight that is kept, where a value weighs what its maker says (steps)."""
        self._most, self._weight = most, 0
        self._kept: OrderedDict[Hashable, tuple[int, Value]] = OrderedDict()
        self._lock = Lock()

    def get(self, session: Session, view: View | None, make: Callable[[], Value]) -> Value:
        """The value for the session as it is stored now, made where it is not kept."""
        state = (view.uid, view.version, view.revision, view.steps) if view else None
        key = (session.uid, session.revision, session.steps, session.items, state)
        with self._lock:
            if (found := self._kept.get(key)) is not None:
                self._kept.move_to_end(key)
                return found[1]
        value = make()
        with self._lock:
            if key not in self._kept and session.steps <= self._most:
                self._kept[key] = (session.steps, value)
                self._weight += session.steps
            while self._weight > self._most:
                self._weight -= self._kept.popitem(last=False)[1][0]
        return value
