"""Rows of a session's tables, made from what the assembler holds; session and revision are put in front of each."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import lru_cache
from hashlib import sha256
from typing import Any

from contextlab.core.events import ItemEvent
from contextlab.core.items import KIND_CODE, VERDICT_CODE, Kind, Media
from contextlab.core.measuring.models import window_for
from contextlab.core.timeline import UNKNOWN, CompactionRow, ItemRow, Mark, Step, Turn, item_flags
from contextlab.services.ingest.moments import moment
from contextlab.store.bulk import clean_text

OWNER = ("session_id", "revision")

ITEM_COLUMNS = (
    *OWNER, "position", "native_id", "kind", "entry", "turn", "step", "first_step", "pair", "tool", "call_id", "flags",
    "injected", "label", "chars", "opaque_chars", "content_hash", "raw_offset", "raw_length", "line", "tokens",
    "estimate", "preview", "text_segment", "text_offset", "text_length", "media", "original", "ts",
)  # fmt: skip
SAME_COLUMNS = ITEM_COLUMNS[2:21]
"""What makes an item the same as a stored one: its identity, content and place, not where its text is kept."""
HASH = SAME_COLUMNS.index("content_hash")

TURN_COLUMNS = (
    *OWNER, "number", "native_id", "trigger", "status", "title", "first_position", "first_step", "last_step", "ts",
)  # fmt: skip
STEP_COLUMNS = (
    *OWNER, "number", "native_id", "turn", "upto", "model", "limit", "limit_source", "exact", "input", "cache_read",
    "cache_write", "output", "reasoning", "usage_partial", "restart", "ts",
)  # fmt: skip
MARK_COLUMNS = (
    *OWNER, "number", "at_step", "upto", "verdict", "reason", "positions", "all_before", "compaction", "summary",
)  # fmt: skip
COMPACTION_COLUMNS = (
    *OWNER, "number", "micro", "native_id", "at_step", "upto", "origin", "trigger", "pre_tokens", "post_tokens",
    "tokens_saved", "opaque", "summary", "ts", "items_summarised",
)  # fmt: skip
TEXT_COLUMNS = (*OWNER, "number", "length", "sha256", "data")

ID_LENGTH = 255
PREVIEW = 240
RESTART = 120
MOST_TOKENS = 2**53
"""No window is that large: a figure beyond it, or below 0, is not a number of tokens."""

INT32 = 2**31 - 1
_CALL = Kind.TOOL_CALL


def short_id(native: str) -> str:
    """An id as columns hold it: a hash of the id where it is too long for one."""
    if len(native) <= ID_LENGTH and native.isascii() and "\x00" not in native:
        return native
    native = clean_text(native)
    return native if len(native) <= ID_LENGTH else "sha256:" + sha256(native.encode()).hexdigest()


def tokens_or_none(value: int | None) -> int | None:
    """A figure that can be a number of tokens, else None (unknown)."""
    return value if value is not None and 0 <= value < MOST_TOKENS else None


def content(event: ItemEvent) -> tuple[bytes, bytes]:
    """The item's text as it is stored, and the hash of what is counted: for a call its name stands in front."""
    try:
        data = event.text.encode()
    except UnicodeEncodeError:
        data = clean_text(event.text).encode()
    name = counted_part(event)
    return data, sha256(name.encode() + data if name else data).digest()


def counted_part(event: ItemEvent) -> str:
    """What is counted in front of the item's text: the name of a call."""
    return clean_text(event.tool) if event.kind == _CALL and event.tool else ""


def same_values(row: ItemRow, digest: bytes) -> tuple[Any, ...]:
    """The SAME_COLUMNS of an item."""
    event, place = row.event, row.event.place
    offset, length, line = (place.offset, place.length, place.line) if place else (None, None, None)
    return (
        row.position, short_id(event.id), KIND_CODE[event.kind], row.entry, row.turn, row.step, row.first_step,
        None if row.pair == UNKNOWN else row.pair, event.tool or "", short_id(event.call_id or ""), item_flags(event),
        event.injected or "", event.label or "", row.chars, min(event.opaque_chars, INT32), digest,
        offset, length, line,
    )  # fmt: skip


def kept_values(event: ItemEvent, estimate: int, segment: int, offset: int, length: int) -> tuple[Any, ...]:
    """The ITEM_COLUMNS behind SAME_COLUMNS and the count of tokens."""
    return (
        estimate, preview(event.text), segment, offset, length,
        [media(one) for one in event.media] if event.media else None, event.original, moment(event.ts),
    )  # fmt: skip


def preview(text: str, length: int = PREVIEW) -> str:
    """The beginning of a text on one line; U+2026 at its end says that it goes on."""
    line = " ".join(text[: 2 * length].split())
    if len(line) > length or len(text) > 2 * length:
        return line[: length - 1] + "\u2026"
    return line


def media(one: Media) -> dict[str, Any]:
    """An image or file as the media column holds it."""
    return {"type": one.type, "mime": one.mime, "size": one.size}


def turn_row(turn: Turn, title: str) -> tuple[Any, ...]:
    """TURN_COLUMNS without the owner."""
    return (
        turn.number, short_id(turn.id), turn.trigger[:20], (turn.status or "")[:20], title, turn.first_position,
        turn.first_step, turn.last_step, moment(turn.ts),
    )  # fmt: skip


def step_row(step: Step, disproved: Collection[str | None]) -> tuple[Any, ...]:
    """STEP_COLUMNS without the owner. `disproved` are models whose table limit an accepted prompt has disproved."""
    known, source = step_limit(step, disproved)
    return (
        step.number, short_id(step.id), step.turn, step.upto, (step.model or "")[:120], known, source,
        step.exact, tokens_or_none(step.input),
        tokens_or_none(step.cache_read), tokens_or_none(step.cache_write), tokens_or_none(step.output),
        tokens_or_none(step.reasoning), step.usage_partial, clean_text(step.restart, RESTART), moment(step.ts),
    )  # fmt: skip


def step_limit(step: Step, disproved: Collection[str | None]) -> tuple[int | None, str]:
    """The window limit that applies to a step and who says so: `logged`, `table`, or empty for unknown.

    As core.window.limit_of, but what one step of a model disproved holds for none of its steps.
    """
    if step.limit is None:
        tokens = None if step.model in disproved else _table_limit(step.model)
        return tokens, "" if tokens is None else "table"
    tokens, accepted = tokens_or_none(step.limit), step.prompt_tokens
    if tokens is None or (accepted is not None and accepted > tokens):
        return None, ""
    return tokens, "logged"


def disproved_models(steps: Iterable[Step]) -> set[str | None]:
    """Models of whose table limit some step of the session shows that it is too small."""
    found: set[str | None] = set()
    for step in steps:
        if step.limit is None and (accepted := step.prompt_tokens) is not None:
            tokens = _table_limit(step.model)
            if tokens is not None and accepted > tokens:
                found.add(step.model)
    return found


@lru_cache(maxsize=256)
def _table_limit(model: str | None) -> int | None:
    return window_for(model)


def mark_row(number: int, mark: Mark) -> tuple[Any, ...]:
    """MARK_COLUMNS without the owner."""
    return (
        number, mark.at_step, mark.upto, VERDICT_CODE[mark.verdict], mark.reason, list(mark.positions),
        mark.all_before, mark.compaction, mark.summary,
    )  # fmt: skip


def compaction_row(row: CompactionRow) -> tuple[Any, ...]:
    """COMPACTION_COLUMNS without the owner; how many items it summarised is known once the view is projected."""
    event = row.event
    return (
        row.number, row.micro, short_id(event.id), row.at_step, row.upto, event.origin[:10],
        (event.trigger or "")[:30], tokens_or_none(event.pre_tokens), tokens_or_none(event.post_tokens),
        tokens_or_none(event.tokens_saved), event.opaque, row.summary, moment(event.ts), None,
    )  # fmt: skip
