"""The data of the context-window chart, as the projection left it on the view (services.chart documents the shape).

Compactions made here come after a projection and change none of its figures, so their marks are read beside it:

    {"step": n, "kind": "hand" | "auto", "number": null, "pre": p | null, "post": q | null, "trigger": policy,
     "run": uuid, "label": "branch-1 v2"}
"""

from __future__ import annotations

from typing import Any

from contextlab.queries.made_marks import MadeMark, made_marks
from contextlab.queries.step import Seen
from contextlab.store.models import View

EMPTY: dict[str, Any] = {"buckets": [], "marks": [], "steps_total": 0, "token_source": "estimated"}


def chart(seen: Seen) -> dict[str, Any]:
    """The chart of a view, an empty one while there is none."""
    found: dict[str, Any] | None = (
        View.objects.filter(pk=seen.view_id or 0).values_list("chart", flat=True).first()
    )
    if not found:
        return EMPTY
    made = made_marks(seen)
    begun = {mark.step for mark in made if mark.begins}
    kept = [
        mark for mark in found.get("marks", ()) if mark["kind"] != "compaction" or mark["step"] not in begun
    ]
    marks = [*kept, *map(_mark, made)]
    return {**found, "marks": sorted(marks, key=lambda mark: int(mark["step"]))}


def _mark(made: MadeMark) -> dict[str, Any]:
    return {
        "step": made.step, "kind": made.kind, "number": None, "pre": made.tokens_before, "post": made.tokens_after,
        "trigger": made.policy, "run": str(made.run), "label": made.label,
    }  # fmt: skip
