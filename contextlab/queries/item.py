"""One item: what the log says of it, its life in every view, its other half, its text and its record as logged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from contextlab.adapters.originals import read_original
from contextlab.core.items import VERDICTS, Kind, Verdict
from contextlab.queries.fates import Fate, covering, is_left_out
from contextlab.queries.items import ContextRow, ItemRow, read_items
from contextlab.store.items import session_items
from contextlab.store.models import LinkRecord, LogFile, Session, SpanRecord, View
from contextlab.store.texts import TEXT_COLUMNS, read_raw, read_texts

OPEN_BYTES = 200 * 1024
"""Texts up to this size open inside a page, larger ones on request and by download."""
SHOWN_BYTES = 1024 * 1024
"""What a page shows of a text at most, even on request."""
ORIGINAL_BYTES = 64 * 1024 * 1024
BANDS_READ = 400


@dataclass(frozen=True, slots=True)
class Band:
    """A stretch of an item's life: steps [first, end), end None = to the last step of the view."""

    verdict: Verdict
    reason: str
    first: int
    end: int | None

    @property
    def left_out(self) -> bool:
        """Whether nothing of the item stood in the context."""
        return is_left_out(self.verdict, self.reason)


@dataclass(frozen=True, slots=True)
class Lifeline:
    """An item's life in one view. `bands` is empty where it never came before a step."""

    view: str
    steps: int
    bands: Sequence[Band]
    complete: bool
    """False when it changed more often than a page shows."""


@dataclass(frozen=True, slots=True)
class Child:
    """The session that a call started; `uid` is None while it has not been imported."""

    native_id: str
    agent: str
    uid: UUID | None
    title: str


@dataclass(frozen=True, slots=True)
class ItemPage:
    """One item of a session."""

    item: ItemRow
    line: int | None
    raw_length: int | None
    call: ItemRow | None
    """For a result its call."""
    results: Sequence[ItemRow]
    """For a call its results (one, or several where an id was used again)."""
    children: Sequence[Child]
    lifelines: Sequence[Lifeline]


def item_page(session: Session, position: int) -> ItemPage | None:
    """An item by its position; None when the session has no such item."""
    item = read_items(session.pk, session.revision, [position]).get(position)
    if item is None:
        return None
    records = session_items(session)
    line, raw_length = records.values_list("line", "raw_length").get(position=position)
    call = (
        read_items(session.pk, session.revision, [item.pair]).get(item.pair)
        if item.pair is not None
        else None
    )
    results = _results(session, item) if item.kind == Kind.TOOL_CALL else []
    views = View.objects.filter(session=session, revision=session.revision).order_by("kind", "name")
    lines = [lifeline(pk, name, steps, item) for pk, name, steps in views.values_list("pk", "name", "steps")]
    return ItemPage(item, line, raw_length, call, results, _children(session, item), _recorded_first(lines))


def lifeline(view_id: int, name: str, steps: int, item: ItemRow) -> Lifeline:
    """The life of an item in one view, `kept` where no span says otherwise."""
    spans = SpanRecord.objects.filter(
        view_id=view_id, first_item__lte=item.position, last_item__gte=item.position
    )
    columns = ("verdict", "reason", "first_step", "end_step")
    found = list(spans.order_by("first_step").values_list(*columns)[: BANDS_READ + 1])
    bands: list[Band] = []
    cursor: int | None = item.first_step
    for code, reason, first, end in found[:BANDS_READ]:
        if cursor is not None and first > cursor:
            bands.append(Band(Verdict.KEPT, "", cursor, first))
        bands.append(Band(VERDICTS[code], reason, first, end))
        cursor = end
    if cursor is not None and cursor <= steps and item.kind != Kind.UI:
        bands.append(Band(Verdict.KEPT, "", cursor, None))
    return Lifeline(name, steps, tuple(bands), complete=len(found) <= BANDS_READ)


def row_at(session: Session, view_id: int | None, step: int | None, position: int) -> ContextRow | None:
    """An item with its fate at a step of a view, or with none when no step is meant."""
    item = read_items(session.pk, session.revision, [position]).get(position)
    if item is None:
        return None
    fate: Fate | None = None
    if view_id is not None and step is not None:
        fate = covering(view_id, step, position)
    tool = ""
    if item.pair is not None and not item.tool:
        call = read_items(session.pk, session.revision, [item.pair]).get(item.pair)
        tool = call.tool if call else ""
    return ContextRow(item, fate, is_new=False, changed=False, call_tool=tool)


def item_text(session: Session, position: int, most: int | None = None) -> str | None:
    """The text of an item, at most `most` bytes of it; None when there is no such item (any more)."""
    refs = _places(session, position, TEXT_COLUMNS)
    return read_texts(session.pk, session.revision, refs, most).get(position) if refs else None


def item_record(session: Session, position: int, most: int | None = None) -> bytes | None:
    """The record that the item stands in, byte for byte as logged; None when the log's bytes are not kept."""
    found = _places(session, position, ("raw_offset", "raw_length"))
    file: LogFile | None = session.file
    if not found or file is None or found[0][0] is None or found[0][1] is None:
        return None
    offset, length = found[0]
    return read_raw(file, offset, length if most is None else min(length, most))


def original_of(session: Session, item: ItemRow, most: int) -> bytes | None:
    """The original that the agent stored in a file of its own; None when it has none, or when it is gone."""
    if item.original is None or session.file is None:
        return None
    return read_original(session.file.path, item.original, most)


def position_of(session: Session, native_id: str) -> int | None:
    """Where the item with an id of the log's own stands; ids outlive a re-import, positions may not."""
    records = session_items(session).filter(native_id=native_id)
    return records.values_list("position", flat=True).first()


def _places(session: Session, position: int, columns: Sequence[str]) -> list[Any]:
    records = session_items(session).filter(position=position)
    return list(records.values_list(*columns))


def _results(session: Session, item: ItemRow) -> list[ItemRow]:
    # No index on `pair`: a result stands soon after its call, so the next items are looked at, not all of them.
    records = session_items(session).filter(pair=item.position)
    near = records.filter(position__gt=item.position, position__lte=item.position + 2000)
    positions = list(near.values_list("position", flat=True)[:5])
    found = read_items(session.pk, session.revision, positions)
    return [found[position] for position in sorted(found)]


def _children(session: Session, item: ItemRow) -> list[Child]:
    if item.kind not in (Kind.TOOL_CALL, Kind.TOOL_RESULT) or not item.call_id:
        return []
    links = LinkRecord.objects.filter(session=session, call_id=item.call_id).values_list(
        "child_native_id", "agent"
    )
    named = dict(links[:20])
    family = Session.objects.filter(
        workspace_id=session.workspace_id, format=session.format, native_id__in=named
    )
    known = {native: (uid, title) for native, uid, title in family.values_list("native_id", "uid", "title")}
    return [Child(native, agent, *known.get(native, (None, ""))) for native, agent in named.items()]


def _recorded_first(lines: Sequence[Lifeline]) -> list[Lifeline]:
    return sorted(lines, key=lambda line: (line.view != "recorded", line.view))
