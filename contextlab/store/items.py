"""Items of a session as the core has them: rows with their texts.

A memory of 10,000 items is read here at a stroke: SQLite writes the rows into one JSON text, which is read in half the
time that as many rows take; each segment of texts is decoded once; and what few items have (where they were injected
from, images and files) is asked for only where a flag says that some do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from django.db import connection
from django.db.models import Aggregate, F, Func, QuerySet, TextField

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

Rare = dict[int, tuple[Injected | None, tuple[Media, ...]]]
"""By position: where an item was injected from, its images and files."""


def items_between(session: Session, first: int, end: int) -> Iterator[tuple[int, Item]]:
    """Items at the positions first..end-1 with their places, read a stretch at a time."""
    records = ItemRecord.objects.filter(session=session, revision=session.revision)
    for start in range(first, end, CHUNK):
        yield from load_items(
            session, records.filter(position__gte=start, position__lt=min(end, start + CHUNK))
        )


def load_items(session: Session, records: QuerySet[ItemRecord]) -> list[tuple[int, Item]]:
    """Items of these rows of the session with their places, texts included, in the order of their places.

    A text whose segment is gone (the session was just rewritten) is empty.
    """
    rows = _rows(records)
    segments = Segments(session.pk, session.revision, {row[9] for row in rows if row[11]})
    rare = _rare(records) if any(row[8] & _RARE for row in rows) else {}
    plain = (None, ())
    made = []
    for at, name, kind, entry, tool, call_id, chars, tokens, flags, segment, offset, length in rows:
        text = segments.text(segment, offset, length) if length else ""
        item = Item(name, KINDS[kind], text, str(entry), tool or None, call_id or None, chars, tokens)
        if flags:
            item.injected, item.media = rare.get(at, plain) if flags & _RARE else plain
            item.pinned, item.opens_turn = flags & FLAG_PINNED != 0, flags & FLAG_OPENS_TURN != 0
            item.needs_result = flags & FLAG_NO_RESULT_NEEDED == 0
            item.error = True if flags & FLAG_ERROR else None
        made.append((at, item))
    return made


def _rows(records: QuerySet[ItemRecord]) -> Sequence[Sequence[Any]]:
    """The _COLUMNS of these rows, in the order of their places."""
    if connection.vendor != "sqlite":
        return list(records.order_by("position").values_list(*_COLUMNS))
    row = Func(*_COLUMNS, function="json_array", output_field=TextField())
    told = records.order_by().aggregate(rows=_JsonRows(row))["rows"]
    rows: list[list[Any]] = msgspec.json.decode(told)
    rows.sort(key=_place)
    return rows


class _JsonRows(Aggregate):
    function = "json_group_array"
    output_field = TextField()


def _place(row: list[Any]) -> int:
    place: int = row[0]
    return place


def _rare(records: QuerySet[ItemRecord]) -> Rare:
    flagged = records.annotate(rare=F("flags").bitand(_RARE)).filter(rare__gt=0)
    return {
        at: (_INJECTED.get(injected, Injected.CONTEXT) if injected else None, _media(media or ()))
        for at, injected, media in flagged.values_list("position", "injected", "media")
    }


def _media(stored: Sequence[dict[str, Any]]) -> tuple[Media, ...]:
    return tuple(Media(str(one.get("type")), one.get("mime"), one.get("size")) for one in stored)
