"""A session's turns, steps, marks and compactions, kept equal in the database to what the assembler holds.

While a log is read what is new is written, and of turns and steps the last one again. Once the log ends steps that
became known better are compared from the first of them on, and a session that was stored before as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from contextlab.core.assembler import Assembler
from contextlab.core.events import Usage
from contextlab.services.ingest import rows
from contextlab.services.ingest.lean import from_place
from contextlab.services.ingest.settled import Settled
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
        self.settled = Settled()
        self._late: int | None = None
        """Place of the first step that may have been written and is known better now: compared at the end."""
        self._wrong: set[str | None] = set()
        self._turns = Table(TurnRecord, rows.TURN_COLUMNS)
        self._steps = Table(StepRecord, rows.STEP_COLUMNS)
        self._marks = Table(MarkRecord, rows.MARK_COLUMNS)
        self._compactions = Table(CompactionRecord, rows.COMPACTION_COLUMNS, by_number=False, theirs=1)

    def __getstate__(self) -> tuple[Any, ...]:
        """What `__setstate__` makes it from: the tables' names and columns are the same for all sessions."""
        tables = (self._turns, self._steps, self._marks, self._compactions)
        hashes = [table.hashes for table in tables]
        return (
            self._assembler,
            self._titles,
            self.stored_before,
            self.settled,
            self._late,
            self._wrong,
            hashes,
        )

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        assembler, titles, stored_before, settled, late, wrong, hashes = state
        self.__init__(assembler, titles)  # type: ignore[misc]
        self.stored_before, self.settled, self._late, self._wrong = stored_before, settled, late, wrong
        tables = (self._turns, self._steps, self._marks, self._compactions)
        for table, known in zip(tables, hashes, strict=True):
            table.hashes = known

    @property
    def wait_for_end(self) -> bool:
        """Whether the end of the log brings something to write even if it brings no event."""
        return self.stored_before or self._late is not None

    def load(self, owner: tuple[int, int]) -> None:
        """Learn what is stored."""
        self.stored_before = True
        for table in (self._turns, self._steps, self._marks, self._compactions):
            table.load(owner)

    def notice(self, usage: Usage) -> None:
        """Figures of a step; they may come when it is no longer the last one."""
        steps = self._assembler.timeline.steps
        if not steps or usage.step == steps[-1].id:
            return
        if (number := self._assembler.number_of(usage.step)) is not None:
            self._wait_for(number - 1)
            self.settled.changed(number - 1)

    def sync(self, owner: tuple[int, int], batch: Batch, complete: bool) -> bool:
        """Put what differs into the batch; True when there was any."""
        wrote = False
        for table, first, fresh in self._fresh(complete):
            wrote |= table.sync(owner, fresh, first, batch, complete)
        if not self.stored_before:
            for number in [number for number in self._titles if number < len(self._turns)]:
                del self._titles[number]
        if complete:
            self._late = None
        return wrote

    def learn(self) -> None:
        """Somebody else has stored all that the assembler holds."""
        for table, first, fresh in self._fresh(complete=True):
            table.learn(fresh, first)
        self._late = None

    def _fresh(self, complete: bool) -> Iterator[tuple[Table, int, Iterable[tuple[Any, ...]]]]:
        """Each table with the rows that may differ from those stored, and the place of the first."""
        timeline = self._assembler.timeline
        # A turn changes only while it is the last one.
        start = 0 if complete and self.stored_before else max(0, len(self._turns) - 1)
        turns = from_place(timeline.turns_list, start)
        yield self._turns, start, (rows.turn_row(turn, self._titles.get(turn.number, "")) for turn in turns)
        wrong = self._disproved()
        start = self._first_step(complete)
        steps = from_place(timeline.steps, start)
        yield self._steps, start, (rows.step_row(step, wrong) for step in steps)
        yield self._marks, 0, [rows.mark_row(number, mark) for number, mark in enumerate(timeline.marks, 1)]
        yield self._compactions, 0, [rows.compaction_row(row) for row in self._assembler.compactions]

    def _first_step(self, complete: bool) -> int:
        """A step changes while it is the last one, by late usage, and where its model's limit proves wrong."""
        start = max(0, len(self._steps) - 1)
        if not complete:
            return start
        return 0 if self.stored_before else min(start, start if self._late is None else self._late)

    def _disproved(self) -> set[str | None]:
        """Models whose table limit is wrong; steps of such a one that were written are to be compared again."""
        wrong = self.settled.disproved(self._assembler.timeline.steps)
        if not wrong <= self._wrong:
            self._wrong |= wrong
            if len(self._steps) > 1:
                self._wait_for(0)
        return self._wrong

    def _wait_for(self, place: int) -> None:
        self._late = place if self._late is None else min(self._late, place)
