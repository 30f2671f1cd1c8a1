"""Usage by day: what providers reported for the calls of a period, wherever their sessions began.

A period narrows the calls, not the sessions: of a session that lasted two weeks only the days asked for count. Days
are those of the person's time zone. Steps that a fork copied from its origin count once. Calls whose log gives no
time are in no day; they are counted beside.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Any

from django.db.models import Count, F, Q, Sum
from django.db.models.functions import Coalesce, TruncDate

from contextlab.store.models import StepRecord

SUMS = ("input", "cache_read", "cache_write", "output")
MOST_DAYS = 3700
MOST_OF_A_CALL = 2**40
"""No call has that many tokens: such a figure of a log is left out, so that no sum leaves the range of the database."""


@dataclass(slots=True, frozen=True)
class Used:
    """Sums of what was reported; None = nothing was reported, which is not 0."""

    steps: int
    sessions: int
    steps_without_usage: int
    """Calls for which the log has no figures."""
    sums: Mapping[str, int | None]


@dataclass(slots=True, frozen=True)
class Usage:
    """The usage of a period."""

    total: Used
    days: list[tuple[date, Used]] = field(default_factory=list)
    undated_steps: int = 0
    """Calls of the whole workspace without a time: in no period."""


def usage_by_day(workspace: int, since: date | None, until: date | None, zone: tzinfo) -> Usage:
    """Usage from the day `since` to the day `until`, both inclusive; None = without that end."""
    steps = StepRecord.objects.filter(
        session__workspace_id=workspace,
        revision=F("session__revision"),
        number__gt=F("session__shared_steps"),
    )
    dated = steps.filter(ts__isnull=False)
    if since is not None:
        dated = dated.filter(ts__gte=_begin(since, zone))
    if until is not None:
        dated = dated.filter(ts__lt=_begin(until + timedelta(days=1), zone))
    by_day = dated.annotate(day=TruncDate("ts", tzinfo=zone)).values("day")
    days = [(row["day"], _used(row)) for row in by_day.annotate(**_SUMS).order_by("-day")[:MOST_DAYS]]
    return Usage(_used(dated.aggregate(**_SUMS)), days, steps.filter(ts__isnull=True).count())


_SUMS: dict[str, Any] = {
    "n_steps": Count("pk"),
    "n_sessions": Count("session_id", distinct=True),
    "n_reported": Count(Coalesce("input", "cache_read", "cache_write", "output")),
    **{f"sum_{name}": Sum(name, filter=Q(**{f"{name}__lt": MOST_OF_A_CALL})) for name in SUMS},
}


def _begin(day: date, zone: tzinfo) -> datetime:
    return datetime.combine(day, time(), zone)


def _used(row: Mapping[str, Any]) -> Used:
    sums = {name: row[f"sum_{name}"] for name in SUMS}
    return Used(row["n_steps"], row["n_sessions"], row["n_steps"] - row["n_reported"], sums)
