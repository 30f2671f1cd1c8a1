"""Spans: verdicts as rectangles over items and steps.

A span says that the items first_item..last_item (positions, inclusive) had one verdict, for one reason, from
first_step up to but not including end_step (None = to the end). `kept` is not stored: it is the default from an
item's first step on. Spans of one view never overlap.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from contextlab.core.items import Reason, Verdict

Painted = tuple[Verdict, Reason | None]


@dataclass(slots=True, frozen=True)
class Span:
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
            found.append(replace(span, first_step=begin, end_step=stop))
    return found


class SpanWriter:
    """Writes spans step by step: paint what changed, the rest stays as it was.

    Painting what a place already has costs nothing and splits nothing, so a span is as long as its verdict held.
    Within one step each position may change once (a second change would leave a span of no steps behind).
    """

    def __init__(self) -> None:
        """Nothing painted: everything is `kept`."""
        self.closed: list[Span] = []
        self._first: list[int] = []
        self._last: list[int] = []
        self._what: list[Painted] = []
        self._since: list[int] = []

    def paint(self, first: int, last: int, what: Painted | None, step: int) -> None:
        """From `step` on the items first..last are `what`; None = kept, as by default."""
        if last < first:
            return
        if not self._last or first > self._last[-1]:
            self._append(first, last, what, step)
            return
        low = bisect_right(self._first, first) - 1
        if low < 0 or self._last[low] < first:
            low += 1
        high = low
        count = len(self._first)
        while high < count and self._first[high] <= last:
            high += 1
        pieces = self._repaint(low, high, first, last, what, step)
        self._put(low, high, pieces, step)

    def spans(self) -> list[Span]:
        """All spans, those still open without an end, in the order of their first step and item."""
        still_open = [
            Span(first, last, *what, since)
            for first, last, what, since in zip(self._first, self._last, self._what, self._since, strict=True)
        ]
        return sorted(self.closed + still_open, key=lambda span: (span.first_step, span.first_item))

    def _append(self, first: int, last: int, what: Painted | None, step: int) -> None:
        """Paint behind everything that is open (the common case): nothing ends, at most the last one grows."""
        if what is None:
            return
        if self._last and self._last[-1] + 1 == first and self._since[-1] == step and self._what[-1] == what:
            self._last[-1] = last
            return
        self._first.append(first)
        self._last.append(last)
        self._what.append(what)
        self._since.append(step)

    def _repaint(
        self, low: int, high: int, first: int, last: int, what: Painted | None, step: int
    ) -> list[tuple[int, int, Painted, int]]:
        """What stands in the place of the open spans low..high (without high) afterwards; closes what ends."""
        pieces: list[tuple[int, int, Painted, int]] = []
        at = first
        for number in range(low, high):
            begin, end, old, since = (
                self._first[number],
                self._last[number],
                self._what[number],
                self._since[number],
            )
            if old == what:
                if at < begin:
                    pieces.append((at, begin - 1, old, step))
                pieces.append((begin, end, old, since))
                at = max(at, end + 1)
                continue
            if begin < first:
                pieces.append((begin, first - 1, old, since))
            if since < step:
                self.closed.append(Span(max(begin, first), min(end, last), *old, since, step))
            if end > last:
                if what is not None and at <= last:
                    pieces.append((at, last, what, step))
                    at = last + 1
                pieces.append((last + 1, end, old, since))
        if what is not None and at <= last:
            pieces.append((at, last, what, step))
        return pieces

    def _put(self, low: int, high: int, pieces: list[tuple[int, int, Painted, int]], step: int) -> None:
        """Exchange open spans low..high for the pieces, joining neighbours that began at this step alike."""
        if low > 0 and pieces:
            low -= 1
            pieces.insert(0, (self._first[low], self._last[low], self._what[low], self._since[low]))
        if high < len(self._first) and pieces:
            pieces.append((self._first[high], self._last[high], self._what[high], self._since[high]))
            high += 1
        joined: list[tuple[int, int, Painted, int]] = []
        for piece in pieces:
            before = joined[-1] if joined else None
            if (
                before
                and before[1] + 1 == piece[0]
                and before[2] == piece[2]
                and before[3] == piece[3] == step
            ):
                joined[-1] = (before[0], piece[1], piece[2], step)
            else:
                joined.append(piece)
        self._first[low:high] = [piece[0] for piece in joined]
        self._last[low:high] = [piece[1] for piece in joined]
        self._what[low:high] = [piece[2] for piece in joined]
        self._since[low:high] = [piece[3] for piece in joined]


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
