"""The data of the context-window chart, as the projection left it on the view (services.chart documents the shape)."""

from __future__ import annotations

from typing import Any

from contextlab.store.models import View

EMPTY: dict[str, Any] = {"buckets": [], "marks": [], "steps_total": 0, "token_source": "estimated"}


def chart(view_id: int | None) -> dict[str, Any]:
    """The chart of a view, an empty one while there is none."""
    found = View.objects.filter(pk=view_id or 0).values_list("chart", flat=True).first()
    return found or EMPTY
