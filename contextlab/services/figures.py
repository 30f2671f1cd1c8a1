"""A session's size in one row: peak, limit, fill and sparkline, from the reports of the recorded view.

Figures of different kinds are never mixed: where the provider reported any step's input, only reported figures
count; else our own counts (or estimates, until every item is counted).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from contextlab.core.report import Report

BARS = 45
UNKNOWN = -1


class Figures:
    """Takes the steps of the recorded view in order."""

    def __init__(self) -> None:
        self._reported = array("q")
        self._ours = array("q")
        self._limits = array("q")
        self.findings = 0
        self.counted = True

    def add(self, report: Report, limit: int | None) -> None:
        """The next step."""
        self._reported.append(_code(report.reported_input_tokens))
        self._ours.append(_code(report.projected_tokens))
        self._limits.append(_code(limit))
        self.findings += report.finding is not None
        self.counted = self.counted and is_counted(report)

    def fields(self, compacted_at: Iterable[int]) -> dict[str, Any]:
        """The columns of Session. `compacted_at` are the steps that follow a compaction."""
        sizes, source = self._ours, "counted" if self.counted else "estimated"
        if any(value != UNKNOWN for value in self._reported):
            sizes, source = self._reported, "reported"
        peak = max(sizes, default=UNKNOWN)
        last = next((value for value in reversed(sizes) if value != UNKNOWN), UNKNOWN)
        limit = self._limits[sizes.index(peak)] if peak != UNKNOWN else UNKNOWN
        return {
            "peak_tokens": _known(peak),
            "peak_source": source if peak != UNKNOWN else "",
            "last_tokens": _known(last),
            "limit": _known(self._limits[-1]) if self._limits else None,
            "fill_percent": round(100 * peak / limit, 2) if peak != UNKNOWN and limit > 0 else None,
            "sparkline": _bars(sizes, set(compacted_at)),
            "findings": self.findings,
        }


def is_counted(report: Report) -> bool:
    """Whether every token figure of the report was counted."""
    return report.token_source == "counted"  # noqa: S105 - no password


def _code(value: int | None) -> int:
    return UNKNOWN if value is None or not 0 <= value < 2**62 else value


def _bars(sizes: array[int], compacted_at: set[int]) -> list[list[int]]:
    """At most BARS bars: [largest context of the bucket, 1 if a compaction lies in it]; 0 where it is unknown."""
    count = len(sizes)
    bars = min(BARS, count)
    edges = [count * number // bars for number in range(bars + 1)] if bars else []
    return [
        [max(0, *sizes[start:end]), int(any(start < step <= end for step in compacted_at))]
        for start, end in pairwise(edges)
    ]


def _known(value: int) -> int | None:
    return None if value == UNKNOWN else value
