"""Items of a session as the core has them: rows with their texts.

A memory of 10,000 items is read here at a stroke, so rows come as tuples, each segment is decoded once, and what few
items have (where they were injected from, images and files) is asked for only where a flag says that some do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import F, QuerySet

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
    records = ItemRecord.objects.filter(session=session, revision=session.revision).order_by("position")
    for start in range(first, end, CHUNK):
        yield from load_items(
            session, records.filter(position__gte=start, position__lt=min(end, start + CHUNK))
        )


def load_items(session: Session, records: QuerySet[ItemRecord]) -> list[tuple[int, Item]]:
    """Items of these rows of the session with their places, texts included, in the rows' order.

    A text whose segment is gone (the session was just rewritten) is empty.
    """
    rows = list(records.values_list(*_COLUMNS))
    segments = Segments(session.pk, session.revision, {row[9] for row in rows if row[11]})
    rare = _rare(records) if any(row[8] & _RARE for row in rows) else {}
    plain = (None, ())
    made = []
    for at, name, kind, entry, tool, call_id, chars, tokens, flags, segment, offset, length in rows:
        injected, media = rare.get(at, plain) if flags & _RARE else plain
        text = segments.text(segment, offset, length) if length else ""
        item = Item(
            name, KINDS[kind], text, str(entry), tool or None, call_id or None, chars, tokens,
            bool(flags & FLAG_PINNED), injected, bool(flags & FLAG_OPENS_TURN), media,
            not flags & FLAG_NO_RESULT_NEEDED, True if flags & FLAG_ERROR else None,
        )  # fmt: skip
        made.append((at, item))
    return made


ITEM_COLUMNS = ("position",)


def items_of_rows(session: Session, rows: Sequence[dict[str, Any]]) -> list[Item]:
    """Items at the positions of these rows (ITEM_COLUMNS), in their order."""
    places = [row["position"] for row in rows]
    records = ItemRecord.objects.filter(session=session, revision=session.revision, position__in=places)
    found = dict(load_items(session, records))
    return [found[at] for at in places if at in found]


def _rare(records: QuerySet[ItemRecord]) -> Rare:
    flagged = records.annotate(rare=F("flags").bitand(_RARE)).filter(rare__gt=0)
    return {
        at: (_INJECTED.get(injected, Injected.CONTEXT) if injected else None, _media(media or ()))
        for at, injected, media in flagged.values_list("position", "injected", "media")
    }


def _media(stored: Sequence[dict[str, Any]]) -> tuple[Media, ...]:
    return tuple(Media(str(one.get("type")), one.get("mime"), one.get("size")) for one in stored)
