"""What is held of one session while its log is read: what was made of its events, and what its rows will say."""

from __future__ import annotations

from typing import Any

from contextlab.core.events import Event, SessionStart, Usage
from contextlab.core.timeline import ItemRow
from contextlab.services.ingest import counters, rows
from contextlab.services.ingest.lean import lean_assembler
from contextlab.services.ingest.noticed import Noticed
from contextlab.services.ingest.segments import TextPacker
from contextlab.services.ingest.session_tables import SessionTables

SUMS_WHILE_READING = 5000
"""Up to so many steps the sums of usage are kept up to date while a file is read; beyond, they wait for its end."""


class Held:
    """Of one session; can be pickled."""

    __slots__ = ("assembler", "noticed", "tables", "texts")

    def __init__(self, start: SessionStart) -> None:
        """Nothing but how the session begins."""
        self.assembler = lean_assembler(start)
        self.texts = TextPacker()
        self.noticed = Noticed()
        self.tables = SessionTables(self.assembler, self.noticed.titles)

    @property
    def worth_storing(self) -> bool:
        """Whether there is more than what was shown on a screen only."""
        return bool(self.noticed.first_item or self.assembler.timeline.steps)

    @property
    def waits_for_end(self) -> bool:
        """Whether the end of the log brings something to write even if it brings no event."""
        return self.tables.wait_for_end or len(self.assembler.timeline.steps) > SUMS_WHILE_READING

    def sizes(self) -> tuple[int, int, int, int]:
        """Items, steps, turns, compactions (micro-compactions among them)."""
        timeline = self.assembler.timeline
        return (
            len(timeline), len(timeline.steps), len(timeline.turns_list), len(self.assembler.compactions),
        )  # fmt: skip

    def take(self, event: Event) -> ItemRow | None:
        """Take in one event; the item that came of it, if any."""
        row = self.assembler.feed(event)
        if row is not None:
            self.noticed.take(row)
        elif type(event) is Usage:
            self.tables.notice(event)
        return row

    def fields(self, complete: bool, shared_steps: int) -> dict[str, Any]:
        """What the session's row should say; usage is that of the steps behind those shared with another session."""
        steps: Any = self.assembler.timeline.steps
        meta, noticed = self.assembler.meta, self.noticed
        fields = {
            **counters.counted(self.assembler),
            **counters.described(meta, noticed.first_prompt, steps[-1].model if steps else None),
            **counters.dated(meta, noticed.first_time, noticed.last_time),
            "first_item": noticed.first_item,
        }
        # A parent's link may have told these, too: do not take them away.
        if meta.agent:
            fields["agent"] = meta.agent[:120]
        if meta.parent_call_id:
            fields["parent_call_id"] = rows.short_id(meta.parent_call_id)
        if complete or len(steps) <= SUMS_WHILE_READING:
            fields |= self.tables.settled.usage(steps, shared_steps)
        return fields
