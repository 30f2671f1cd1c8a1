"""What had happened to items at a step, read from the spans around the place that is looked at.

A session of 20,000 turns has as many spans; a page may read only those of the items that it shows. What makes that
possible is that spans of one view never overlap at a step: of those that begin at or before a position and are in
force, only the one that begins last can cover it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from django.db.models import Q, QuerySet

from contextlab.core.items import LEFT_OUT, VERDICTS, Reason, Verdict
from contextlab.store.models import SpanRecord

SPANS_READ = 400
"""Spans that one page reads of one region at most."""


@dataclass(frozen=True, slots=True)
class Fate:
    """A run of items (positions inclusive) with one verdict and reason at a step."""

    first: int
    last: int
    verdict: Verdict
    reason: str
    since: int
    """Step from which on it holds; of a merged run the latest."""
    shown_only: int = 0
    """Items in the run that were only ever shown to the person, never part of a context."""

    @property
    def count(self) -> int:
        """Number of items in the run that could have stood in a context."""
        return self.last - self.first + 1 - self.shown_only

    @property
    def left_out(self) -> bool:
        """Whether nothing of the items stood in the context."""
        return is_left_out(self.verdict, self.reason)


def is_left_out(verdict: Verdict, reason: str) -> bool:
    """Whether an item of this fate left nothing in the context; reasoning that the provider strips left nothing."""
    return verdict in LEFT_OUT or (verdict == Verdict.REASONING_CLEARED and reason == Reason.PROVIDER_STRIPS)


def in_force(view_id: int, step: int) -> QuerySet[SpanRecord]:
    """The spans of a view that hold at a step."""
    ends_later = Q(end_step__isnull=True) | Q(end_step__gt=step)
    return SpanRecord.objects.filter(ends_later, view_id=view_id, first_step__lte=step)


def covering(view_id: int, step: int, position: int, floor: int = 0) -> Fate | None:
    """The fate of one item at a step, None when it is kept; spans that begin before `floor` are not looked for."""
    spans = in_force(view_id, step).filter(first_item__lte=position, first_item__gte=floor)
    for fate in read(spans.order_by("-first_item")[:1]):
        return fate if fate.last >= position else None
    return None


def newest_fates(view_id: int, step: int, floor: int, before: int, limit: int = SPANS_READ) -> list[Fate]:
    """Fates of the items in [floor, before), newest first and clipped to the region; at most `limit`.

    No span may reach over `floor`: 0, or the start of a report's tail. (To look for one could cost a walk back
    over every span of the session that is no longer in force.)
    """
    spans = in_force(view_id, step).filter(first_item__gte=floor, first_item__lt=before)
    return [clip(fate, floor, before) for fate in read(spans.order_by("-first_item")[:limit])]


def oldest_fates(view_id: int, step: int, floor: int, before: int, limit: int = SPANS_READ) -> list[Fate]:
    """Fates of the items in [floor, before), oldest first and clipped to the region; at most `limit`."""
    edge = covering(view_id, step, floor - 1) if floor > 0 else None
    edge = edge if edge and edge.last >= floor else None
    spans = in_force(view_id, step).filter(first_item__gte=floor, first_item__lt=before)
    found = [edge] if edge else []
    found += read(spans.order_by("first_item")[:limit])
    return [clip(fate, floor, before) for fate in found[:limit]]


def merged(fates: Iterable[Fate]) -> list[Fate]:
    """Neighbouring runs (oldest first) of one verdict and reason as one run.

    Items that were only shown to the person join what is left out beside them: they would cut every run to pieces.
    """
    runs: list[Fate] = []
    for fate in fates:
        if fate.reason == Reason.UI_ONLY:
            fate = replace(fate, shown_only=fate.count)  # noqa: PLW2901
        last = runs[-1] if runs else None
        if last and last.last + 1 == fate.first and _alike(last, fate):
            runs[-1] = _joined(last, fate)
        else:
            runs.append(fate)
    return runs


def _joined(one: Fate, other: Fate) -> Fate:
    named = other if one.reason == Reason.UI_ONLY else one
    since = max(one.since, other.since) if one.reason == other.reason else named.since
    shown_only = one.shown_only + other.shown_only
    return Fate(one.first, other.last, named.verdict, named.reason, since, shown_only)


def _alike(one: Fate, other: Fate) -> bool:
    if Reason.UI_ONLY in (one.reason, other.reason):
        return one.left_out and other.left_out
    # Of two compactions each has its own summary: their runs stay apart.
    same_summary = one.verdict != Verdict.SUMMARISED or one.since == other.since
    return one.verdict == other.verdict and one.reason == other.reason and same_summary


def clip(fate: Fate, floor: int, before: int) -> Fate:
    """The part of a run that lies in [floor, before)."""
    if fate.first >= floor and fate.last < before:
        return fate
    return replace(fate, first=max(fate.first, floor), last=min(fate.last, before - 1))


def read(spans: QuerySet[SpanRecord]) -> list[Fate]:
    fields = ("first_item", "last_item", "verdict", "reason", "first_step")
    return [
        Fate(first, last, VERDICTS[code], why, since)
        for first, last, code, why, since in spans.values_list(*fields)
    ]


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of the context, oldest first: positions that stood in it with their fate, and what was left out."""

    shown: Sequence[tuple[int, Fate | None]]
    folds: Sequence[Fate]
    first: int
    """Everything from here to the end of the stretch has been looked at."""


def window(found: Sequence[Fate], floor: int, before: int, rows: int) -> Window:
    """The newest `rows` items in context of [floor, before), with the runs left out between them.

    `found` are the fates of the region, newest first, SPANS_READ of them at most. Not more than `rows` folds are
    taken, so that a context of gaps ends, too.
    """
    # Beyond the last span that was read nothing is known: stop there, the next window goes on.
    floor = found[-1].first if len(found) == SPANS_READ else floor
    shown: list[tuple[int, Fate | None]] = []
    folds: list[Fate] = []
    cursor = before - 1
    for fate in [*found, None]:
        kept_down_to = fate.last + 1 if fate else floor
        cursor = _take(shown, None, cursor, kept_down_to, rows)
        if fate is None or cursor >= kept_down_to or len(folds) >= rows:
            break
        if fate.left_out:
            folds.append(fate)
            cursor = fate.first - 1
        else:
            cursor = _take(shown, fate, cursor, fate.first, rows)
        if len(shown) >= rows:
            break
    return Window(shown[::-1], merged(folds[::-1]), cursor + 1)


def _take(
    shown: list[tuple[int, Fate | None]], fate: Fate | None, cursor: int, down_to: int, rows: int
) -> int:
    """Add positions from `cursor` down to `down_to` while there is room; returns the next position to look at."""
    stop = max(down_to, cursor + 1 - (rows - len(shown)))
    shown += [(position, fate) for position in range(cursor, stop - 1, -1)]
    return min(cursor, stop - 1)
