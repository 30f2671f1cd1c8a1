"""An item's life as bands over steps: drawn as SVG with attributes, and the same in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from contextlab.core.items import Reason
from contextlab.queries.item import Band, Lifeline
from contextlab.web.opened import RECORDED, Opened

WIDTH = 1000


@dataclass(frozen=True, slots=True)
class DrawnBand:
    """A band with its place (units of WIDTH) and its words."""

    x: str
    width: str
    verdict: str
    reason: str
    first: int
    last: int
    left_out: bool
    compaction: int | None = None
    """Compaction of the log whose summary stands for the item."""


@dataclass(frozen=True, slots=True)
class DrawnLine:
    """A lifeline to be drawn."""

    view: str
    query: str
    """Query of links into this view."""
    steps: int
    bands: Sequence[DrawnBand]
    complete: bool
    is_open: bool
    """Whether it is the view that the page is in."""


def draw(line: Lifeline, opened: Opened, compactions: Mapping[int, int]) -> DrawnLine:
    """Place the bands of a lifeline over the steps of its view. `compactions`: those of the log, number by step."""
    steps = max(line.steps, 1)
    known = compactions if line.view == RECORDED else {}
    bands = [_place(band, steps, known) for band in line.bands if band.first <= steps]
    query = "" if line.view == RECORDED else f"?view={line.view}"
    return DrawnLine(line.view, query, line.steps, bands, line.complete, line.view == opened.name)


def _place(band: Band, steps: int, compactions: Mapping[int, int]) -> DrawnBand:
    last = steps if band.end is None else min(band.end - 1, steps)
    x = (band.first - 1) / steps * WIDTH
    width = max((last - band.first + 1) / steps * WIDTH, 1.5)
    number = compactions.get(band.first) if band.reason == Reason.COMPACTED else None
    return DrawnBand(
        f"{x:.1f}", f"{width:.1f}", band.verdict, band.reason, band.first, last, band.left_out, number
    )
