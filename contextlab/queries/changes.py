"""What is different from the step before: what entered, what left, what is shown otherwise, what came back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from contextlab.core.items import KIND_CODE, VERDICTS, Kind, Verdict
from contextlab.queries.context import ROWS, Entry, Fold, fold_rows, folded
from contextlab.queries.fates import is_left_out
from contextlab.queries.scope import Scope
from contextlab.store.models import ItemRecord, SpanRecord

CHANGES_READ = 400
"""Spans that begin or end at a step and are read for its list of changes at most."""

SMALL_GAP = 3


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
    """The changes of one kind: what is `out` of the context now, what is `in` it otherwise than before, `entered`."""

    kind: str
    items: int
    entries: tuple[Entry, ...]


_COLUMNS = ("first_item", "last_item", "verdict", "reason")
_Edge = tuple[int, int, Verdict, str]


def changes(scope: Scope) -> Changes:
    """The changes at a step; at the first one nothing but what entered."""
    if scope.step <= 1:
        return Changes(scope.previous_upto, scope.upto, (), complete=True)
    began = _began(scope)
    ended = _ended(scope, began)
    runs = [run for edge in began for run in _split(edge, ended)]
    runs += [run for edge in ended for run in _returned(edge, began)]
    runs.sort(key=lambda run: run.first)
    complete = len(began) < CHANGES_READ and len(ended) < CHANGES_READ
    return Changes(scope.previous_upto, scope.upto, tuple(runs), complete)


def listing(scope: Scope, found: Changes, rows: int = ROWS) -> list[Part]:
    """The changes item by item: long runs as folds, at most about `rows` rows of each kind."""
    parts = []
    for kind, is_out in (("out", True), ("in", False)):
        runs = [run for run in found.runs if run.is_out == is_out]
        folds = _folds(runs, scope.step, _shown_only(scope, runs))
        entries = folded(scope, folds, rows)
        parts.append(Part(kind, sum(fold.count for fold in folds), tuple(entries)))
    entered = fold_rows(scope, found.entered_first, found.entered_end - 1, rows)
    parts.append(Part("entered", found.entered, tuple(entered)))
    return [part for part in parts if part.entries]


def _shown_only(scope: Scope, runs: Sequence[Change]) -> set[int]:
    """Items in the small gaps between runs that were only ever shown to the person: they separate nothing."""
    gaps = [(one.last + 1, other.first) for one, other in pairwise(runs)]
    between = [at for first, end in gaps if end - first <= SMALL_GAP for at in range(first, end)]
    records = ItemRecord.objects.filter(
        session_id=scope.session_id, revision=scope.revision, position__in=between, kind=KIND_CODE[Kind.UI]
    )
    return set(records.values_list("position", flat=True)) if between else set()


def _folds(runs: Iterable[Change], step: int, shown_only: set[int]) -> list[Fold]:
    """Neighbouring runs that are alike now, whatever they were before, as one fold."""
    folds: list[Fold] = []
    for run in runs:
        last = folds[-1] if folds else None
        between = range(last.last + 1, run.first) if last else range(0)
        alike = last is not None and (last.verdict, last.reasons) == (run.verdict, (run.reason,))
        if last and alike and len(between) <= SMALL_GAP and shown_only.issuperset(between):
            was = last.was if last.was == run.was else None
            folds[-1] = replace(last, last=run.last, was=was, shown_only=last.shown_only + len(between))
        else:
            folds.append(Fold(run.first, run.last, run.verdict, (run.reason,), step, was=run.was))
    return folds


def _began(scope: Scope) -> list[_Edge]:
    # No order and no range of items: either would lead the database away from the index on steps.
    spans = SpanRecord.objects.filter(view_id=scope.view_id, first_step=scope.step)
    return _edges(
        scope, [row for row in spans.values_list(*_COLUMNS)[:CHANGES_READ] if row[0] < scope.previous_upto]
    )


def _ended(scope: Scope, began: list[_Edge]) -> list[_Edge]:
    """Spans that ended here. Where there are more than one page reads, at least those under what began here."""
    spans = SpanRecord.objects.filter(view_id=scope.view_id, end_step=scope.step)
    found = list(spans.values_list(*_COLUMNS)[:CHANGES_READ])
    if len(found) == CHANGES_READ and began:
        first, last = min(edge[0] for edge in began), max(edge[1] for edge in began)
        under = spans.filter(first_item__gte=first, first_item__lte=last).order_by("first_item")
        found += under.values_list(*_COLUMNS)[:CHANGES_READ]
    rows = {row[0]: row for row in found if row[0] < scope.previous_upto}
    return _edges(scope, list(rows.values()))


def _edges(scope: Scope, rows: Sequence[tuple[int, int, int, str]]) -> list[_Edge]:
    # A rectangle may reach over items that are new at this step: those have no fate before it.
    newest = scope.previous_upto - 1
    return [(first, min(last, newest), VERDICTS[code], reason) for first, last, code, reason in sorted(rows)]


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
