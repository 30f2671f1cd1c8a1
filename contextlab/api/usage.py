"""Usage by day, summed over the calls of a period."""

from __future__ import annotations

from datetime import UTC, date, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from contextlab.api.base import ApiView, text_in
from contextlab.api.errors import bad_value
from contextlab.api.schema import query
from contextlab.api.shapes import Number, Shape, Text
from contextlab.queries.usage import Used, usage_by_day

EARLIEST, LATEST = date(1970, 1, 2), date(9990, 1, 1)


class UsedShape(Shape):
    """What providers reported for some calls; `input` excludes cache reads and writes; null = nothing reported."""

    steps = Number()
    sessions = Number(help_text="sessions that made at least one of the calls")
    steps_without_usage = Number(help_text="calls for which the log has no figures")
    input = Number(allow_null=True)
    cache_read = Number(allow_null=True)
    cache_write = Number(allow_null=True)
    output = Number(allow_null=True)


class DayShape(UsedShape):
    """The calls of a day."""

    day = serializers.DateField()


class UsageByDay(Shape):
    """Usage of a period."""

    tz = Text()
    since = serializers.DateField(allow_null=True)
    until = serializers.DateField(allow_null=True)
    total = UsedShape()
    days = DayShape(many=True)
    undated_steps = Number(help_text="calls of all sessions whose log gives no time: they are in no period")


class UsageView(ApiView):
    """GET /api/usage/"""

    @extend_schema(
        responses=UsageByDay,
        parameters=[
            query("since", "first day, 2026-08-14; without it from the first call on"),
            query("until", "last day, inclusive; without it to the last call"),
            query("tz", "time zone whose days are meant: Europe/Berlin; UTC without it"),
        ],
    )
    def get(self, request: Request) -> Response:
        """What was used day by day, newest first: the calls of the period, not the sessions that touch it."""
        since, until = _day_in(request, "since"), _day_in(request, "until")
        name = text_in(request, "tz") or "UTC"
        zone = _zone(name)
        if since and until and since > until:
            raise bad_value("query: until", "until lies before since.")
        found = usage_by_day(self.workspace.pk, since, until, zone)
        days = [{"day": day, **_values(used)} for day, used in found.days]
        answer = {"tz": name, "since": since, "until": until, "total": _values(found.total), "days": days}
        return Response(UsageByDay({**answer, "undated_steps": found.undated_steps}).data)


def _values(used: Used) -> dict[str, Any]:
    own = {"steps": used.steps, "sessions": used.sessions, "steps_without_usage": used.steps_without_usage}
    return {**own, **used.sums}


def _day_in(request: Request, name: str) -> date | None:
    words = text_in(request, name)
    if not words:
        return None
    try:
        day = date.fromisoformat(words)
    except ValueError:
        raise bad_value(f"query: {name}", f"{name} is a day such as 2026-08-14.") from None
    if not EARLIEST <= day <= LATEST:
        raise bad_value(f"query: {name}", f"{name} lies between {EARLIEST} and {LATEST}.")
    return day


def _zone(name: str) -> tzinfo:
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    # Not known, a path out of the zone data, a folder of it, or a name that no file can have.
    except (KeyError, ValueError, OSError):
        raise bad_value("query: tz", "There is no such time zone; one is Europe/Berlin.") from None
