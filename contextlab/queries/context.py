"""The context of a step as a list of bounded length: rows in order, runs left out where they stood, gaps to go on.

Whatever the session's size, one list reads at most a page of rows and SPANS_READ spans of each region: the head
[0, head_end), what is left out between (its report says that all of it is), and the tail [tail_start, upto).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from contextlab.core.items import VERDICT_CODE, Kind, Reason, Verdict
from contextlab.queries import fates
from contextlab.queries.fates import SPANS_READ, Fate
from contextlab.queries.items import ContextRow, read_items, tools_called
from contextlab.queries.scope import Reading, Scope

ROWS = 60
HEAD_ROWS = 20
SHORT = 3
"""Runs of up to so many items are shown item by item where a list is about what was left out."""
FOLDS = 12
"""Runs of the middle shown one by one; more become one row that names its reasons."""


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


def context_list(reading: Reading, before: int | None = None, rows: int = ROWS) -> list[Entry]:
    """What stood in the context, oldest first: the head, the newest `rows` items before `before`, folds and gaps."""
    scope = reading.scope
    end = min(scope.upto, before) if before is not None else scope.upto
    places = _Places()
    if scope.has_gap and end <= scope.head_end:
        _stretch(places, [fate for fate in reversed(reading.head) if fate.first < end], 0, end, rows)
    else:
        if scope.has_gap:
            _head(places, reading)
            places.entries += middle_folds(reading)
        _stretch(places, reading.back_before(end), scope.tail_start, end, rows)
    return [*places.filled(scope), *_later(scope, end, rows)]


def cleared_list(reading: Reading, before: int | None = None, rows: int = ROWS) -> list[Entry]:
    """The newest `rows` items that stood in the context as a placeholder or a preview."""
    scope = reading.scope
    stubs = [VERDICT_CODE[name] for name in (Verdict.CLEARED, Verdict.REASONING_CLEARED, Verdict.OFFLOADED)]
    spans = fates.in_force(scope.view_id, scope.step).filter(verdict__in=stubs)
    spans = spans.exclude(first_item__gte=scope.head_end, first_item__lt=scope.tail_start)
    spans = spans.exclude(reason=Reason.PROVIDER_STRIPS)
    end = scope.upto if before is None else min(before, scope.upto)
    found = fates.read(spans.filter(first_item__lt=end).order_by("-first_item")[: rows + 1])
    shown: list[tuple[int, Fate | None]] = []
    for fate in found:
        last = min(fate.last, end - 1)
        first = max(fate.first, last - (rows - len(shown)))
        shown += [(at, fate) for at in range(last, first - 1, -1)]
        if len(shown) > rows:
            break
    gap = [Gap(0, shown[rows - 1][0] - 1, shown[rows - 1][0])] if len(shown) > rows else []
    return [*gap, *rows_at(scope, shown[:rows][::-1])]


def left_out_list(reading: Reading, before: int | None = None, rows: int = ROWS) -> list[Entry]:
    """The runs of items that were left out, short ones as rows."""
    scope = reading.scope
    end = scope.upto if before is None else min(before, scope.upto)
    tail = reading.back_before(end)
    runs = fates.merged(fate for fate in reversed(tail) if fate.left_out)
    cut, room = len(runs), rows
    while cut and room > 0:
        cut -= 1
        room -= min(runs[cut].last - runs[cut].first + 1, SHORT)
    places = _Places()
    if scope.has_gap:
        places.entries += middle_folds(reading)
    if cut or len(tail) == SPANS_READ:
        first = runs[cut].first if runs else tail[-1].first
        places.entries.append(Gap(scope.tail_start, first - 1, first))
    for run in runs[cut:]:
        places.add(run)
    return places.filled(scope)


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


def folded(scope: Scope, folds: Sequence[Fold], most: int) -> list[Entry]:
    """Folds as rows of items where they are short, `most` of them at most."""
    places = _Places()
    for fold in folds[:most]:
        short = fold.last - fold.first < SHORT and len(places.entries) < most
        if short:
            fate = Fate(fold.first, fold.last, fold.verdict, fold.reasons[0], fold.since)
            places.entries += [(at, fate) for at in range(fold.first, fold.last + 1)]
        else:
            places.entries.append(fold)
    return places.filled(scope)


def middle_folds(reading: Reading) -> list[Fold]:
    """What was left out between head and tail: run by run, or as one row where there are too many."""
    scope, exact = reading.scope, reading.middle_is_whole
    runs = fates.merged(reading.middle)
    if exact and len(runs) <= FOLDS:
        return [_fold(run) for run in runs]
    if not exact:
        runs += reading.newest_of_middle
    named = [run for run in runs if run.reason != Reason.UI_ONLY] or runs
    reasons = tuple(dict.fromkeys(run.reason for run in named))
    summarised = all(run.verdict == Verdict.SUMMARISED for run in named)
    verdict = Verdict.SUMMARISED if summarised else Verdict.DROPPED
    shown_only = sum(run.shown_only for run in runs) if exact else 0
    since = max(run.since for run in runs)
    return [Fold(scope.head_end, scope.tail_start - 1, verdict, reasons, since, shown_only, exact)]


class _Places:
    """A list in the making: folds and gaps as they are, items as (position, fate) until all are read at once."""

    def __init__(self) -> None:
        self.entries: list[Fold | Gap | tuple[int, Fate | None]] = []

    def add(self, run: Fate) -> None:
        """A run that was left out: its items where it is short, else a fold."""
        short = run.last - run.first < SHORT
        self.entries += [(at, run) for at in range(run.first, run.last + 1)] if short else [_fold(run)]

    def filled(self, scope: Scope) -> list[Entry]:
        """The list with its rows; an item that has none (only shown to the person, or just rewritten) is left out."""
        rows = {
            row.item.position: row
            for row in rows_at(scope, [e for e in self.entries if isinstance(e, tuple)])
        }
        made: list[Entry | None] = [rows.get(e[0]) if isinstance(e, tuple) else e for e in self.entries]
        return [entry for entry in made if entry is not None]


def _head(places: _Places, reading: Reading) -> None:
    scope = reading.scope
    end = min(scope.head_end, HEAD_ROWS)
    inside = [fates.clip(fate, 0, end) for fate in reading.head if fate.first < end]
    _lay(places, list(_kept_and_told(inside, 0, end)), fates.merged(fate for fate in inside if fate.left_out))
    if end < scope.head_end:
        places.entries.append(Gap(end, scope.head_end - 1, scope.head_end))


def _kept_and_told(found: Sequence[Fate], first: int, end: int) -> Iterator[tuple[int, Fate | None]]:
    """The positions of a stretch that stood in the context, each with its fate."""
    by_position = {at: fate for fate in found for at in range(fate.first, fate.last + 1)}
    for position in range(first, end):
        fate = by_position.get(position)
        if fate is None or not fate.left_out:
            yield position, fate


def _stretch(places: _Places, found: Sequence[Fate], floor: int, end: int, rows: int) -> None:
    if end <= floor:
        return
    seen = fates.window(found, floor, end, rows)
    if seen.first > floor:
        places.entries.append(Gap(floor, seen.first - 1, seen.first))
    _lay(places, seen.shown, seen.folds)


def _lay(places: _Places, shown: Sequence[tuple[int, Fate | None]], folds: Sequence[Fate]) -> None:
    """Rows and folds in order. What was only ever shown to the person is no loss to the model: it has no place here.

    Reasoning that the provider strips stands at nearly every step: a row of its own says more than a fold of one.
    """
    laid: list[tuple[int, Fold | tuple[int, Fate | None]]] = [(place[0], place) for place in shown]
    for fate in folds:
        if fate.reason == Reason.PROVIDER_STRIPS and fate.last - fate.first < SHORT:
            laid += [(at, (at, fate)) for at in range(fate.first, fate.last + 1)]
        elif fate.reason != Reason.UI_ONLY:
            laid.append((fate.first, _fold(fate)))
    places.entries += [entry for _, entry in sorted(laid, key=lambda pair: pair[0])]


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
        if item.kind == Kind.UI and fate is not None:
            fate = replace(fate, verdict=Verdict.DROPPED, reason=Reason.UI_ONLY)  # noqa: PLW2901
        is_new = position >= scope.previous_upto
        changed = fate is not None and not is_new and fate.since == scope.step
        rows.append(
            ContextRow(item, fate, is_new, changed, tools.get(item.pair if item.pair is not None else -1, ""))
        )
    return rows


def _fold(fate: Fate) -> Fold:
    return Fold(fate.first, fate.last, fate.verdict, (fate.reason,), fate.since, fate.shown_only)


def selected_fold(entries: Sequence[Entry], position: int) -> list[Entry]:
    """The same entries, the fold around a position cut so that it begins a few items before it."""
    cut: list[Entry] = []
    for entry in entries:
        if isinstance(entry, Fold) and entry.first < position - 5 and position <= entry.last:
            cut += [replace(entry, last=position - 6), replace(entry, first=position - 5)]
        else:
            cut.append(entry)
    return cut
