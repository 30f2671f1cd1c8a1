"""A session's turns as memory work reads them: their items, their size, and the digest by which a turn is known."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from contextlab.core.items import Item
from contextlab.store.items import items_between, session_items
from contextlab.store.models import WHOLE_SESSION, Session, TurnRecord

MOST_ITEMS = 4_000
"""Items of one turn, or of the end of a session, that are read: memory stays bounded, whatever the log holds."""


PAGE = 200
"""Turns that are looked up at a time."""
STRETCH = 20_000
"""Items whose hashes are looked up at a time."""

Place = tuple[int, int, int, datetime | None]
"""A turn's number, its first position, the position behind its last item, when it was."""


@dataclass(slots=True, frozen=True)
class TurnToRead:
    """A turn, or as number 0 the session. `raw_tokens` counts where all is counted, else it is an estimate."""

    number: int
    first: int
    end: int
    digest: str
    raw_tokens: int
    counted: bool
    happened_at: datetime | None = None

    @property
    def raw_source(self) -> str:
        """counted or estimated."""
        return "counted" if self.counted else "estimated"


def turns_to_read(session: Session, after: int = 0, page: int | None = None) -> Iterator[TurnToRead]:
    """The turns behind number `after`, in order.

    Read a page (PAGE turns, if not told otherwise) at a time: a query that is still open while others write keeps
    SQLite from ever writing here again.
    """
    size = page or PAGE
    rows = TurnRecord.objects.filter(session=session, revision=session.revision).order_by("number")
    while True:
        some = list(rows.filter(number__gt=after).values_list("number", "first_position", "ts")[: size + 1])
        if not some:
            return
        ends = [first for _, first, _ in some[1:]] + [session.items]
        found = [(number, first, end, at) for (number, first, at), end in zip(some, ends, strict=True)]
        yield from _turns(session, found[:size])
        if len(some) <= size:
            return
        after = some[size - 1][0]


def whole_session(session: Session) -> TurnToRead:
    """The session as one, from its first turn on."""
    first = TurnRecord.objects.filter(session=session, revision=session.revision).order_by("number").first()
    start = first.first_position if first else 0
    return _turns(session, [(WHOLE_SESSION, start, session.items, session.last_at)])[0]


def items_of(session: Session, turn: TurnToRead) -> list[Item]:
    """The items of a turn; of one with more than MOST_ITEMS its prompt and the newest."""
    if turn.end - turn.first <= MOST_ITEMS:
        return [item for _, item in items_between(session, turn.first, turn.end)]
    opening = [item for _, item in items_between(session, turn.first, turn.first + 1)]
    return opening + [item for _, item in items_between(session, turn.end - MOST_ITEMS, turn.end)]


def _turns(session: Session, places: list[Place]) -> list[TurnToRead]:
    """These turns, which must follow each other, from one pass over their items."""
    rows = _hashes(session, places[0][1], places[-1][2])
    row = next(rows, None)
    turns = []
    for number, first, end, at in places:
        digest, tokens, counted = hashlib.sha256(), 0, True
        while row is not None and row[0] < end:
            _, content_hash, known, estimate = row
            digest.update(content_hash)
            tokens += estimate if known is None else known
            counted = counted and known is not None
            row = next(rows, None)
        turns.append(TurnToRead(number, first, end, digest.hexdigest(), tokens, counted, at))
    return turns


def _hashes(
    session: Session, first: int, end: int
) -> Iterator[tuple[int, bytes | memoryview, int | None, int]]:
    """Position, hash, tokens and their estimate of each item of a stretch, in order."""
    records = session_items(session).order_by("position")
    for start in range(first, end, STRETCH):
        some = records.filter(position__gte=start, position__lt=min(end, start + STRETCH))
        yield from list(some.values_list("position", "content_hash", "tokens", "estimate"))
