"""What observations took to write, take to read, and save: sums over batches, each batch's cost once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import Coalesce, TruncDate

from contextlab.core.memory_keeping.economics import Economics
from contextlab.store.models import WHOLE_SESSION, ObservationBatch, ObservationRecord

MOST_DAYS = 60


@dataclass(frozen=True, slots=True)
class Costs:
    """What observations of a session, a project or all took and save."""

    observations: int
    batches: int
    figures: Economics
    unreported: int
    """Batches whose provider reported no usage: their cost is not in the figures."""
    cost: Decimal | None
    """US dollars of batches with a known price; None where none has one."""
    raw_source: str
    """counted, or estimated where any of it is."""
    discarded: Sequence[tuple[str, int]] = ()
    """Answers that were discarded or put back, by class."""
    previews: Sequence[str] = ()
    days: Sequence[tuple[date, int, int, int]] = ()
    """(day, discovery, read, raw) summed up to that day, in tokens."""


def workspace_costs(workspace: int, project: str = "", session: str = "") -> Costs:
    """What the observations of a project (or all) took and save, over time."""
    batches = ObservationBatch.objects.filter(session__workspace_id=workspace)
    if project:
        batches = batches.filter(session__project=project)
    if session:
        batches = batches.filter(session__uid=session)
    return costs(batches, over_time=True)


def costs(batches: QuerySet[ObservationBatch], over_time: bool = False) -> Costs:
    """The figures of these batches; each batch's cost counts once, however many observations it brought."""
    turns = batches.exclude(turn=WHOLE_SESSION)
    read = batches.aggregate(read=Sum("observations__read_tokens"), made=Count("observations"))
    stood = turns.filter(Exists(ObservationRecord.objects.filter(batch=OuterRef("pk"))))
    raw = stood.aggregate(raw=Sum("raw_tokens"))["raw"]
    sums = batches.aggregate(
        paid=Sum("discovery_tokens"), cost=Sum("cost"), n=Count("id"),
        unreported=Count("id", filter=Q(discovery_tokens=None) & ~Q(fate=ObservationBatch.Fate.PENDING)),
    )  # fmt: skip
    gone = batches.filter(fate__in=(ObservationBatch.Fate.DISCARDED, ObservationBatch.Fate.PENDING))
    classes = gone.values_list("fate", "answer_class").annotate(n=Count("id")).order_by("-n")
    return Costs(
        read["made"],
        sums["n"],
        Economics(sums["paid"] or 0, read["read"] or 0, raw),
        sums["unreported"],
        sums["cost"],
        "estimated" if stood.exclude(raw_source="counted").exists() else "counted",
        [(f"{fate}: {name or 'unknown'}", number) for fate, name, number in classes],
        list(gone.exclude(preview="").order_by("-made_at").values_list("preview", flat=True)[:5]),
        _days(batches) if over_time else (),
    )


def _days(batches: QuerySet[ObservationBatch]) -> list[tuple[date, int, int, int]]:
    """Sums up to each day on which anything was written, the newest MOST_DAYS of them."""
    by_day = batches.annotate(day=TruncDate("made_at")).order_by("day").values("day")
    paid = by_day.annotate(
        paid=Coalesce(Sum("discovery_tokens"), 0),
        raw=Coalesce(Sum("raw_tokens", filter=~Q(turn=WHOLE_SESSION)), 0),
    )
    read = dict(
        ObservationRecord.objects.filter(batch__in=batches)
        .annotate(day=TruncDate("batch__made_at"))
        .order_by()
        .values_list("day")
        .annotate(n=Sum(F("read_tokens")))
        .values_list("day", "n")
    )
    days: list[tuple[date, int, int, int]] = []
    sums = [0, 0, 0]
    for row in paid:
        sums[0] += row["paid"]
        sums[1] += read.get(row["day"], 0)
        sums[2] += row["raw"]
        days.append((row["day"], sums[0], sums[1], sums[2]))
    return days[-MOST_DAYS:]
