"""What stood in a memory before a compaction and what of it after: tokens by kind, and its items run by run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from django.db.models import Q, Sum
from django.db.models.functions import Coalesce

from contextlab.core.items import KINDS, LEFT_OUT, Kind, Verdict
from contextlab.queries.items import COLUMNS, ItemRow, item_rows
from contextlab.store.items import session_items
from contextlab.store.models import Session, SpanRecord, View

MOST_RUNS = 60
"""Runs of items that a page lists, and the most from which kinds are added up."""
MOST_ITEMS = 100
"""Items of a run that are listed at once."""
WHOLE = (Verdict.KEPT, Verdict.PINNED)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Items of the log side by side that shared a fate."""

    first: int
    last: int
    verdict: str
    reason: str

    @property
    def count(self) -> int:
        """How many."""
        return self.last - self.first + 1

    @property
    def left(self) -> bool:
        """Whether they left memory."""
        return self.verdict in LEFT_OUT


def stretches(fates: Sequence[Sequence[object]]) -> list[Stretch]:
    """The runs that a compaction stored."""
    return [Stretch(int(str(one[0])), int(str(one[1])), str(one[2]), str(one[3])) for one in fates]


def tokens_by_kind(session: Session, found: Iterable[Stretch]) -> list[int]:
    """Tokens of all these items by kind (in the order of KINDS, ui left out), counted where they are counted."""
    ranges = [Q(position__gte=one.first, position__lte=one.last) for one in found]
    sums = [0] * (len(KINDS) - 1)
    if not ranges:
        return sums
    records = session_items(session).filter(reduce(or_, ranges)).order_by()
    for kind, tokens in records.values_list("kind").annotate(n=Sum(Coalesce("tokens", "estimate"))):
        if 0 <= kind < len(sums):
            sums[kind] += tokens
    return sums


def both_sides(
    session: Session, found: Sequence[Stretch], tokens_after: int | None
) -> tuple[list[int], list[int]] | None:
    """Tokens by kind before and after; what is new in the memory after counts as summary. None: too many to add up."""
    if tokens_after is None or not found or len(found) > MOST_RUNS:
        return None
    before = tokens_by_kind(session, found)
    after = tokens_by_kind(session, [one for one in found if one.verdict in WHOLE])
    written = tokens_after - sum(after)
    if written < 0:
        return None
    after[KINDS.index(Kind.SUMMARY)] += written
    return before, after


def left_at(session: Session, step: int) -> list[Stretch]:
    """Runs of the log's items that are only in a summary from this step of the recorded view on."""
    spans = SpanRecord.objects.filter(
        view__session=session, view__kind=View.Kind.RECORDED, view__revision=session.revision,
        first_step=step, reason="compacted",
    )  # fmt: skip
    rows = spans.order_by("first_item").values_list("first_item", "last_item", "reason")[: MOST_RUNS + 1]
    return [Stretch(first, last, Verdict.SUMMARISED, reason) for first, last, reason in rows]


def items_of(session: Session, first: int, last: int) -> list[ItemRow]:
    """The first items of a run."""
    records = session_items(session)
    rows = records.filter(position__gte=first, position__lte=last).exclude(kind=KINDS.index(Kind.UI))
    return item_rows(rows.order_by("position").values_list(*COLUMNS)[: MOST_ITEMS + 1])
