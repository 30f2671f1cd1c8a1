"""A session's turns as memory work reads them: their items, their size, and the digest by which a turn is known."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from contextlab.core.items import Item
from contextlab.store.items import items_between
from contextlab.store.models import WHOLE_SESSION, ItemRecord, Session, TurnRecord

MOST_ITEMS = 4_000
"""Items of one turn, or of the end of a session, that are read: memory stays bounded, whatever the log holds."""


PAGE = 200
"""Turns that are looked up at a time."""


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


def turns_to_read(session: Session, after: int = 0) -> Iterator[TurnToRead]:
    """The turns behind number `after`, in order.

    Read a page at a time: a query that is still open while others write keeps SQLite from ever writing here again.
    """
    rows = TurnRecord.objects.filter(session=session, revision=session.revision).order_by("number")
    while True:
        some = list(rows.filter(number__gt=after).values_list("number", "first_position", "ts")[: PAGE + 1])
        if not some:
            return
        ends = [first for _, first, _ in some[1:]] + [session.items]
        for (number, first, at), end in list(zip(some, ends, strict=True))[:PAGE]:
            yield _turn(session, number, first, end, at)
        if len(some) <= PAGE:
            return
        after = some[PAGE - 1][0]


def whole_session(session: Session) -> TurnToRead:
    """The session as one, from its first turn on."""
    first = TurnRecord.objects.filter(session=session, revision=session.revision).order_by("number").first()
    start = first.first_position if first else 0
    return _turn(session, WHOLE_SESSION, start, session.items, session.last_at)


def items_of(session: Session, turn: TurnToRead) -> list[Item]:
    """The items of a turn; of one with more than MOST_ITEMS its prompt and the newest."""
    if turn.end - turn.first <= MOST_ITEMS:
        return [item for _, item in items_between(session, turn.first, turn.end)]
    opening = [item for _, item in items_between(session, turn.first, turn.first + 1)]
    return opening + [item for _, item in items_between(session, turn.end - MOST_ITEMS, turn.end)]


def _turn(session: Session, number: int, first: int, end: int, at: datetime | None) -> TurnToRead:
    rows = ItemRecord.objects.filter(
        session=session, revision=session.revision, position__gte=first, position__lt=end
    )
    digest, tokens, counted = hashlib.sha256(), 0, True
    columns = rows.order_by("position").values_list("content_hash", "tokens", "estimate")
    for content_hash, known, estimate in columns:
        digest.update(bytes(content_hash))
        tokens += estimate if known is None else known
        counted = counted and known is not None
    return TurnToRead(number, first, end, digest.hexdigest(), tokens, counted, at)
