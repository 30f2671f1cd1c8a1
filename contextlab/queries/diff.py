"""What differs between two contexts of a session: any two steps of a view, any two views of a step.

Runs of items with the same change are one line with the first of its items; what is equal is a number. Items that left
and items that entered as a new text of them (a system prompt, a summary) are compared letter by letter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from contextlab.core.audit.diff import (
    Change,
    Changes,
    Context,
    Piece,
    differences,
    in_context,
    rewritten,
    texts,
)
from contextlab.core.items import VERDICTS, Reason
from contextlab.core.spans import Painted, Span
from contextlab.queries.fates import in_force
from contextlab.queries.items import ItemRow, read_items
from contextlab.store.items import session_items
from contextlab.store.models import Session, StepRecord, StepReport, View
from contextlab.store.texts import TEXT_COLUMNS, read_texts

SPANS = 20_000
"""Spans of one side that are read at most; more than that is said."""
LINES = 200
SHOWN = 3
"""Items of a line that are named."""
PAIRED = 40
"""Items that left, and that entered, which are looked through for new texts of old ones."""
TEXT_BYTES = 200 * 1024


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two contexts."""

    view: str
    step: int
    upto: int
    projected_tokens: int | None
    """As the step's report has it, counted or estimated."""
    source: str


@dataclass(frozen=True, slots=True)
class Line:
    """A run of items with one change: `entered`, `left`, or `changed` (another fate)."""

    kind: str
    first: int
    last: int
    before: str | None
    """The verdict before; None = not there yet."""
    before_reason: str
    after: str
    after_reason: str
    tokens: int
    """Of the whole run, counted or estimated."""
    items: Sequence[ItemRow]
    """The first of them."""

    @property
    def count(self) -> int:
        """Number of items."""
        return self.last - self.first + 1


@dataclass(frozen=True, slots=True)
class Rewritten:
    """An item that left and one that entered as a new text of it."""

    old: int
    new: int
    pieces: Sequence[Piece]
    truncated: bool


@dataclass(frozen=True, slots=True)
class Diff:
    """Everything that differs."""

    one: Side
    other: Side
    lines: Sequence[Line]
    entered: int
    left: int
    changed: int
    unchanged: int
    rewritten: Sequence[Rewritten]
    complete: bool
    """False where more lines or spans are there than one answer holds."""


def diff(session: Session, one: tuple[View, int], other: tuple[View, int]) -> Diff | None:
    """The differences between two contexts, each a view and a step of it; None where a step is not there."""
    sides = [_side(session, view, step) for view, step in (one, other)]
    if sides[0] is None or sides[1] is None:
        return None
    contexts = [_context(view, side) for (view, _), side in zip((one, other), sides, strict=True) if side]
    found = differences(*contexts)
    lines = _lines(session, found)
    entered, left, changed = (_items(group) for group in (found.entered, found.left, found.changed))
    back = _items([change for change in found.entered if change.before is not None])
    unchanged = max(0, min(side.upto for side in contexts) - left - changed - back)
    complete = len(lines) <= LINES and all(len(side.spans) < SPANS for side in contexts)
    return Diff(
        sides[0],
        sides[1],
        lines[:LINES],
        entered,
        left,
        changed,
        unchanged,
        _rewritten(session, found),
        complete,
    )


def _side(session: Session, view: View, step: int) -> Side | None:
    record = StepRecord.objects.filter(session=session, revision=session.revision, number=step).first()
    if record is None or step > view.steps:
        return None
    reports = StepReport.objects.filter(view=view, step=step)
    tokens, counted = reports.values_list("projected_tokens", "counted").first() or (None, False)
    return Side(view.name, step, record.upto, tokens, "counted" if counted else "estimated")


def _context(view: View, side: Side) -> Context:
    rows = in_force(view.pk, side.step).filter(first_item__lt=side.upto).order_by("first_item")
    columns = ("first_item", "last_item", "verdict", "reason", "first_step", "end_step")
    spans = [
        Span(first, last, VERDICTS[verdict], Reason(reason) if reason else None, since, end)
        for first, last, verdict, reason, since, end in rows.values_list(*columns)[:SPANS]
    ]
    return Context(side.step, side.upto, spans)


def _lines(session: Session, found: Changes) -> list[Line]:
    groups = (("left", found.left), ("entered", found.entered), ("changed", found.changed))
    runs = sorted(
        ((kind, change) for kind, group in groups for change in group), key=lambda one: one[1].first
    )
    runs = runs[: LINES + 1]
    wanted = [
        at for _, change in runs for at in range(change.first, min(change.last, change.first + SHOWN - 1) + 1)
    ]
    rows = read_items(session.pk, session.revision, wanted)
    sizes = _sizes(session, [change for _, change in runs])
    return [_line(kind, change, rows, sizes[number]) for number, (kind, change) in enumerate(runs)]


def _line(kind: str, change: Change, rows: dict[int, ItemRow], tokens: int) -> Line:
    shown = range(change.first, min(change.last, change.first + SHOWN - 1) + 1)
    before, before_reason = _told(change.before)
    after, after_reason = _told(change.after)
    items = tuple(rows[at] for at in shown if at in rows)
    return Line(
        kind, change.first, change.last, before, before_reason, after or "", after_reason, tokens, items
    )


def _told(fate: Painted | None) -> tuple[str | None, str]:
    return (None, "") if fate is None else (fate[0].value, str(fate[1] or ""))


def _sizes(session: Session, changes: Sequence[Change]) -> list[int]:
    """Tokens of each run, counted where they are; one read over all of them."""
    if not changes:
        return []
    first, last = changes[0].first, max(change.last for change in changes)
    rows = session_items(session).filter(position__gte=first, position__lte=last)
    sums = [0]
    for tokens, estimate in rows.order_by("position").values_list("tokens", "estimate"):
        sums.append(sums[-1] + (estimate if tokens is None else tokens))
    top = len(sums) - 1
    return [
        sums[min(change.last - first + 1, top)] - sums[min(change.first - first, top)] for change in changes
    ]


def _items(changes: Sequence[Change]) -> int:
    return sum(change.last - change.first + 1 for change in changes)


def _rewritten(session: Session, found: Changes) -> list[Rewritten]:
    left = _positions([change for change in found.left if in_context(change.before)])
    entered = _positions(found.entered)
    if not left or not entered:
        return []
    rows = session_items(session).filter(position__in=[*left, *entered])
    kinds = dict(rows.values_list("position", "kind"))
    read = read_texts(session.pk, session.revision, rows.values_list(*TEXT_COLUMNS), TEXT_BYTES)
    sides = [[(at, str(kinds[at]), read[at]) for at in group if at in read] for group in (left, entered)]
    return [
        Rewritten(
            old, new, texts(read[old], read[new]), max(len(read[old]), len(read[new])) >= TEXT_BYTES // 4
        )
        for old, new in rewritten(*sides)
    ]


def _positions(changes: Sequence[Change]) -> list[int]:
    """The first and the last items of the runs, PAIRED of them at most: system prompts stand first, prompts last."""
    found = [
        at for change in changes for at in range(change.first, min(change.last, change.first + PAIRED) + 1)
    ]
    return found if len(found) <= PAIRED else [*found[: PAIRED // 2], *found[-PAIRED // 2 :]]
