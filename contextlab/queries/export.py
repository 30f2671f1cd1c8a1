"""The context of a step with its texts, to be copied or run again: verbatim, placeholders where they stood."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from contextlab.core.items import KIND_CODE, KINDS, Injected, Kind, Media, Reason, Verdict
from contextlab.core.projecting.stand_ins import REASONING_CLEARED, cleared_text
from contextlab.core.protocol import ExportItem
from contextlab.core.timeline import FLAG_ERROR, FLAG_NO_RESULT_NEEDED
from contextlab.queries import fates
from contextlab.queries.fates import Fate
from contextlab.queries.scope import Scope
from contextlab.queries.seals import seal
from contextlab.store.models import ItemRecord
from contextlab.store.texts import read_texts

MOST_BYTES = 32 * 1024 * 1024
CHUNK = 2000
_COLUMNS = (
    "position", "native_id", "kind", "entry", "tool", "call_id", "flags", "injected", "media", "pair", "text_segment",
    "text_offset", "text_length",
)  # fmt: skip

# A database written by a newer version may hold words that this one does not know.
_INJECTED = {str(name): name for name in Injected}
_REASONS = {str(name): name for name in Reason}


class TooLargeError(Exception):
    """The context has more text than one answer should carry; `args[0]` is its size in bytes."""


def export_items(scope: Scope, sealed: bool = False) -> list[ExportItem]:
    """Everything that stood in the context, in order, and the newest prompt even where it did not.

    `sealed` = with the signatures and encrypted contents of reasoning, as the log has them.
    Raises TooLargeError above MOST_BYTES of text.
    """
    known = all_fates(scope)
    out = {at for fate in known if fate.left_out for at in range(fate.first, fate.last + 1)}
    by_position = {at: fate for fate in known if not fate.left_out for at in range(fate.first, fate.last + 1)}
    opening = _newest_prompt(scope)
    wanted = [at for at in range(scope.upto) if at not in out or at == opening]
    rows = list(_rows(scope, wanted))
    if (size := sum(row["text_length"] for row in rows)) > MOST_BYTES:
        raise TooLargeError(size)
    tools = {row["position"]: row["tool"] for row in rows if row["tool"]}
    dropped = Fate(opening, opening, Verdict.DROPPED, Reason.MAX_ITEMS, 0) if opening in out else None
    items = list(_with_texts(scope, rows, tools, by_position | ({opening: dropped} if dropped else {})))
    if sealed:
        positions = {row["native_id"]: row["position"] for row in rows}
        seal(items, positions, scope.session_id, scope.revision)
    return items


def all_fates(scope: Scope) -> list[Fate]:
    """Every run that is not kept, oldest first: for what a person asked for, not for pages."""
    return fates.oldest_fates(scope.view_id, scope.step, 0, scope.upto, limit=10_000_000)


def _newest_prompt(scope: Scope) -> int:
    users = ItemRecord.objects.filter(
        session_id=scope.session_id, revision=scope.revision, position__lt=scope.upto,
        kind=KIND_CODE[Kind.USER], injected="",
    )  # fmt: skip
    found = users.order_by("-position").values_list("position", flat=True).first()
    return -1 if found is None else found


def _rows(scope: Scope, wanted: Sequence[int]) -> Iterator[dict[str, Any]]:
    records = ItemRecord.objects.filter(session_id=scope.session_id, revision=scope.revision)
    # SQLite takes a few thousand values in one IN.
    for start in range(0, len(wanted), CHUNK):
        some = records.filter(position__in=wanted[start : start + CHUNK]).exclude(kind=KIND_CODE[Kind.UI])
        yield from some.order_by("position").values(*_COLUMNS)


def _with_texts(
    scope: Scope, rows: Sequence[dict[str, Any]], tools: dict[int, str], known: dict[int, Fate]
) -> Iterator[ExportItem]:
    for start in range(0, len(rows), CHUNK):
        some = rows[start : start + CHUNK]
        refs = [
            (row["position"], row["text_segment"], row["text_offset"], row["text_length"]) for row in some
        ]
        texts = read_texts(scope.session_id, scope.revision, refs)
        for row in some:
            yield _item(
                row, known.get(row["position"]), texts.get(row["position"], ""), tools.get(row["pair"], "")
            )


def _item(row: dict[str, Any], fate: Fate | None, text: str, call_tool: str) -> ExportItem:
    kind, call_id = KINDS[row["kind"]], row["call_id"] or None
    verdict = fate.verdict if fate else Verdict.KEPT
    if verdict == Verdict.CLEARED and fate:
        text = cleared_text(fate.reason, row["tool"] or call_tool or None, call_id, text)
    elif verdict == Verdict.REASONING_CLEARED:
        text = REASONING_CLEARED
    injected = row["injected"]
    return ExportItem(
        id=row["native_id"],
        kind=kind,
        text=text,
        entry=str(row["entry"]),
        verdict=verdict,
        reason=_REASONS.get(fate.reason) if fate else None,
        tool=row["tool"] or None,
        call_id=call_id,
        error=True if row["flags"] & FLAG_ERROR else None,
        injected=_INJECTED.get(injected, Injected.CONTEXT) if injected else None,
        media=tuple(
            Media(str(one.get("type")), one.get("mime"), one.get("size")) for one in row["media"] or ()
        ),
        needs_result=not row["flags"] & FLAG_NO_RESULT_NEEDED,
    )
