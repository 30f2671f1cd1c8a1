"""The pieces of a text that have a mark: one look at the whole text for each mark, none at most pieces."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence


def marked(text: str, marks: Sequence[str], starts: Sequence[int]) -> list[int]:
    """The numbers of the pieces with a mark, in order; `starts`: where each piece begins, the first at 0 or later."""
    found: set[int] = set()
    for mark in marks:
        at = text.find(mark)
        while at >= 0:
            number = bisect_right(starts, at)
            found.add(number - 1)
            at = text.find(mark, starts[number]) if number < len(starts) else -1
    found.discard(-1)
    return sorted(found)
