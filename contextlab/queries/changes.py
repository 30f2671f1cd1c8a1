"""What is different from the step before: what entered, what left, what is shown otherwise, what came back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from contextlab.core.items import VERDICTS, Verdict
from contextlab.queries.context import ROWS, Entry, Fold, Scope, fold_rows
from contextlab.queries.fates import is_left_out
from contextlab.store.models import SpanRecord

CHANGES_READ = 400
"""Spans that begin or end at a step and are read for its list of changes at most."""


@dataclass(frozen=True, slots=True)
class Change:
    """A run of items whose fate is not what it was at the step before."""

    first: int
    last: int
    was: Verdict
    verdict: Verdict
    reason: str
    """Why it is so now; empty for kept."""
    was_out: bool
    is_out: bool

    @property
    def count(self) -> int:
        """Number of items."""
        return self.last - self.first + 1

    @property
    def kind(self) -> str:
        """left, returned, or changed."""
        if self.was_out == self.is_out:
            return "changed"
        return "left" if self.is_out else "returned"


@dataclass(frozen=True, slots=True)
class Group:
    """Items with the same change."""

    kind: str
    was: Verdict
    verdict: Verdict
    reason: str
    items: int


@dataclass(frozen=True, slots=True)
class Changes:
    """Everything that differs between a step's context and that of the step before."""

    entered_first: int
    entered_end: int
    """Items at [entered_first, entered_end) were added to the memory."""
    runs: tuple[Change, ...]
    complete: bool
    """False when there were more changes than one page reads."""

    @property
    def entered(self) -> int:
        """Number of items that were added."""
        return self.entered_end - self.entered_first

    def count(self, kind: str) -> int:
        """Number of items that left, returned or changed."""
        return sum(run.count for run in self.runs if run.kind == kind)

    @property
    def groups(self) -> list[Group]:
        """The runs summed up by what became of what, most items first."""
        totals: dict[tuple[str, Verdict, Verdict, str], int] = {}
        for run in self.runs:
            key = (run.kind, run.was, run.verdict, run.reason)
            totals[key] = totals.get(key, 0) + run.count
        found = [Group(*key, items) for key, items in totals.items()]
        return sorted(found, key=lambda group: -group.items)


@dataclass(frozen=True, slots=True)
class Part:
    """The changes of one kind: entered, left, changed or returned."""

    kind: str
    items: int
    entries: tuple[Entry, ...]


_Edge = tuple[int, int, Verdict, str]


def changes(scope: Scope) -> Changes:
    """The changes at a step; at the first one nothing but what entered."""
    if scope.step <= 1:
        return Changes(scope.previous_upto, scope.upto, (), complete=True)
    began = _edges(scope, first_step=scope.step, first_item__lt=scope.previous_upto)
    ended = _ended(scope, began)
    runs = [run for edge in began for run in _split(edge, ended)]
    runs += [run for edge in ended for run in _returned(edge, began)]
    runs.sort(key=lambda run: run.first)
    complete = len(began) < CHANGES_READ and len(ended) < CHANGES_READ
    return Changes(scope.previous_upto, scope.upto, tuple(runs), complete)


def listing(scope: Scope, found: Changes, rows: int = ROWS) -> list[Part]:
    """The changes item by item: long runs as folds, at most about `rows` rows of each kind."""
    parts = []
    for kind in ("left", "changed", "returned"):
        runs = [run for run in found.runs if run.kind == kind]
        entries: list[Entry] = []
        for run in runs[:rows]:
            fold = Fold(run.first, run.last, run.verdict, (run.reason,), scope.step, was=run.was)
            entries += (
                fold_rows(scope, run.first, run.last) if run.count <= 3 and len(entries) < rows else [fold]
            )
        parts.append(Part(kind, found.count(kind), tuple(entries)))
    entered = fold_rows(scope, found.entered_first, found.entered_end - 1, rows)
    parts.append(Part("entered", found.entered, tuple(entered)))
    return [part for part in parts if part.entries]


def _edges(scope: Scope, **where: object) -> list[_Edge]:
    spans = SpanRecord.objects.filter(view_id=scope.view_id, **where).order_by("first_item")
    values = spans.values_list("first_item", "last_item", "verdict", "reason")[:CHANGES_READ]
    # A rectangle may reach over items that are new at this step: those have no fate before it.
    newest = scope.previous_upto - 1
    return [(first, min(last, newest), VERDICTS[code], reason) for first, last, code, reason in values]


def _ended(scope: Scope, began: list[_Edge]) -> list[_Edge]:
    """Spans that ended here, looked for where others began and in the tail: there is no index on a span's end."""
    places = [(first, last) for first, last, _, _ in began if last < scope.tail_start]
    found: dict[int, _Edge] = {}
    if places:
        low, high = min(first for first, _ in places), max(last for _, last in places)
        for edge in _edges(scope, end_step=scope.step, first_item__gte=low, first_item__lte=high):
            found[edge[0]] = edge
    for edge in _edges(scope, end_step=scope.step, first_item__gte=scope.tail_start):
        found[edge[0]] = edge
    return [found[first] for first in sorted(found)]


def _split(edge: _Edge, ended: Iterable[_Edge]) -> list[Change]:
    """The pieces of a run that begins here, by what each was before; what no ended span covers was kept."""
    first, last, verdict, reason = edge
    pieces, cursor = [], first
    for low, high, was, why in ended:
        if high < cursor or low > last:
            continue
        if low > cursor:
            pieces.append(_change(cursor, low - 1, (Verdict.KEPT, ""), (verdict, reason)))
        end = min(high, last)
        pieces.append(_change(max(low, cursor), end, (was, why), (verdict, reason)))
        cursor = end + 1
    if cursor <= last:
        pieces.append(_change(cursor, last, (Verdict.KEPT, ""), (verdict, reason)))
    return [piece for piece in pieces if (piece.was, piece.was_out) != (piece.verdict, piece.is_out)]


def _returned(edge: _Edge, began: Iterable[_Edge]) -> list[Change]:
    """The pieces of a run that ends here and that nothing follows: kept again."""
    first, last, was, why = edge
    pieces, cursor = [], first
    for low, high, _, _ in began:
        if high < cursor or low > last:
            continue
        if low > cursor:
            pieces.append(_change(cursor, low - 1, (was, why), (Verdict.KEPT, "")))
        cursor = max(cursor, high + 1)
    if cursor <= last:
        pieces.append(_change(cursor, last, (was, why), (Verdict.KEPT, "")))
    return pieces


def _change(first: int, last: int, was: tuple[Verdict, str], now: tuple[Verdict, str]) -> Change:
    return Change(first, last, was[0], now[0], now[1], is_left_out(*was), is_left_out(*now))
