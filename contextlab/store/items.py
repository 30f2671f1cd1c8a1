"""Items of a session as the core has them: rows with their texts.

A memory of 10,000 items is read here at a stroke, column by column: SQLite writes each into a JSON text, which is read
in half the time that as many rows take; and what few items have (where they were injected from, images and files) is
asked for only where a flag says that some do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress
from typing import Any

import msgspec
from django.db import connection
from django.db.models import Aggregate, F, QuerySet, TextField

from contextlab.core.items import KINDS, Injected, Item, Media
from contextlab.core.timeline import (
    FLAG_ERROR,
    FLAG_INJECTED,
    FLAG_MEDIA,
    FLAG_NO_RESULT_NEEDED,
    FLAG_OPENS_TURN,
    FLAG_PINNED,
)
from contextlab.store.models import ItemRecord, Session
from contextlab.store.texts import Segments

_COLUMNS = (
    "position", "native_id", "kind", "entry", "tool", "call_id", "chars", "tokens", "flags", "text_segment",
    "text_offset", "text_length",
)  # fmt: skip
_RARE = FLAG_INJECTED | FLAG_MEDIA
CHUNK = 500
_INJECTED = {str(name): name for name in Injected}

Columns = Sequence[Sequence[Any]]
"""The values of each of _COLUMNS, row by row."""
Rare = dict[int, tuple[Injected | None, tuple[Media, ...]]]
"""By position: where an item was injected from, its images and files."""


def session_items(session: Session) -> QuerySet[ItemRecord]:
    """The rows of a session's items as it is now."""
    return ItemRecord.objects.filter(session=session, revision=session.revision)


def items_between(session: Session, first: int, end: int) -> Iterator[tuple[int, Item]]:
    """Items at the positions first..end-1 with their places, read a stretch at a time."""
    records = session_items(session)
    for start in range(first, end, CHUNK):
        yield from load_items(
            session, records.filter(position__gte=start, position__lt=min(end, start + CHUNK))
        )


def load_items(session: Session, records: QuerySet[ItemRecord]) -> list[tuple[int, Item]]:
    """Items of these rows of the session with their places, texts included, in the order of their places.

    A text whose segment is gone (the session was just rewritten) is empty.
    """
    places, names, kinds, entries, tools, calls, chars, tokens, flags, *where = _columns(records)
    numbers, _, lengths = where
    segments = Segments(session.pk, session.revision, set(compress(numbers, lengths)))
    items = list(
        map(
            Item, names, map(KINDS.__getitem__, kinds), segments.texts(*where), map(str, entries),
            [tool or None for tool in tools], [call or None for call in calls], chars, tokens,
        )
    )  # fmt: skip
    marked = [index for index, flag in enumerate(flags) if flag]
    rare = _rare(records) if any(flags[index] & _RARE for index in marked) else {}
    for index in marked:
        _mark(items[index], flags[index], rare.get(places[index]))
    return list(zip(places, items, strict=True))


def _mark(item: Item, flags: int, rare: tuple[Injected | None, tuple[Media, ...]] | None) -> None:
    if rare is not None and flags & _RARE:
        item.injected, item.media = rare
    item.pinned, item.opens_turn = flags & FLAG_PINNED != 0, flags & FLAG_OPENS_TURN != 0
    item.needs_result = flags & FLAG_NO_RESULT_NEEDED == 0
    item.error = True if flags & FLAG_ERROR else None


def _columns(records: QuerySet[ItemRecord]) -> Columns:
    """The _COLUMNS of these rows, in the order of their places."""
    if connection.vendor != "sqlite":
        rows = list(records.order_by("position").values_list(*_COLUMNS))
        return list(zip(*rows, strict=True)) if rows else [()] * len(_COLUMNS)
    told = records.order_by().aggregate(**{f"all_{name}": _JsonColumn(name) for name in _COLUMNS})
    columns: list[list[Any]] = [msgspec.json.decode(column or "[]") for column in told.values()]
    places = columns[0]
    # They come as they are found, by the index of positions mostly.
    order = sorted(range(len(places)), key=places.__getitem__)
    if order == list(range(len(places))):
        return columns
    return [[column[index] for index in order] for column in columns]


class _JsonColumn(Aggregate):
    function = "json_group_array"
    output_field = TextField()


def _rare(records: QuerySet[ItemRecord]) -> Rare:
    flagged = records.annotate(rare=F("flags").bitand(_RARE)).filter(rare__gt=0)
    return {
        at: (_INJECTED.get(injected, Injected.CONTEXT) if injected else None, _media(media or ()))
        for at, injected, media in flagged.values_list("position", "injected", "media")
    }


def _media(stored: Sequence[dict[str, Any]]) -> tuple[Media, ...]:
    return tuple(Media(str(one.get("type")), one.get("mime"), one.get("size")) for one in stored)
