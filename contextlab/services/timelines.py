"""A session's rows as the core's Timeline."""

from __future__ import annotations

from array import array
from typing import Any

from contextlab.core.items import KIND_CODE, VERDICTS, Kind, Reason
from contextlab.core.timeline import UNKNOWN, Mark, Step, Timeline, Turn
from contextlab.store.models import ItemRecord, MarkRecord, Session, StepRecord, TurnRecord

CHUNK = 5000
_CALL = KIND_CODE[Kind.TOOL_CALL]
_ITEM = (
    "kind", "chars", "tokens", "estimate", "entry", "turn", "flags", "opaque_chars", "pair", "tool", "call_id",
)  # fmt: skip
_STEP = (
    "number", "native_id", "turn", "upto", "model", "limit", "limit_source", "exact", "input", "cache_read",
    "cache_write", "output", "reasoning", "usage_partial", "restart",
)  # fmt: skip
_MARK = ("at_step", "upto", "verdict", "reason", "positions", "all_before", "compaction", "summary")


def load_timeline(session: Session) -> Timeline:
    """The session as it is stored now, without its texts."""
    timeline = Timeline()
    for start in range(0, session.items, CHUNK):
        rows = _rows(ItemRecord, session).filter(position__gte=start, position__lt=start + CHUNK)
        _append(timeline, rows.order_by("position").values_list(*_ITEM))
    timeline.steps = [_step(row) for row in _rows(StepRecord, session).order_by("number").values_list(*_STEP)]
    turns = _rows(TurnRecord, session).order_by("number").values_list("number", "native_id", "first_position")
    timeline.turns_list = [Turn(*row) for row in turns]
    marks = _rows(MarkRecord, session).order_by("number").values_list(*_MARK)
    timeline.marks = [_mark(row) for row in marks]
    return timeline


def fill_counts(timeline: Timeline, session: Session) -> None:
    """Put the stored counts into a timeline that was made from the log, from the first that it does not know on."""
    first = timeline.tokens.index(UNKNOWN) if UNKNOWN in timeline.tokens else len(timeline)
    tokens = array("q", timeline.tokens[:first])
    for start in range(first, len(timeline), CHUNK):
        rows = _rows(ItemRecord, session).filter(position__gte=start, position__lt=start + CHUNK)
        stored = rows.order_by("position").values_list("tokens", flat=True)
        tokens.extend(UNKNOWN if value is None else value for value in stored)
    if len(tokens) == len(timeline):
        timeline.tokens = tokens


def _rows(model: Any, session: Session) -> Any:
    return model.objects.filter(session=session, revision=session.revision)


def _append(timeline: Timeline, rows: Any) -> None:
    """Add items; a chunk at a time, for one append per column is all it costs."""
    for kind, chars, tokens, estimate, entry, turn, flags, opaque, pair, tool, call_id in rows:
        position = len(timeline.kinds)
        timeline.kinds.append(kind)
        timeline.chars.append(chars)
        timeline.tokens.append(UNKNOWN if tokens is None else tokens)
        timeline.estimates.append(estimate)
        timeline.entries.append(entry)
        timeline.turns.append(turn)
        timeline.flags.append(flags)
        timeline.opaque.append(opaque)
        timeline.pairs.append(UNKNOWN if pair is None else pair)
        if pair is not None:
            timeline.pairs[pair] = position
        if tool and kind == _CALL:
            timeline.tools[position] = tool
        if call_id and pair is None:
            timeline.call_ids[position] = call_id


def _step(row: tuple[Any, ...]) -> Step:
    number, native, turn, upto, model, limit, source, *rest = row
    exact, given, read, write, output, reasoning, partial, restart = rest
    return Step(
        number, native, turn, upto, model or None, None, limit if source == "logged" else None, exact,
        given, read, write, output, reasoning, partial, restart,
    )  # fmt: skip


def _mark(row: tuple[Any, ...]) -> Mark:
    at_step, upto, verdict, reason, positions, all_before, compaction, summary = row
    return Mark(
        at_step, upto, VERDICTS[verdict], Reason(reason), tuple(positions), all_before, compaction, summary
    )
