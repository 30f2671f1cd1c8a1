"""A memory that a compaction reads, with where it is from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from contextlab.core.compaction import Snapshot
from contextlab.core.items import Item
from contextlab.queries.fates import Fate
from contextlab.store.models import MemoryVersion, Session, View

Placed = tuple[int, Item]
"""An item of the log and its position there."""


class Seen(NamedTuple):
    """How far a log went when it was read."""

    at_step: int
    """The step that memory stood before."""
    upto: int
    """Items of the log."""


@dataclass(slots=True)
class Held:
    """A memory with where it is from."""

    session: Session
    view: View
    snapshot: Snapshot
    revision: int
    at_step: int
    """The step that it stands before."""
    upto: int
    """Items of the log that had been seen."""
    positions: dict[str, int] = field(default_factory=dict)
    """Place in the session of each item that is one of its log."""
    version: MemoryVersion | None = None
    """Of a branch."""
    summary_at: int | None = None
    """Position of the log's own summary that stands in the snapshot as its summary."""
    out: tuple[Fate, ...] = ()
    """What had become of items of the log that are not in it; of a view of the log."""
    changed: frozenset[str] = frozenset()
    """Ids of items of the log that do not stand as they stand there: their result was cleared."""

    @property
    def counted(self) -> bool:
        """Whether the tokens of all items that stand as in the log are counted."""
        return self.snapshot.once("all counted", self._all_counted)

    def _all_counted(self) -> bool:
        waiting = [item.id for item in self.snapshot.items if item.tokens is None]
        return self.changed.issuperset(waiting)
