"""The summary so far is carried on: only it and what is new go to another compressor.

| what is given                            | what comes of it                                                  |
|------------------------------------------|-------------------------------------------------------------------|
| nothing, or nothing new                  | the summary so far; the other compressor is not asked             |
| something new behind the covered items   | summary + new items are compressed; the cursor moves to their end |
| items without the covered one            | StaleHistory (reference: all of them count as new)                |
| the other compressor fails or gives none | raised (EmptySummary); summary and cursor stay                    |

It remembers, so one belongs to one conversation. `state` and `restore` carry it over a restart; where several
processes share a conversation, core/agent/coordinator.py does the same with a store.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import ClassVar, Self

from contextlab.core.compaction import Compressor, Deps
from contextlab.core.documents.options import Options, read_mode
from contextlab.core.errors import EmptySummary, StaleHistory
from contextlab.core.items import Item
from contextlab.core.state import pending_after
from contextlab.core.summarising.compressing import PLACE, copies, needs_model, read_compressor


class Incremental:
    """Compresses what is new, on top of the summary so far.

    Safe to share between threads.
    """

    kind: ClassVar[str] = "incremental"

    def __init__(self, inner: Compressor, mode: str = "safe") -> None:
        """Nothing is covered yet."""
        self.inner = inner
        self.mode = read_mode(mode)
        self._lock = Lock()
        self._summary: tuple[Item, ...] = ()
        self._covered_until: str | None = None

    @classmethod
    def from_options(cls, options: Mapping[str, object], mode: str) -> Self:
        """Read `compressor`, an object with a kind; raises PolicyError."""
        given = Options(options, ("compressor",), PLACE)
        inner = options.get("compressor", {"kind": "model_summary"})
        return cls(read_compressor(inner, mode, given.place("compressor")), mode)

    @property
    def needs_model(self) -> bool:
        """Whether the other compressor asks a model."""
        return needs_model(self.inner)

    @property
    def state(self) -> tuple[list[Item], str | None]:
        """The summary so far and the id of the last item that it covers."""
        with self._lock:
            return copies(self._summary), self._covered_until

    def restore(self, summary: Sequence[Item], covered_until: str | None) -> None:
        """Go on from a state that was kept elsewhere."""
        with self._lock:
            self._summary, self._covered_until = tuple(copies(summary)), covered_until

    def compress(self, items: Sequence[Item], deps: Deps) -> list[Item]:
        """The summary that covers all items."""
        with self._lock:
            pending = self._pending(items)
            if not pending:
                return copies(self._summary)
            made = self.inner.compress(copies([*self._summary, *pending]), deps)
            if not made:
                raise EmptySummary("The compressor gave nothing back.")
            self._summary, self._covered_until = tuple(copies(made)), pending[-1].id
            return made

    def _pending(self, items: Sequence[Item]) -> list[Item]:
        if not items:
            return []
        try:
            return pending_after(items, self._covered_until)
        except StaleHistory:
            if self.mode == "safe":
                raise
            return list(items)


COMPRESSOR = Incremental
