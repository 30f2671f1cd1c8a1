"""Reports of steps wherever they lie: a branch and what goes on from it share those before with the view they left."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Q, QuerySet

from contextlab.queries.step import Seen, StepLine, read_around
from contextlab.queries.views import layers
from contextlab.store.models import StepReport


def reports_of(seen: Seen) -> QuerySet[StepReport]:
    """The reports of a view's steps, one for each step that has one."""
    if seen.recorded or seen.view_id is None:
        return StepReport.objects.filter(view_id=seen.view_id or 0)
    found, end = Q(), None
    for view, first in layers(seen.view_id):
        own = Q(view_id=view, step__gte=first) if first > 1 else Q(view_id=view)
        found |= own if end is None else own & Q(step__lt=end)
        end = first if end is None else min(first, end)
    return StepReport.objects.filter(found)


def steps_between(seen: Seen, first: int, last: int) -> Sequence[StepLine]:
    """The steps of a range, in order, with their composition in the view."""
    return read_around(seen, first, last, reports_of(seen)).lines()
