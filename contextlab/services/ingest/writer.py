"""One session of a file on its way into rows: what is stored already stays, what differs is written.

A session that is new, or whose log only grew, is written in place: the stored items are compared with those read, one
after the other, and what lies behind the first difference is replaced. A session whose log changed otherwise is
written beside, under the next revision, and nobody sees it before the file is read to its end.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from enum import Enum
from typing import Any

from contextlab.core.events import Event, ItemEvent, SessionStart
from contextlab.core.timeline import Timeline
from contextlab.importers.packing import Packer
from contextlab.services.ingest import rows
from contextlab.services.ingest.held import Held
from contextlab.services.ingest.keeper import Keeper
from contextlab.services.ingest.lean import forget_ids
from contextlab.services.ingest.links import write_links
from contextlab.services.ingest.segments import TextPacker
from contextlab.services.ingest.stored import StoredItems
from contextlab.services.ingest.waiting import Waiting
from contextlab.store.batch import Batch
from contextlab.store.bulk import update_changed
from contextlab.store.models import (
    CompactionRecord,
    ItemRecord,
    LogFile,
    MarkRecord,
    Session,
    StepRecord,
    TextSegment,
    TurnRecord,
    View,
)

MOST_REPLACED = 2000
"""Stored items that may be replaced in place. More are written beside: a reader never sees half a session."""

ROW_MODELS: tuple[Any, ...] = (ItemRecord, TextSegment, TurnRecord, StepRecord, MarkRecord, CompactionRecord)


class Aim(Enum):
    """Where a session's rows go."""

    IN_PLACE = "in place"
    BESIDE = "beside"
    NOWHERE = "nowhere"
    """Another file holds more of this session."""


class BesideNeeded(Exception):
    """Too much of a stored session differs to replace it in place."""

    def __init__(self, native_id: str) -> None:
        super().__init__(native_id)
        self.native_id = native_id


class SessionWriter:
    """Feeds the events of one session to its assembler and collects the rows to write.

    A new session (a subagent mostly) that brought nothing since the last batch is at rest: what was made of its events
    is packed until somebody needs it.
    """

    __slots__ = (
        "_counted_before", "_counted_to", "_counts", "_cut", "_fresh", "_keeper", "_made", "_revision",
        "_stored", "_waiting", "_written", "aim", "changed", "file", "format", "native_id", "new_items",
    )  # fmt: skip

    def __init__(
        self,
        file: LogFile,
        format_: str,
        start: SessionStart,
        native_id: str,
        packer: Packer,
        counts: bool = False,
    ) -> None:
        """With `counts` items get their exact counts with their rows: `collect` is given them."""
        self._keeper = Keeper(file, start, packer)
        self.file, self.format, self.native_id = file, format_, native_id
        self.aim = Aim.IN_PLACE
        self.changed = False
        """Whether anything of the session was written."""
        self.new_items = 0
        self._counts = counts
        self._counted_before = True
        """Whether all items that were stored before have exact counts."""
        self._counted_to = 0
        self._revision = 1
        self._stored: StoredItems | None = None
        self._cut: int | None = None
        self._waiting = Waiting()
        self._made = False
        """The session's row was made by this reading."""
        self._fresh = False
        """It was made just now and says all that is known."""
        self._written = False
        """All that was taken in so far is in rows as it would be at the log's end."""

    def resume(self, session: Session, aim: Aim) -> None:
        """The session is known: go on with it in place, or write its next revision."""
        self._keeper.row, self.aim = session, aim
        self._revision = session.revision
        if aim is Aim.BESIDE:
            self._revision += 1
            # A reading that was cut off may have left some.
            for model in ROW_MODELS:
                model.objects.filter(session=session).exclude(revision=session.revision).delete()
        elif aim is Aim.IN_PLACE:
            self._stored = StoredItems(session)
            self._counted_before = session.counted
            self.held.tables.load((session.pk, session.revision))

    def learn(self, event: Event) -> None:
        """Take in an event that somebody else has written already."""
        self.held.take(event)

    def go_on(self, session: Session) -> bool:
        """All that was taken in so far is in rows: go on behind it, in place. False where the rows say otherwise."""
        held = self.held
        stored = session.items, session.steps, session.turns, session.compactions + session.micro_compactions
        if self.session is None or (self.session.pk, self._revision) != (session.pk, session.revision):
            return False
        if held.sizes() != stored:
            return False
        held.tables.stored_before = False
        held.tables.learn()
        held.texts = TextPacker()
        self._keeper.row, self.aim, self.changed, self.new_items = session, Aim.IN_PLACE, False, 0
        self._stored, self._cut = StoredItems.passed(session), None
        self._counted_before, self._counted_to = session.counted, 0
        self._made, self._written = False, True
        return True

    @property
    def session(self) -> Session | None:
        """The session's row, once there is one."""
        return self._keeper.row

    @property
    def key(self) -> int | None:
        """Primary key of the session's row, once there is one."""
        return self._keeper.key

    @property
    def pending(self) -> int:
        """Items that wait to be written."""
        return len(self._waiting)

    @property
    def is_new(self) -> bool:
        """Whether this reading made the session's row."""
        return self._made

    @property
    def counted_to(self) -> int:
        """Items below this position are known to have exact counts."""
        everything = self._counts and self._counted_before
        return self.session.items if everything and self.session is not None else self._counted_to

    @property
    def uncounted(self) -> dict[bytes, tuple[str, bytes]]:
        """What the rows that wait want counted, by its hash: the name of a call or nothing, and the text."""
        return self._waiting.uncounted

    @property
    def held(self) -> Held:
        """What was made of the events."""
        return self._keeper.held

    def feed(self, event: Event) -> bool:
        """Take in one event; True when an item came of it that has to be written."""
        if type(event) is ItemEvent and event.tool is not None:
            # One name for thousands of calls.
            event.tool = sys.intern(event.tool)
        held = self.held
        row = held.take(event)
        self._written = False
        if row is None or self.aim is Aim.NOWHERE:
            return False
        data, digest = rows.content(row.event)
        same = rows.same_values(row, digest)
        if self._stored is not None:
            if self._stored.matches(same):
                return False
            self._diverge(row.position)
        estimate = held.assembler.timeline.estimates[row.position]
        self._waiting.add(row, same, estimate, held.texts.add(data), len(data))
        if self._counts:
            self._waiting.uncounted[digest] = rows.counted_part(row.event), data
        self.new_items += 1
        return True

    def collect(self, batch: Batch, complete: bool, counts: Mapping[bytes, int]) -> None:
        """Put what is to be written into the batch; a session that has no row yet has nothing to write.

        `counts` are tokens by hash of what is counted; items whose hash is not among them stay without a count.
        """
        session = self.session if self._is_due(complete) else None
        if session is None:
            if self._written and not complete and self._made:
                self._keeper.rest()
            return
        if complete:
            self._end_of_stored()
        owner, held = (session.pk, self._revision), self.held
        self._remove_tail(owner)
        self.changed = self.changed or bool(self._waiting)
        batch.add(TextSegment, rows.TEXT_COLUMNS, [owner + packed for packed in held.texts.take()])
        batch.add(ItemRecord, rows.ITEM_COLUMNS, self._waiting.take(owner, counts, held.assembler.timeline))
        self.changed |= held.tables.sync(owner, batch, complete)
        if self._fresh:
            self._fresh = False
        elif self.aim is Aim.IN_PLACE:
            batch.changes.note(session, self._fields_now(complete))
        self._written = complete or not held.waits_for_end

    def begin(self, complete: bool) -> Session | None:
        """The session's row where it has to be made before the next `collect`; the caller stores it."""
        if self.key is not None or not self._is_due(complete):
            return None
        self._made = self._fresh = True
        self._keeper.row = Session(
            workspace_id=self.file.workspace_id, file=self.file, format=self.format, native_id=self.native_id,
            sample=self.file.origin == LogFile.Origin.SAMPLE, **self._fields(complete),
        )  # fmt: skip
        return self.session

    def _is_due(self, complete: bool) -> bool:
        """Whether there is something to write now."""
        due = not self._written if complete else bool(self._waiting)
        return due and self.aim is not Aim.NOWHERE and self.held.worth_storing

    def swap(self) -> None:
        """The file is read: the new revision becomes the session, old rows go; links are written."""
        session = self.session if self._keeper.is_awake else None
        if session is None or self.aim is Aim.NOWHERE:
            return
        if self.aim is Aim.BESIDE:
            update_changed(
                session, self._fields_now(True) | {"revision": self._revision, "file_id": self.file.pk}
            )
            self.changed = True
            for model in ROW_MODELS:
                model.objects.filter(session=session).exclude(revision=self._revision).delete()
        look = self.aim is Aim.BESIDE or self.held.tables.stored_before
        self.changed |= write_links(session, self.held.assembler.links, look)
        if self.changed and not self._made:
            View.objects.filter(session=session).update(stale=True)

    def finish(self) -> None:
        """The file is read: ids are not looked up any more."""
        if self._keeper.is_awake:
            forget_ids(self.held.assembler)

    def timeline(self) -> Timeline:
        """The session's timeline; that of a session at rest is a copy."""
        return self._keeper.timeline()

    # While reading ----------------------------------------------------------------------------------------

    def _diverge(self, position: int) -> None:
        """From this item on what is stored differs from the log and is replaced."""
        stored = self._stored
        if stored is None:
            return
        self._cut_off(stored, position)
        self.held.texts.go_on(stored.last_text())

    def _end_of_stored(self) -> None:
        """The log ended: items that are stored beyond it are none of it."""
        if self._stored is not None:
            self._cut_off(self._stored, len(self.held.assembler.timeline))

    def _cut_off(self, stored: StoredItems, position: int) -> None:
        self._stored = None
        if self.session is not None and self.session.counted:
            self._counted_to = position
        if stored.count - position > MOST_REPLACED:
            raise BesideNeeded(self.native_id)
        if stored.count > position:
            self._cut = position
            self.changed = True

    # Writing ----------------------------------------------------------------------------------------------

    def _remove_tail(self, owner: tuple[int, int]) -> None:
        """Delete what is replaced: items behind the cut, and text segments that are written anew."""
        session_id, revision = owner
        if self._cut is not None:
            ItemRecord.objects.filter(
                session_id=session_id, revision=revision, position__gte=self._cut
            ).delete()
            self._cut = None
        texts = self.held.texts
        if (first := texts.rewritten_from) is not None:
            TextSegment.objects.filter(session_id=session_id, revision=revision, number__gte=first).delete()
            texts.rewritten_from = None

    def _fields_now(self, complete: bool) -> dict[str, Any]:
        """What the row of a session that has one should say; without times in the log it keeps its place in lists."""
        fields = self._fields(complete)
        if self.held.noticed.last_time is None:
            del fields["sort_at"]
        return fields

    def _fields(self, complete: bool) -> dict[str, Any]:
        fields = self.held.fields(complete, self.session.shared_steps if self.session else 0)
        if self.new_items:
            fields["counted"] = self._counts and self._counted_before
        return fields
