"""What a session's own row and its turns will say, noticed while its items go by."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from contextlab.core.items import Kind
from contextlab.core.timeline import ItemRow
from contextlab.services.ingest import counters, rows
from contextlab.services.ingest.moments import moment


@dataclass(slots=True)
class Noticed:
    """First prompt, first item, times; titles of the turns that are not written for good yet."""

    titles: dict[int, str] = field(default_factory=dict)
    first_prompt: str = ""
    first_item: str = ""
    first_time: datetime | None = None
    last_time: datetime | None = None

    def take(self, row: ItemRow) -> None:
        """The next item."""
        event = row.event
        if event.opens_turn and row.turn not in self.titles:
            self.titles[row.turn] = rows.preview(event.text)
            self.first_prompt = self.first_prompt or rows.preview(event.text, counters.TITLE)
        if not self.first_item and event.kind != Kind.UI:
            self.first_item = rows.short_id(event.id)
        if event.ts is not None and (at := moment(event.ts)) is not None:
            self.first_time = self.first_time or at
            if self.last_time is None or at > self.last_time:
                self.last_time = at
