"""Items of a session as the core has them: rows with their texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from contextlab.core.items import KINDS, Injected, Item, Media
from contextlab.core.timeline import FLAG_ERROR, FLAG_NO_RESULT_NEEDED, FLAG_OPENS_TURN, FLAG_PINNED
from contextlab.store.models import ItemRecord, Session
from contextlab.store.texts import read_texts

ITEM_COLUMNS = (
    "position", "native_id", "kind", "entry", "tool", "call_id", "flags", "injected", "media", "pair", "chars",
    "tokens", "text_segment", "text_offset", "text_length",
)  # fmt: skip
CHUNK = 500
_INJECTED = {str(name): name for name in Injected}


def items_between(session: Session, first: int, end: int) -> Iterator[tuple[int, Item]]:
    """Items at the positions first..end-1 with their places, read a stretch at a time."""
    records = ItemRecord.objects.filter(session=session, revision=session.revision).order_by("position")
    for start in range(first, end, CHUNK):
        some = records.filter(position__gte=start, position__lt=min(end, start + CHUNK))
        rows = list(some.values(*ITEM_COLUMNS))
        yield from zip((row["position"] for row in rows), items_of_rows(session, rows), strict=True)


def items_of_rows(session: Session, rows: Sequence[dict[str, Any]]) -> list[Item]:
    """Items of these rows (ITEM_COLUMNS), texts included."""
    refs = [(row["position"], row["text_segment"], row["text_offset"], row["text_length"]) for row in rows]
    texts = read_texts(session.pk, session.revision, refs)
    return [_item(row, texts.get(row["position"], "")) for row in rows]


def _item(row: dict[str, Any], text: str) -> Item:
    flags = row["flags"]
    return Item(
        id=row["native_id"],
        kind=KINDS[row["kind"]],
        text=text,
        entry=str(row["entry"]),
        tool=row["tool"] or None,
        call_id=row["call_id"] or None,
        chars=row["chars"],
        tokens=row["tokens"],
        pinned=bool(flags & FLAG_PINNED),
        injected=_INJECTED.get(row["injected"], Injected.CONTEXT) if row["injected"] else None,
        opens_turn=bool(flags & FLAG_OPENS_TURN),
        media=_media(row["media"]) if row["media"] else (),
        needs_result=not flags & FLAG_NO_RESULT_NEEDED,
        error=True if flags & FLAG_ERROR else None,
    )


def _media(stored: Sequence[dict[str, Any]]) -> tuple[Media, ...]:
    return tuple(Media(str(one.get("type")), one.get("mime"), one.get("size")) for one in stored)
