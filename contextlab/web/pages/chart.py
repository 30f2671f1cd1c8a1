"""The data behind the chart of a session."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, JsonResponse
from django.urls import path

from contextlab.queries.chart import chart
from contextlab.web.opened import open_session


def chart_data(request: HttpRequest, uid: UUID) -> JsonResponse:
    """At most 1,200 buckets of the view that the address names."""
    return JsonResponse(chart(open_session(request, uid).seen))


urlpatterns = [path("sessions/<uuid:uid>/chart.json", chart_data, name="chart")]
