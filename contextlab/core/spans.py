"""Spans: verdicts as rectangles over items and steps.

A span says that the items first_item..last_item (positions, inclusive) had one verdict, for one reason, from
first_step up to but not including end_step (None = to the end). `kept` is not stored: it is the default from an
item's first step on. Spans of one view never overlap.
"""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from contextlab.core.items import Reason, Verdict

Painted = tuple[Verdict, Reason | None]
Open = tuple[int, int, Painted, int]
"""A span that has no end yet: its first and last item, what they are, and since which step."""
SHELF = 256
"""Open spans that are kept together; twice as many at most."""
FARTHEST = sys.maxsize


class Span(NamedTuple):
    """A rectangle of one verdict: positions inclusive, steps half-open."""

    first_item: int
    last_item: int
    verdict: Verdict
    reason: Reason | None
    first_step: int
    end_step: int | None = None

    def covers(self, position: int, step: int) -> bool:
        """Whether the item at `position` has this verdict at `step`."""
        in_steps = self.first_step <= step and (self.end_step is None or step < self.end_step)
        return in_steps and self.first_item <= position <= self.last_item


def within(spans: Sequence[Span], first: int, end: int | None) -> list[Span]:
    """What spans say of the steps first..end (half-open; to the last one without an end)."""
    found = []
    for span in spans:
        begin = max(span.first_step, first)
        stop = end if span.end_step is None else span.end_step if end is None else min(span.end_step, end)
        if stop is None or begin < stop:
            found.append(span._replace(first_step=begin, end_step=stop))
    return found


class SpanWriter:
    """Writes spans step by step: paint what changed, the rest stays as it was.

    Painting what a place already has costs nothing and splits nothing, so a span is as long as its verdict held.
    Within one step each position may change once (a second change would leave a span of no steps behind).
    """

    def __init__(self) -> None:
        """Nothing painted: everything is `kept`."""
        self._closed: list[tuple[int, int, int, Painted, int | None]] = []
        """Since, first, last, what and end of the spans that are over."""
        self._shelves: list[list[Open]] = []
        """The open spans in order, on shelves: what is put in between others moves few of them aside."""
        self._heads: list[int] = []
        """The first item of each shelf."""

    def paint(self, first: int, last: int, what: Painted | None, step: int) -> None:
        """From `step` on the items first..last are `what`; None = kept, as by default."""
        if last < first:
            return
        if not self._shelves or first > self._shelves[-1][-1][1]:
            if what is not None:
                self._append(first, last, what, step)
            return
        number = self._shelf_around(first, last)
        shelf = self._shelves[number]
        low = bisect_right(shelf, (first, FARTHEST)) - 1
        if low < 0 or shelf[low][1] < first:
            low += 1
        high, count = low, len(shelf)
        while high < count and shelf[high][0] <= last:
            high += 1
        if high - low <= 1 and self._paint_simply(number, low, high, (first, last, what, step)):
            return
        _put(shelf, low, high, self._repaint(shelf[low:high], first, last, what, step), step)
        self._keep_order(number)

    def spans(self) -> list[Span]:
        """All spans, those still open without an end, in the order of their first step and item."""
        still_open = [
            (since, first, last, what, None) for shelf in self._shelves for first, last, what, since in shelf
        ]
        # No two of them begin at one step with one item: nothing else is compared.
        return [
            Span(first, last, verdict, reason, since, end)
            for since, first, last, (verdict, reason), end in sorted([*self._closed, *still_open])
        ]

    def _append(self, first: int, last: int, what: Painted, step: int) -> None:
        """Paint behind everything that is open (the common case): nothing ends, at most the last one grows."""
        if self._shelves:
            shelf = self._shelves[-1]
            before = shelf[-1]
            if before[1] + 1 == first and before[3] == step and before[2] == what:
                shelf[-1] = (before[0], last, what, step)
                return
            if len(shelf) < SHELF:
                shelf.append((first, last, what, step))
                return
        self._shelves.append([(first, last, what, step)])
        self._heads.append(first)

    def _paint_simply(
        self, number: int, low: int, high: int, paint: tuple[int, int, Painted | None, int]
    ) -> bool:
        """The frequent cases in short: nothing to change, and a hole in a single span. Whether it was one of them."""
        first, last, what, step = paint
        if low == high:
            return what is None
        shelf = self._shelves[number]
        begin, end, old, since = shelf[low]
        if begin > first or last > end:
            return False
        if old == what:
            return True
        if what is not None or since >= step:
            return False
        self._closed.append((since, first, last, old, step))
        left = [(begin, first - 1, old, since)] if begin < first else []
        if last < end:
            left.append((last + 1, end, old, since))
        shelf[low:high] = left
        self._keep_order(number)
        return True

    def _shelf_around(self, first: int, last: int) -> int:
        """The shelf of what is open in first..last and next to it; made one where there are several."""
        heads = self._heads
        number = max(0, bisect_left(heads, first) - 1)
        end = number + 1
        while end < len(heads) and heads[end] <= last + 1:
            self._shelves[number] += self._shelves[end]
            end += 1
        del heads[number + 1 : end], self._shelves[number + 1 : end]
        return number

    def _keep_order(self, number: int) -> None:
        """After a change: no empty shelf, none too long, and each with its head."""
        shelf = self._shelves[number]
        if not shelf:
            del self._shelves[number], self._heads[number]
        elif len(shelf) <= 2 * SHELF:
            self._heads[number] = shelf[0][0]
        else:
            parts = [shelf[at : at + SHELF] for at in range(0, len(shelf), SHELF)]
            self._shelves[number : number + 1] = parts
            self._heads[number : number + 1] = [part[0][0] for part in parts]

    def _repaint(
        self, there: list[Open], first: int, last: int, what: Painted | None, step: int
    ) -> list[Open]:
        """What stands in the place of open spans afterwards; closes what ends."""
        pieces: list[Open] = []
        at = first
        for begin, end, old, since in there:
            if old == what:
                if at < begin:
                    pieces.append((at, begin - 1, old, step))
                pieces.append((begin, end, old, since))
                at = max(at, end + 1)
                continue
            if begin < first:
                pieces.append((begin, first - 1, old, since))
            if since < step:
                self._closed.append((since, max(begin, first), min(end, last), old, step))
            if end > last:
                if what is not None and at <= last:
                    pieces.append((at, last, what, step))
                    at = last + 1
                pieces.append((last + 1, end, old, since))
        if what is not None and at <= last:
            pieces.append((at, last, what, step))
        return pieces


def _put(shelf: list[Open], low: int, high: int, pieces: list[Open], step: int) -> None:
    """Exchange open spans low..high for the pieces, joining neighbours that began at this step alike."""
    if pieces:
        if low > 0 and _joins(shelf[low - 1], pieces[0], step):
            low -= 1
            pieces.insert(0, shelf[low])
        if high < len(shelf) and _joins(pieces[-1], shelf[high], step):
            pieces.append(shelf[high])
            high += 1
    if len(pieces) > 1:
        joined = pieces[:1]
        for piece in pieces[1:]:
            if _joins(joined[-1], piece, step):
                joined[-1] = (joined[-1][0], piece[1], piece[2], step)
            else:
                joined.append(piece)
        pieces = joined
    shelf[low:high] = pieces


def _joins(one: Open, behind: Open, step: int) -> bool:
    return one[1] + 1 == behind[0] and one[3] == behind[3] == step and one[2] == behind[2]


def verdicts_at(spans: Iterable[Span], step: int, positions: Iterable[int]) -> list[Painted]:
    """Verdict and reason of each position at a step, in the order asked for; `kept` where no span says otherwise.

    Give it the spans that were in force at the step (all of the view will do). Positions whose first step is later
    are not told apart: ask only for items below the step's `upto`.
    """
    alive = sorted(
        (span.first_item, span.last_item, span.verdict, span.reason)
        for span in spans
        if span.first_step <= step and (span.end_step is None or step < span.end_step)
    )
    starts = [entry[0] for entry in alive]
    answers: list[Painted] = []
    for position in positions:
        at = bisect_right(starts, position) - 1
        hit = at >= 0 and alive[at][1] >= position
        answers.append((alive[at][2], alive[at][3]) if hit else (Verdict.KEPT, None))
    return answers
