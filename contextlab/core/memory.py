"""An agent's memory: items and a summary, as snapshots that can be taken, kept and restored.

    memory = AgentMemory()
    memory.add(Item("1", Kind.USER, "hello"))
    kept = memory.snapshot()
    memory.restore(kept)

| what           | rule                                                                                           |
|----------------|------------------------------------------------------------------------------------------------|
| prompt items   | the summary stands in front, behind the system items that lead (reference mode: before them)   |
| snapshot       | items without the summary, the summary, the last result, a version that grows with each change |
| restore        | replaces all of it; a snapshot without a summary clears the summary                            |
| write path     | a compressor, where one is set, sees memory after every add                                    |
| ids            | each item has its own: one that comes with the id of another gets a number behind it           |

Items are values here: a pin replaces the item. Snapshots stay what they were.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import count
from typing import Protocol

from contextlab.core.budget import Budget, Mode
from contextlab.core.compaction import CompactPolicy, CompactResult, Deps, Snapshot
from contextlab.core.errors import CompactError
from contextlab.core.items import Item, Kind
from contextlab.core.projection import project

SUMMARY_ID = "<summary>"
"""Id of the item by which a summary stands in a context."""


class MemoryCompressor(Protocol):
    """A write-path compressor: given memory after an add, answers with the memory to go on with."""

    def compress(self, snapshot: Snapshot) -> Snapshot:
        """The memory to go on with; the snapshot itself where there is nothing to do."""
        ...


class AgentMemory:
    """Items and a summary."""

    def __init__(
        self,
        items: Iterable[Item] = (),
        summary: str | None = None,
        *,
        compressor: MemoryCompressor | None = None,
        mode: Mode = "safe",
    ) -> None:
        """Start with these items; the compressor sees them at the next add."""
        self._items: list[Item] = []
        self._names: set[str] = set()
        self._rest = Snapshot((), summary)
        self._frozen: Snapshot | None = None
        for item in items:
            self._append(item)
        self.compressor = compressor
        self.mode = mode

    @property
    def items(self) -> tuple[Item, ...]:
        """The items without the summary."""
        return self.snapshot().items

    @property
    def summary(self) -> str | None:
        """The summary, None without one."""
        return self._rest.summary

    @property
    def last_result(self) -> CompactResult | None:
        """What the last compaction came to; it is kept with snapshots."""
        return self._rest.last_result

    @property
    def version(self) -> int:
        """Grows with each change."""
        return self._rest.version

    def __len__(self) -> int:
        """How many items."""
        return len(self._items)

    def add(self, *items: Item) -> None:
        """Append items; the write-path compressor runs after each of them.

        What a compressor raises is raised when all are in memory: none is lost.
        """
        failure: Exception | None = None
        for item in items:
            self._append(item)
            self._changed(self._rest)
            try:
                self._compress()
            except Exception as error:  # a compressor may be a stranger's
                failure = failure or error
        if failure is not None:
            raise failure

    def named(self, item: Item) -> Item:
        """The item under an id that no other in memory has: ids tell what a compaction takes and what it leaves."""
        if item.id not in self._names:
            return item
        numbered = (f"{item.id}~{number}" for number in count(len(self._names) + 1))
        return replace(item, id=next(name for name in numbered if name not in self._names))

    def pin(self, item_id: str, pinned: bool = True) -> None:
        """Pin an item, or take its pin away; raises LookupError for one that is not in memory."""
        found = [index for index, item in enumerate(self._items) if item.id == item_id]
        if not found:
            raise LookupError(f"there is no item {item_id!r} in memory")
        for index in found:
            self._items[index] = replace(self._items[index], pinned=pinned)
        self._changed(self._rest)

    def prompt_items(self) -> list[Item]:
        """What goes into a prompt: the items with the summary, where there is one, in front."""
        items = list(self._items)
        if self.summary and self.summary.strip():
            items.insert(self._place_of_summary(items), summary_item(self.summary, self.mode))
        return items

    def snapshot(self) -> Snapshot:
        """Memory as it is now."""
        if self._frozen is None:
            self._frozen = replace(self._rest, items=tuple(self._items))
        return self._frozen

    def restore(self, snapshot: Snapshot) -> None:
        """Become what a snapshot says, summary and last result too."""
        self._items, self._names = list(snapshot.items), set(snapshot.names)
        if len(self._names) < len(self._items):
            self._items, self._names = [], set()
            for item in snapshot.items:
                self._append(item)
            snapshot = replace(snapshot, items=tuple(self._items))
        self._changed(snapshot)
        self._frozen = snapshot.numbered(self.version)

    def _append(self, item: Item) -> None:
        named = self.named(item)
        self._items.append(named)
        self._names.add(named.id)

    def _compress(self) -> None:
        if self.compressor is None:
            return
        before = self.snapshot()
        after = self.compressor.compress(before)
        if after is not before:
            self.restore(after)

    def _changed(self, rest: Snapshot) -> None:
        self._rest = replace(rest, items=(), version=self._rest.version + 1)
        self._frozen = None

    def _place_of_summary(self, items: list[Item]) -> int:
        if self.mode == "reference":
            return 0
        return next((index for index, item in enumerate(items) if item.kind != Kind.SYSTEM), len(items))


def summary_item(summary: str, mode: Mode = "safe") -> Item:
    """A summary as an item of the context; in safe mode no limit of size may take it."""
    return Item(SUMMARY_ID, Kind.SUMMARY, summary, pinned=mode == "safe")


@dataclass(slots=True, frozen=True)
class WindowedMemoryCompressor:
    """Keeps the newest entries and the summary. In safe mode pins, system items and whole pairs stay as well."""

    max_items: int
    mode: Mode = "safe"

    def __post_init__(self) -> None:
        """Refuse a window that keeps nothing."""
        if self.max_items <= 0:
            raise ValueError(f"a window keeps at least one item, not {self.max_items}")

    def compress(self, snapshot: Snapshot) -> Snapshot:
        """Memory with what stands before the window left out."""
        seen = project(snapshot.items, Budget(max_items=self.max_items, mode=self.mode))
        if len(seen.items) == len(snapshot.items):
            return snapshot
        return replace(snapshot, items=tuple(seen.items))


class PolicyMemoryCompressor:
    """A compaction policy on the write path: compacts after an add as soon as the policy is due.

    What is committed, and when it pauses, is decided as for a session (core/session.py); without gain memory stays.
    A failure leaves memory as it is and is kept in `last_error`: an add must not be lost for it. Reference mode is the
    original: whatever the policy gives is taken, and it is asked again and again.
    """

    def __init__(self, policy: CompactPolicy, deps: Deps, *, mode: Mode = "safe") -> None:
        """Nothing was compacted yet."""
        from contextlab.core.session import AgentSession  # a session is made of a memory

        safe = mode == "safe"
        most = 3 if safe else 0
        self._session = AgentSession(
            policy=policy, deps=deps, mode=mode, require_gain=safe, max_failures=most, max_useless=most
        )
        self.last_result: CompactResult | None = None
        self.last_error: CompactError | None = None

    def compress(self, snapshot: Snapshot) -> Snapshot:
        """Memory after the policy, where it is due and does something."""
        self._session.memory.restore(snapshot)
        done = self._session.auto.run()
        self.last_error = done.error if done else None
        if done is None or done.outcome is None or not done.compacted:
            return snapshot
        self.last_result = done.outcome.result
        return self._session.snapshot()

    def close(self) -> None:
        """End a pause after failures: the next add tries again."""
        self._session.auto.close()
