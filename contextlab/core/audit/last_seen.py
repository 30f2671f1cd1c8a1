"""When the model had a text before it: the steps at which it stood there verbatim, as a stub, in a summary, or not.

| an item that holds the text is | the model had |
|---|---|
| kept, pinned, offloaded (what is left of it holds the text) | it, verbatim |
| a summary in the context | it, in a summary |
| cleared to a placeholder | a stub: that there was something, not what |
| summarised, and the summary is sealed | nobody can tell |
| summarised, and the summary has another value in its place | another value |
| summarised without it, dropped, stripped | nothing |

Of several items at a step the best counts. What the log does not hold (a system prompt, hidden reasoning) nobody can
look into; callers say so beside every "no".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from heapq import heappop, heappush
from itertools import pairwise
from typing import NamedTuple

from contextlab.core.items import VERDICTS, Reason, Verdict


class Seen(StrEnum):
    """How the model had a text at a step, best first."""

    VERBATIM = "verbatim"
    SUMMARY = "summary"
    CHANGED = "changed"
    SEALED = "sealed"
    STUB = "stub"
    NONE = "none"


_RANK = {seen: rank for rank, seen in enumerate(Seen)}
_WIDE = 512
_BUCKET = 64


@dataclass(frozen=True, slots=True)
class Holder:
    """An item that holds the text: its position, the first step that could see it, whether it is a summary."""

    position: int
    first_step: int
    is_summary: bool = False


@dataclass(frozen=True, slots=True)
class Fold:
    """A compaction: from `at_step` on its summary stands for items; what the summary does for the text."""

    at_step: int
    upto: int
    """Items below this position were there."""
    instead: Seen
    """SEALED, CHANGED, or NONE."""
    summary: int | None = None


@dataclass(frozen=True, slots=True)
class Band:
    """A stretch of steps [first, end) and how the model had the text there; `end` is exclusive.

    `position` is the item that tells, `verdict` and `reason` what had become of it.
    """

    first: int
    end: int
    seen: Seen
    position: int | None = None
    verdict: Verdict | None = None
    reason: str = ""


class SpanRow(NamedTuple):
    """A stored span, as wide as it is: see core.spans.Span."""

    first_item: int
    last_item: int
    verdict: int
    reason: str
    first_step: int
    end_step: int | None


class SpanIndex:
    """The spans of a view by position: those of one item are found without looking at the others."""

    def __init__(self, rows: Iterable[tuple[int, int, int, str, int, int | None]]) -> None:
        """`rows` as stored: first_item, last_item, verdict code, reason, first_step, end_step (None = open)."""
        self._wide: list[SpanRow] = []
        self._narrow: dict[int, list[SpanRow]] = {}
        for row in map(SpanRow._make, rows):
            if row.last_item - row.first_item > _WIDE:
                self._wide.append(row)
                continue
            for bucket in range(row.first_item // _BUCKET, row.last_item // _BUCKET + 1):
                self._narrow.setdefault(bucket, []).append(row)

    def of(self, position: int) -> list[SpanRow]:
        """The spans over an item, by their first step."""
        found = [row for row in self._wide if row[0] <= position <= row[1]]
        found += [row for row in self._narrow.get(position // _BUCKET, ()) if row[0] <= position <= row[1]]
        return sorted(found, key=lambda row: row.first_step)


def life(holder: Holder, spans: Sequence[SpanRow], steps: int) -> list[Band]:
    """The bands of one item over the steps of a view, `steps` of them; kept where no span says otherwise."""
    bands: list[Band] = []
    cursor = holder.first_step
    for span in spans:
        first, end = max(span.first_step, cursor), steps + 1 if span.end_step is None else span.end_step
        if first > cursor:
            bands.append(_band(holder, cursor, min(first, steps + 1), Verdict.KEPT, ""))
        if end > first:
            bands.append(_band(holder, first, min(end, steps + 1), VERDICTS[span.verdict], span.reason))
        cursor = max(cursor, end)
    if cursor <= steps:
        bands.append(_band(holder, cursor, steps + 1, Verdict.KEPT, ""))
    return [band for band in bands if band.first < band.end]


def bands(lives: Iterable[Sequence[Band]], folds: Sequence[Fold], steps: int) -> list[Band]:
    """How the model had the text at each step of 1..steps: the best of all items, in stretches."""
    folds = _changes_only(folds)
    everything = [piece for one in lives for band in one for piece in _through(band, folds)]
    edges = sorted({1, steps + 1, *(band.first for band in everything), *(band.end for band in everything)})
    best: list[Band] = []
    waiting = sorted(everything, key=lambda band: band.first)
    # Of the best the one that has told longest goes on telling.
    active: list[tuple[int, int, int]] = []
    at = 0
    for first, end in pairwise(edges):
        while at < len(waiting) and waiting[at].first <= first:
            heappush(active, (_RANK[waiting[at].seen], waiting[at].first, at))
            at += 1
        while active and waiting[active[0][-1]].end <= first:
            heappop(active)
        top = waiting[active[0][-1]] if active else Band(first, end, Seen.NONE)
        _append(best, Band(first, end, top.seen, top.position, top.verdict, top.reason))
    return best


def at_step(found: Sequence[Band], step: int) -> Band | None:
    """The band of a step; None outside of all."""
    return next((band for band in found if band.first <= step < band.end), None)


def last_seen(found: Sequence[Band]) -> int | None:
    """The last step at which the model had the text verbatim or in a summary; None when it never had."""
    had = [band.end - 1 for band in found if band.seen in (Seen.VERBATIM, Seen.SUMMARY)]
    return max(had, default=None)


def _band(holder: Holder, first: int, end: int, verdict: Verdict, reason: str) -> Band:
    return Band(first, end, _seen(holder, verdict, reason), holder.position, verdict, reason)


def _seen(holder: Holder, verdict: Verdict, reason: str) -> Seen:
    if verdict in (Verdict.KEPT, Verdict.PINNED, Verdict.OFFLOADED):
        return Seen.SUMMARY if holder.is_summary else Seen.VERBATIM
    stub = verdict == Verdict.CLEARED or (
        verdict == Verdict.REASONING_CLEARED and reason != Reason.PROVIDER_STRIPS
    )
    return Seen.STUB if stub else Seen.NONE


def _through(band: Band, folds: Sequence[Fold]) -> list[Band]:
    """A band of a summarised item, cut where compactions say something else of it."""
    if band.verdict != Verdict.SUMMARISED or not folds:
        return [band]
    made: list[Band] = []
    cursor = band.first
    edges = [
        fold for fold in folds if band.first <= fold.at_step < band.end and fold.upto > (band.position or 0)
    ]
    for number, fold in enumerate(edges):
        if fold.at_step > cursor:
            made.append(Band(cursor, fold.at_step, band.seen, band.position, band.verdict, band.reason))
        end = edges[number + 1].at_step if number + 1 < len(edges) else band.end
        position = fold.summary if fold.instead == Seen.CHANGED else band.position
        made.append(Band(fold.at_step, end, fold.instead, position, band.verdict, band.reason))
        cursor = end
    return made if made else [band]


def _changes_only(folds: Sequence[Fold]) -> list[Fold]:
    """The folds behind which it is otherwise than behind the one before."""
    found: list[Fold] = []
    for fold in folds:
        before = (found[-1].instead, found[-1].summary) if found else (Seen.NONE, None)
        if fold.instead != before[0] or (fold.instead == Seen.CHANGED and fold.summary != before[1]):
            found.append(fold)
    return found


def _append(found: list[Band], band: Band) -> None:
    before = found[-1] if found else None
    same = before is not None and (before.seen, before.position, before.verdict, before.reason) == (
        band.seen, band.position, band.verdict, band.reason,
    )  # fmt: skip
    if before is not None and same:
        found[-1] = Band(before.first, band.end, band.seen, band.position, band.verdict, band.reason)
    else:
        found.append(band)
