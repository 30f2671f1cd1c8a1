"""The context map: rectangles of one verdict over items and steps, cut down to what a screen can show.

    {"steps": [first, last], "items": [first, last], "bands": [[first_item, last_item, kind, tokens], ...],
     "rects": [[first_band, last_band, verdict, reason, first_step, end_step], ...], "exact": bool,
     "kinds": [...], "verdicts": [...], "reasons": [...], "marks": [[step, number, made], ...], "token_source": ...}

Kinds, verdicts and reasons are indices into their lists; bands and steps of a rectangle are half-open in steps,
inclusive in bands. A mark is a compaction of the view; one that is not `made` was due and needs a model. `kept` is
written out, so that a reader needs no rule. A band is one item while there are at most BANDS of them, else a run of
neighbours: it shows the kind that has most of its tokens, and of the items of that kind the fate that most of their
tokens have (`exact` is then false). Where that is more than RECTANGLES, steps are put together until it is not.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from django.db.models import Q

from contextlab.core.items import KIND_CODE, KINDS, VERDICT_CODE, VERDICTS, Kind, Reason, Verdict
from contextlab.queries.marks import marks_between
from contextlab.queries.step import Seen
from contextlab.store.models import ItemRecord, SpanRecord, StepRecord, StepReport

BANDS = 400
RECTANGLES = 4000
COLUMNS = 1200
_KEPT = VERDICT_CODE[Verdict.KEPT]
_UI = KIND_CODE[Kind.UI]

Fate = tuple[int, int]
"""Codes of a verdict and of a reason (index into the answer's reasons)."""
Rect = tuple[int, int, int, int, int, int]


@dataclass(slots=True)
class Band:
    """A run of neighbouring items that is drawn as one row."""

    first: int
    last: int
    kind: int
    tokens: int
    members: list[int]
    """Positions of the items of its kind."""
    sizes: list[int]
    """Their tokens, summed up from the left, beginning with 0."""
    begins: list[int]
    """The steps at which they come into memory."""

    def share(self, first: int, last: int) -> int:
        """Tokens of its kind that items first..last have."""
        return self.sizes[bisect_right(self.members, last)] - self.sizes[bisect_left(self.members, first)]

    def entered(self, step: int) -> int:
        """Tokens of its kind that have come into memory at a step; items come in the order of positions."""
        return self.sizes[bisect_right(self.begins, step)]


def context_map(seen: Seen, first_step: int, last_step: int, whole: bool) -> dict[str, Any]:
    """The map of steps first_step..last_step: of all items, or of those that stood in a context there."""
    view_id = seen.view_id or 0
    low, high = _items(seen, first_step, last_step, whole)
    reasons: list[str] = [""]
    bands, counted = _bands(seen, low, high)
    fates = _fates(view_id, bands, (low, high), (first_step, last_step), reasons)
    exact = all(band.first == band.last for band in bands)
    rects, width = _fitting(bands, fates, first_step, last_step)
    marks = marks_between(seen, first_step, last_step)[:COLUMNS]
    return {
        "steps": [first_step, last_step],
        "items": [low, max(high - 1, low)],
        "bands": [[band.first, band.last, band.kind, band.tokens] for band in bands],
        "rects": rects,
        "exact": exact and width == 1,
        "kinds": list(KINDS),
        "verdicts": list(VERDICTS),
        "reasons": reasons,
        "marks": [[mark.step, mark.number, mark.made] for mark in marks],
        "token_source": "counted" if counted else "estimated",
    }


def last_step_of(seen: Seen) -> int:
    """How far the view reaches."""
    steps = (
        StepReport.objects.filter(view_id=seen.view_id or 0).order_by("-step").values_list("step", flat=True)
    )
    return steps.first() or 0


def _items(seen: Seen, first_step: int, last_step: int, whole: bool) -> tuple[int, int]:
    """The items to draw, half-open: all up to the last step, or from where the first step's tail begins."""
    steps = StepRecord.objects.filter(session_id=seen.session_id, revision=seen.revision)
    high = steps.filter(number=last_step).values_list("upto", flat=True).first() or 0
    if whole:
        return 0, high
    reports = StepReport.objects.filter(view_id=seen.view_id or 0, step__in=(first_step, last_step))
    starts = [tail for head, tail in reports.values_list("head_end", "tail_start") if tail and head != tail]
    low = min(starts, default=0) if len(starts) == 2 or first_step == last_step else 0
    return (low if low < high else 0), high


def _bands(seen: Seen, low: int, high: int) -> tuple[list[Band], bool]:
    """Items as rows. A run of several takes the kind that has most of its tokens."""
    width = max(1, -(-(high - low) // BANDS))
    records = ItemRecord.objects.filter(
        session_id=seen.session_id, revision=seen.revision, position__gte=low, position__lt=high
    )
    bands: list[Band] = []
    counted = True
    group: list[tuple[int, int, int, int]] = []
    columns = ("position", "kind", "tokens", "estimate", "first_step")
    for position, kind, tokens, estimate, first_step in (
        records.order_by("position").values_list(*columns).iterator()
    ):
        counted = counted and tokens is not None
        size = 0 if kind == _UI else max(estimate if tokens is None else tokens, 1)
        group.append((position, kind, size, first_step))
        if len(group) == width:
            bands.append(_band(group))
            group = []
    return ([*bands, _band(group)] if group else bands), counted


def _band(group: Sequence[tuple[int, int, int, int]]) -> Band:
    by_kind: dict[int, int] = {}
    for _, kind, size, _ in group:
        by_kind[kind] = by_kind.get(kind, 0) + size
    kind = max(by_kind, key=lambda code: by_kind[code])
    members = [member for member in group if member[1] == kind]
    sizes = [0, *accumulate(max(size, 1) for _, _, size, _ in members)]
    positions = [position for position, *_ in members]
    begins = [step for *_, step in members]
    return Band(group[0][0], group[-1][0], kind, sum(by_kind.values()), positions, sizes, begins)


def _fates(
    view_id: int, bands: Sequence[Band], items: tuple[int, int], steps: tuple[int, int], reasons: list[str]
) -> list[list[tuple[int, int, Fate, int]]]:
    """For each band what spans say of it: (first step, end step, fate, tokens)."""
    found: list[list[tuple[int, int, Fate, int]]] = [[] for _ in bands]
    if not bands:
        return found
    starts = [band.first for band in bands]
    codes = {"": 0}
    ends_later = Q(end_step__isnull=True) | Q(end_step__gt=steps[0])
    spans = SpanRecord.objects.filter(
        ends_later,
        view_id=view_id,
        first_item__lt=items[1],
        last_item__gte=items[0],
        first_step__lte=steps[1],
    ).exclude(reason=Reason.UI_ONLY)
    columns = ("first_item", "last_item", "verdict", "reason", "first_step", "end_step")
    for first, last, verdict, reason, begin, end in spans.values_list(*columns).iterator():
        if reason not in codes:
            codes[reason] = len(reasons)
            reasons.append(reason)
        stretch = (max(begin, steps[0]), min(end or steps[1] + 1, steps[1] + 1))
        at = max(bisect_right(starts, first) - 1, 0)
        while at < len(bands) and bands[at].first <= last:
            band = bands[at]
            if (share := band.share(first, last)) > 0:
                found[at].append((*stretch, (verdict, codes[reason]), share))
            at += 1
    return found


def _fitting(
    bands: Sequence[Band], fates: Sequence[list[tuple[int, int, Fate, int]]], first: int, last: int
) -> tuple[list[Rect], int]:
    """Rectangles, of columns wide enough that there are not too many; and how many steps a column has."""
    width = max(1, -(-(last - first + 1) // COLUMNS))
    while True:
        rows = [_runs(band, spans, first, last, width) for band, spans in zip(bands, fates, strict=True)]
        rects = _stacked(rows)
        if len(rects) <= RECTANGLES or width > last - first:
            return rects[:RECTANGLES], width
        width *= 2


def _runs(
    band: Band, spans: Iterable[tuple[int, int, Fate, int]], first: int, last: int, width: int
) -> list[tuple[int, int, Fate]]:
    """The life of a band as stretches of columns."""
    if band.kind == _UI:
        return []
    events: dict[int, list[tuple[Fate, int]]] = {}
    for begin, end, fate, share in spans:
        events.setdefault(_snap(begin, first, width), []).append((fate, share))
        if end <= last:
            events.setdefault(_snap(end, first, width), []).append((fate, -share))
    kept: Fate = (_KEPT, 0)
    for step in band.begins:
        events.setdefault(_snap(max(step, first), first, width), [])
    holders: dict[Fate, int] = {}
    runs: list[tuple[int, int, Fate]] = []
    edges = sorted(at for at in events if at <= last)
    for place, at in enumerate(edges):
        for fate, share in events[at]:
            holders[fate] = holders.get(fate, 0) + share
        entered = band.entered(at + width - 1)
        if not entered:
            continue
        weights = {**holders, kept: entered - sum(holders.values())}
        fate = max(weights, key=lambda name: weights[name])
        stop = edges[place + 1] if place + 1 < len(edges) else last + 1
        if runs and runs[-1][1] == at and runs[-1][2] == fate:
            runs[-1] = (runs[-1][0], stop, fate)
        elif stop > at:
            runs.append((at, stop, fate))
    return runs


def _snap(step: int, first: int, width: int) -> int:
    """The first step of the column that a step falls into."""
    return first + (step - first) // width * width


def _stacked(rows: Sequence[list[tuple[int, int, Fate]]]) -> list[Rect]:
    """Stretches of neighbouring bands that are alike, as one rectangle."""
    rects: list[Rect] = []
    open_runs: dict[tuple[int, int, Fate], int] = {}
    for at, runs in enumerate([*rows, []]):
        here = set(runs)
        for run, since in list(open_runs.items()):
            if run not in here:
                begin, end, (verdict, reason) = run
                rects.append((since, at - 1, verdict, reason, begin, end))
                del open_runs[run]
        for run in runs:
            open_runs.setdefault(run, at)
    return rects
