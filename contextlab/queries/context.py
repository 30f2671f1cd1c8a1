"""The context of a step as a list of bounded length: rows in order, runs left out where they stood, gaps to go on.

Whatever the session's size, one list reads at most a page of rows and SPANS_READ spans of each region: the head
[0, head_end), what is left out between (its report says that all of it is), and the tail [tail_start, upto).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from django.db.models import F, Sum

from contextlab.core.items import VERDICT_CODE, VERDICTS, Kind, Reason, Verdict
from contextlab.queries import fates
from contextlab.queries.fates import SPANS_READ, Fate, Window, is_left_out
from contextlab.queries.items import ContextRow, read_items, tools_called

ROWS = 60
HEAD_ROWS = 20
FOLDS = 12
"""Runs of the middle shown one by one; more become one row that names its reasons."""


@dataclass(frozen=True, slots=True)
class Scope:
    """A step of a view, with what its report says about where items were left out."""

    session_id: int
    revision: int
    view_id: int
    step: int
    upto: int
    previous_upto: int
    """Items at or beyond it are new at this step."""
    head_end: int = 0
    tail_start: int = 0


@dataclass(frozen=True, slots=True)
class Fold:
    """A run of items that were left out, where it stood."""

    first: int
    last: int
    verdict: Verdict
    reasons: tuple[str, ...]
    """More than one when runs of several fates were put together."""
    since: int
    shown_only: int = 0
    """Items in it that were never part of a context."""
    exact: bool = True
    """False when only its ends were looked at, so that there may be other reasons inside."""
    was: Verdict | None = None
    """In a list of changes: the verdict at the step before."""
    is_fold: bool = True

    @property
    def count(self) -> int:
        """Number of items, those that were only shown to the person left out."""
        return self.last - self.first + 1 - self.shown_only


@dataclass(frozen=True, slots=True)
class Gap:
    """Items of the context that this list does not show; `before` continues it there (None: the newest)."""

    first: int
    last: int
    before: int | None
    is_gap: bool = True


Entry = ContextRow | Fold | Gap


def context_list(scope: Scope, before: int | None = None, rows: int = ROWS) -> list[Entry]:
    """What stood in the context, oldest first: the head, the newest `rows` items before `before`, folds and gaps."""
    end = min(scope.upto, before) if before is not None else scope.upto
    if end <= scope.head_end < scope.tail_start:
        return [*_stretch(scope, 0, end, rows), *_later(scope, end, rows)]
    middle = middle_folds(scope) if scope.tail_start > scope.head_end else []
    return [*_head(scope), *middle, *_stretch(scope, scope.tail_start, end, rows), *_later(scope, end, rows)]


def cleared_list(scope: Scope, before: int | None = None, rows: int = ROWS) -> list[Entry]:
    """The newest `rows` items that stood in the context as a placeholder or a preview."""
    stubs = [VERDICT_CODE[name] for name in (Verdict.CLEARED, Verdict.REASONING_CLEARED, Verdict.OFFLOADED)]
    spans = fates.in_force(scope.view_id, scope.step).filter(verdict__in=stubs)
    if scope.tail_start > scope.head_end:
        spans = spans.exclude(first_item__gte=scope.head_end, first_item__lt=scope.tail_start)
    spans = spans.filter(first_item__lt=scope.upto if before is None else before).order_by("-first_item")
    found = [fate for fate in fates.read(spans[: rows + 1]) if not fate.left_out]
    places = [(position, fate) for fate in found for position in range(fate.last, fate.first - 1, -1)]
    places = [place for place in places if before is None or place[0] < before]
    shown = places[:rows][::-1]
    gap = [Gap(found[-1].first, shown[0][0] - 1, shown[0][0])] if len(places) > rows else []
    return [*gap, *rows_at(scope, shown)]


def left_out_list(scope: Scope, before: int | None = None, rows: int = ROWS) -> list[Entry]:
    """The runs of items that were left out, short ones as rows."""
    end = scope.upto if before is None else min(before, scope.upto)
    tail = fates.newest_fates(scope.view_id, scope.step, scope.tail_start, end)
    runs = fates.merged(fate for fate in reversed(tail) if fate.left_out)
    cut, room = len(runs), rows
    while cut and room > 0:
        cut -= 1
        room -= min(runs[cut].count, 3)
    entries: list[Entry] = []
    if cut or len(tail) == SPANS_READ:
        first = runs[cut].first if runs else tail[-1].first
        entries.append(Gap(scope.tail_start, first - 1, first))
    for run in runs[cut:]:
        # A run may hold items that were only shown to the person: told apart when it is opened.
        entries += fold_rows(scope, run.first, run.last) if run.last - run.first < 3 else [_fold(run)]
    return [*middle_folds(scope), *entries] if scope.tail_start > scope.head_end else entries


def fold_rows(scope: Scope, first: int, last: int, rows: int = ROWS) -> list[Entry]:
    """The first `rows` items of a run that was left out, each with its own fate, then a gap for the rest."""
    last = min(last, scope.upto - 1)
    end = min(first + rows, last + 1)
    if first >= end:
        return []
    found = fates.oldest_fates(scope.view_id, scope.step, first, end)
    by_position = {position: fate for fate in found for position in range(fate.first, fate.last + 1)}
    places = [(position, by_position.get(position)) for position in range(first, end)]
    gap = [Gap(end, last, None)] if end <= last else []
    return [*rows_at(scope, places), *gap]


def middle_folds(scope: Scope) -> list[Entry]:
    """What was left out between head and tail: run by run, or as one row where there are too many."""
    start, end = scope.head_end, scope.tail_start
    found = fates.oldest_fates(scope.view_id, scope.step, start, end)
    exact = len(found) < SPANS_READ
    runs = fates.merged(found)
    if exact and len(runs) <= FOLDS:
        return [_fold(run) for run in runs]
    if not exact:
        runs += fates.newest_fates(scope.view_id, scope.step, start, end, limit=FOLDS)
    named = [run for run in runs if run.reason != Reason.UI_ONLY] or runs
    reasons = tuple(dict.fromkeys(run.reason for run in named))
    summarised = all(run.verdict == Verdict.SUMMARISED for run in named)
    verdict = Verdict.SUMMARISED if summarised else Verdict.DROPPED
    shown_only = sum(run.shown_only for run in runs) if exact else 0
    since = max(run.since for run in runs)
    return [Fold(start, end - 1, verdict, reasons, since, shown_only, exact)]


@dataclass(frozen=True, slots=True)
class Share:
    """How many items share a verdict and a reason at a step."""

    verdict: Verdict
    reason: str
    items: int

    @property
    def left_out(self) -> bool:
        """Whether nothing of them stood in the context."""
        return is_left_out(self.verdict, self.reason)


def shares(scope: Scope) -> list[Share] | None:
    """Items by verdict and reason, most first; None when that takes more reading than a page may do at once."""
    regions = [(0, scope.head_end), (scope.head_end, scope.tail_start), (scope.tail_start, scope.upto)]
    totals: dict[tuple[Verdict, str], int] = {}
    for first, end in regions:
        found = fates.oldest_fates(scope.view_id, scope.step, first, end) if end > first else []
        if len(found) == SPANS_READ:
            return None
        for fate in found:
            key = (fate.verdict, fate.reason)
            totals[key] = totals.get(key, 0) + fate.count
    return _sorted(Share(verdict, reason, items) for (verdict, reason), items in totals.items())


def all_shares(scope: Scope) -> list[Share]:
    """The same over every span in force, in one aggregate: for a panel that comes after the page."""
    spans = fates.in_force(scope.view_id, scope.step).filter(first_item__lt=scope.upto)
    size = Sum(F("last_item") - F("first_item") + 1)
    found = spans.values_list("verdict", "reason").annotate(items=size)
    return _sorted(Share(VERDICTS[code], reason, items) for code, reason, items in found)


def _sorted(found: Iterable[Share]) -> list[Share]:
    return sorted(found, key=lambda share: (not share.left_out, -share.items))


def _head(scope: Scope) -> list[Entry]:
    if not scope.head_end:
        return []
    end = min(scope.head_end, HEAD_ROWS)
    found = fates.oldest_fates(scope.view_id, scope.step, 0, end)
    spans = [*(_fold(fate) for fate in fates.merged(fate for fate in found if fate.left_out))]
    gone = {position for fold in spans for position in range(fold.first, fold.last + 1)}
    by_position = {position: fate for fate in found for position in range(fate.first, fate.last + 1)}
    shown = [(position, by_position.get(position)) for position in range(end) if position not in gone]
    gap = [Gap(end, scope.head_end - 1, scope.head_end)] if end < scope.head_end else []
    return [*_in_order(rows_at(scope, shown), spans), *gap]


def _stretch(scope: Scope, floor: int, end: int, rows: int) -> list[Entry]:
    if end <= floor:
        return []
    found = fates.window(scope.view_id, scope.step, floor, end, rows)
    gap = [Gap(floor, found.first - 1, found.first)] if found.first > floor else []
    # Reasoning that the provider strips stands at nearly every step: a row of its own says more than a fold of one.
    stripped = [fate for fate in found.folds if _is_row(fate)]
    shown = [*found.shown, *((at, fate) for fate in stripped for at in range(fate.first, fate.last + 1))]
    return [*gap, *_in_order(rows_at(scope, shown), _visible_folds(found))]


def _is_row(fate: Fate) -> bool:
    return fate.reason == Reason.PROVIDER_STRIPS and fate.last - fate.first < 2


def _visible_folds(found: Window) -> list[Fold]:
    # What was only ever shown to the person is no loss to the model: it is listed with what was left out.
    return [_fold(fate) for fate in found.folds if fate.reason != Reason.UI_ONLY and not _is_row(fate)]


def _later(scope: Scope, end: int, rows: int) -> list[Gap]:
    if end >= scope.upto:
        return []
    following = max(end, scope.tail_start) + rows
    return [Gap(end, scope.upto - 1, following if following < scope.upto else None)]


def rows_at(scope: Scope, places: Sequence[tuple[int, Fate | None]]) -> list[ContextRow]:
    """The rows of some positions, given their fates; what was only shown to the person has no row of its own."""
    items = read_items(scope.session_id, scope.revision, [position for position, _ in places])
    cleared = (items[at] for at, fate in places if fate and fate.verdict == Verdict.CLEARED and at in items)
    tools = tools_called(scope.session_id, scope.revision, cleared)
    rows = []
    for position, fate in places:
        item = items.get(position)
        if item is None or (item.kind == Kind.UI and fate is None):
            continue
        is_new = position >= scope.previous_upto
        changed = fate is not None and not is_new and fate.since == scope.step
        rows.append(
            ContextRow(item, fate, is_new, changed, tools.get(item.pair if item.pair is not None else -1, ""))
        )
    return rows


def _fold(fate: Fate) -> Fold:
    return Fold(fate.first, fate.last, fate.verdict, (fate.reason,), fate.since, fate.shown_only)


def _in_order(rows: Sequence[ContextRow], folds: Sequence[Fold]) -> list[Entry]:
    placed: list[tuple[int, Entry]] = [(row.item.position, row) for row in rows]
    placed += [(fold.first, fold) for fold in folds]
    return [entry for _, entry in sorted(placed, key=lambda pair: pair[0])]


def selected_fold(entries: Sequence[Entry], position: int) -> list[Entry]:
    """The same entries, the fold around a position cut so that it begins a few items before it."""
    cut: list[Entry] = []
    for entry in entries:
        if isinstance(entry, Fold) and entry.first < position - 5 and position <= entry.last:
            cut += [replace(entry, last=position - 6), replace(entry, first=position - 5)]
        else:
            cut.append(entry)
    return cut
