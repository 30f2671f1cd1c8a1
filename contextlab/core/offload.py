"""Offload and reload: originals kept under an id behind a preview, fetched back when they are needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from contextlab.core.items import Item


@dataclass(slots=True, frozen=True)
class Offload:
    """Originals under one id, and why they were put aside."""

    id: str
    items: tuple[Item, ...]
    reason: str = ""


class OffloadStore(Protocol):
    """Keeps originals. What `get` gives is what `put` was given, byte by byte."""

    def put(self, offload: Offload) -> None:
        """Store; the same id again replaces."""
        ...

    def get(self, offload_id: str) -> tuple[Item, ...]:
        """The originals, empty for an id that is not known."""
        ...

    def clear(self, offload_id: str) -> None:
        """Forget; an unknown id is no error."""
        ...


class InMemoryOffloadStore:
    """An offload store for one process."""

    def __init__(self) -> None:
        """Empty."""
        self._kept: dict[str, Offload] = {}

    def put(self, offload: Offload) -> None:
        """Store; the same id again replaces."""
        self._kept[offload.id] = offload

    def get(self, offload_id: str) -> tuple[Item, ...]:
        """The originals, empty for an id that is not known."""
        kept = self._kept.get(offload_id)
        return kept.items if kept else ()

    def clear(self, offload_id: str) -> None:
        """Forget; an unknown id is no error."""
        self._kept.pop(offload_id, None)


class PlannedOffloadStore(InMemoryOffloadStore):
    """For one plan: what it puts aside stays here until somebody commits it, what was put aside before is only read."""

    def __init__(self, earlier: OffloadStore | None = None) -> None:
        """Empty, in front of the store with what is there already (None: it lies elsewhere)."""
        super().__init__()
        self._earlier = earlier

    def get(self, offload_id: str) -> tuple[Item, ...]:
        """The originals; raises LookupError for an id that may be known elsewhere."""
        if kept := super().get(offload_id):
            return kept
        if self._earlier is None:
            raise LookupError(f"where {offload_id!r} is kept is not known here")
        return self._earlier.get(offload_id)
