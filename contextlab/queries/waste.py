"""Waste of a session: what took most of all windows together, repeats, results that nothing came back to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contextlab.core.audit.waste import (
    Carried,
    Repeat,
    largest,
    last_mentions,
    own_words,
    repeats,
    steps_carried,
    used_again,
)
from contextlab.core.items import KIND_CODE, Kind
from contextlab.queries.items import ItemRow, read_items
from contextlab.queries.kept import Kept
from contextlab.store.items import session_items
from contextlab.store.models import Session, SpanRecord, View
from contextlab.store.texts import TEXT_COLUMNS, read_texts

MOST = 25
"""Lines of each list."""
RESULTS_LOOKED_AT = 60
"""Results, the largest first, of which it is asked whether anything came back to them."""
OUTPUT_BYTES = 8 * 1024 * 1024
"""What the model wrote, read at most: beyond that nothing is said about use."""

_RESULT, _CALL, _SAID = (KIND_CODE[kind] for kind in (Kind.TOOL_RESULT, Kind.TOOL_CALL, Kind.ASSISTANT))
_SPAN = ("first_item", "last_item", "verdict", "reason", "first_step", "end_step")


@dataclass(frozen=True, slots=True)
class CarriedItem:
    """An item with what it took; `used_again` is None where it was not looked for."""

    item: ItemRow
    tokens: int
    steps: int
    token_steps: int
    share: float
    """Of the token-steps of all items."""
    used_again: bool | None = None


@dataclass(frozen=True, slots=True)
class RepeatedItem:
    """The same content again while it still stood there."""

    item: ItemRow
    again: Sequence[int]
    tokens: int
    token_steps: int


@dataclass(frozen=True, slots=True)
class Waste:
    """A session's waste, largest first. Token-steps: tokens times the steps at which they stood in the context."""

    token_steps: int
    largest: Sequence[CarriedItem]
    unused: Sequence[CarriedItem]
    """Results none of whose own words the model wrote afterwards: a hint, no proof."""
    unused_known: bool
    repeated: Sequence[RepeatedItem]
    reread: Sequence[RepeatedItem]
    """The same call with the same arguments."""


def waste(session: Session) -> Waste | None:
    """The waste of a session under its recorded view; None while there is none."""
    view = View.objects.filter(session=session, name="recorded", revision=session.revision).first()
    if view is None:
        return None
    return _kept.get(session, view, lambda: _waste(session, view))


_kept: Kept[Waste] = Kept(1_000_000)


def _waste(session: Session, view: View, most: int = MOST) -> Waste:
    rows = list(
        session_items(session)
        .order_by("position")
        .values_list("kind", "first_step", "tokens", "estimate", "content_hash")
    )
    kinds, first_steps = [row[0] for row in rows], [row[1] for row in rows]
    tokens = [row[3] if row[2] is None else row[2] for row in rows]
    spans = list(SpanRecord.objects.filter(view=view).values_list(*_SPAN))
    carried = steps_carried(first_steps, spans, view.steps)
    whole = sum(size * steps for size, steps in zip(tokens, carried, strict=True) if steps > 0)
    last = [first + steps - 1 for first, steps in zip(first_steps, carried, strict=True)]
    top = largest(tokens, carried, range(len(rows)), most)
    results = largest(
        tokens, carried, (at for at, kind in enumerate(kinds) if kind == _RESULT), RESULTS_LOOKED_AT
    )
    unused = _unused(session, results)
    hashes = {
        kind: {at: bytes(row[4]) for at, row in enumerate(rows) if row[0] == kind}
        for kind in (_RESULT, _CALL)
    }
    results_again = repeats(hashes[_RESULT], tokens, carried, last, first_steps, 50, most)
    calls_again = repeats(hashes[_CALL], tokens, carried, last, first_steps, 1, most)
    wanted = {one.position for one in (*top, *(unused or ()))} | {
        one.first for one in (*results_again, *calls_again)
    }
    items = read_items(session.pk, session.revision, sorted(wanted))
    hints = {one.position: True for one in results} if unused is not None else {}
    hints |= {one.position: False for one in unused or ()}
    return Waste(
        whole,
        [_carried(one, items, whole, hints.get(one.position)) for one in top],
        [_carried(one, items, whole, False) for one in (unused or [])[:most]],
        unused is not None,
        [_repeated(one, items) for one in results_again],
        [_repeated(one, items) for one in calls_again],
    )


def _unused(session: Session, results: Sequence[Carried]) -> list[Carried] | None:
    """Those of the results that nothing came back to; None where the model wrote more than is read."""
    own = session_items(session)
    outputs = list(own.filter(kind__in=(_CALL, _SAID)).order_by("position").values_list(*TEXT_COLUMNS))
    if sum(row[3] for row in outputs) > OUTPUT_BYTES:
        return None
    mentions: dict[str, int] = {}
    for start in range(0, len(outputs), 500):
        texts = read_texts(session.pk, session.revision, outputs[start : start + 500])
        mentions |= last_mentions(sorted(texts.items()))
    refs = own.filter(position__in=[one.position for one in results]).values_list(*TEXT_COLUMNS)
    texts = read_texts(session.pk, session.revision, refs)
    found = []
    for one in results:
        words = own_words(texts.get(one.position, ""))
        if words and not used_again(one.position, words, mentions):
            found.append(one)
    return found


def _carried(one: Carried, items: dict[int, ItemRow], whole: int, used: bool | None) -> CarriedItem:
    share = one.token_steps / whole if whole else 0.0
    return CarriedItem(items[one.position], one.tokens, one.steps, one.token_steps, share, used)


def _repeated(one: Repeat, items: dict[int, ItemRow]) -> RepeatedItem:
    return RepeatedItem(items[one.first], one.again[:20], one.tokens, one.token_steps)
