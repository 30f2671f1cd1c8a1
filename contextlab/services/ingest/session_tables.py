"""A session's turns, steps, marks and compactions, kept equal in the database to what the assembler holds.

While a log is read what is new is written, and of turns and steps the last one again; a session that was stored before,
and steps that became known better behind the last one, are compared as a whole once the log ends.
"""

from __future__ import annotations

from typing import Any

from contextlab.core.assembler import Assembler
from contextlab.core.events import Usage
from contextlab.services.ingest import rows
from contextlab.services.ingest.lean import from_place
from contextlab.services.ingest.tables import Table
from contextlab.store.batch import Batch
from contextlab.store.models import CompactionRecord, MarkRecord, StepRecord, TurnRecord


class SessionTables:
    """The four tables of one session and revision."""

    def __init__(self, assembler: Assembler, titles: dict[int, str]) -> None:
        """`titles` of turns by number are read here, and those of turns that are written for good removed."""
        self._assembler, self._titles = assembler, titles
        self.stored_before = False
        """There were rows before this reading: at the end all are compared."""
        self._late_usage = False
        """Steps that may have been written are known better now: at the end all are compared."""
        self._wrong: set[str | None] = set()
        self._turns = Table(TurnRecord, rows.TURN_COLUMNS)
        self._steps = Table(StepRecord, rows.STEP_COLUMNS)
        self._marks = Table(MarkRecord, rows.MARK_COLUMNS)
        self._compactions = Table(CompactionRecord, rows.COMPACTION_COLUMNS, by_number=False, theirs=1)

    def __getstate__(self) -> tuple[Any, ...]:
        """What `__setstate__` makes it from: the tables' names and columns are the same for all sessions."""
        tables = (self._turns, self._steps, self._marks, self._compactions)
        hashes = [table.hashes for table in tables]
        return self._assembler, self._titles, self.stored_before, self._late_usage, self._wrong, hashes

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        assembler, titles, stored_before, late_usage, wrong, hashes = state
        self.__init__(assembler, titles)  # type: ignore[misc]
        self.stored_before, self._late_usage, self._wrong = stored_before, late_usage, wrong
        tables = (self._turns, self._steps, self._marks, self._compactions)
        for table, known in zip(tables, hashes, strict=True):
            table.hashes = known

    @property
    def wait_for_end(self) -> bool:
        """Whether the end of the log brings something to write even if it brings no event."""
        return self.stored_before or self._late_usage

    def load(self, owner: tuple[int, int]) -> None:
        """Learn what is stored."""
        self.stored_before = True
        for table in (self._turns, self._steps, self._marks, self._compactions):
            table.load(owner)

    def notice(self, usage: Usage) -> None:
        """Figures of a step; they may come when it is no longer the last one."""
        steps = self._assembler.timeline.steps
        if steps and usage.step != steps[-1].id:
            self._late_usage = True

    def sync(self, owner: tuple[int, int], batch: Batch, complete: bool) -> bool:
        """Put what differs into the batch; True when there was any."""
        wrote = self._sync_turns(owner, batch, complete)
        wrote |= self._sync_steps(owner, batch, complete)
        marks = [rows.mark_row(number, mark) for number, mark in enumerate(self._assembler.timeline.marks, 1)]
        wrote |= self._marks.sync(owner, marks, 0, batch, complete)
        compactions = [rows.compaction_row(row) for row in self._assembler.compactions]
        wrote |= self._compactions.sync(owner, compactions, 0, batch, complete)
        return wrote

    def _sync_turns(self, owner: tuple[int, int], batch: Batch, complete: bool) -> bool:
        """A turn changes only while it is the last one."""
        start = 0 if complete and self.stored_before else max(0, len(self._turns) - 1)
        turns = (
            rows.turn_row(turn, self._titles.get(turn.number, ""))
            for turn in from_place(self._assembler.timeline.turns_list, start)
        )
        wrote = self._turns.sync(owner, turns, start, batch, complete)
        if not self.stored_before:
            for number in [number for number in self._titles if number < len(self._turns)]:
                del self._titles[number]
        return wrote

    def _sync_steps(self, owner: tuple[int, int], batch: Batch, complete: bool) -> bool:
        """A step changes while it is the last one, by late usage, and where its model's limit proves wrong."""
        steps = self._assembler.timeline.steps
        everything = complete and self.wait_for_end
        start = 0 if everything else max(0, len(self._steps) - 1)
        wrong = rows.disproved_models(from_place(steps, start))
        if not wrong <= self._wrong:
            self._wrong |= wrong
            self._late_usage = start > 0 or self._late_usage
            start = 0 if complete else start
        wrong = self._wrong
        made = (rows.step_row(step, wrong) for step in from_place(steps, start))
        return self._steps.sync(owner, made, start, batch, complete)
