"""The rest of a log on top of a branch's memory: where its replay begins, and what stands before it on the chart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from contextlab.core.compaction import Snapshot
from contextlab.core.items import LEFT_OUT, Item, Reason
from contextlab.core.replaying.continued import Beginning
from contextlab.core.spans import Painted
from contextlab.core.timeline import Timeline
from contextlab.queries import fates
from contextlab.services.chart import Point
from contextlab.services.compaction.held import Held
from contextlab.services.compaction.memory import MOST_FATES, read_branch
from contextlab.store.models import StepReport, View

_POINT = ("step", "composition", "projected_tokens", "calibrated_tokens")


def beginning_of(view: View) -> Beginning | None:
    """Where the view's replay begins; None for a view that begins with its session. Raises BadRequest."""
    if view.kind != View.Kind.POLICY or view.base is None or view.base_step is None:
        return None
    return beginning_at(view.base, view.base_step)


def beginning_at(branch: View, step: int, version: int | None = None) -> Beginning:
    """A memory of a branch as a replay goes on from it; the one in force without a version. Raises BadRequest."""
    held = read_branch(branch, version)
    number = held.version.version if held.version else 1
    parent = held.version.parent if held.version else None
    snapshot = Snapshot(tuple(_item(held, item) for item in held.snapshot.items), held.snapshot.summary)
    return Beginning(
        step, held.upto, replace(snapshot, last_result=held.snapshot.last_result),
        f"{branch.name}, version {number}", _left_out(branch, held.upto), parent.tokens if parent else None,
    )  # fmt: skip


def steps_before(view: View, timeline: Timeline) -> Iterator[Point]:
    """The places on the chart of the steps that the view shares with the one that its branch left."""
    left = view.base.base_id if view.base is not None else None
    rows = StepReport.objects.filter(view_id=left or 0, step__lt=view.base_step or 0).order_by("step")
    for step, composition, tokens, calibrated in rows.values_list(*_POINT):
        own = timeline.steps[step - 1]
        yield Point(step, tuple(composition), tokens or 0, calibrated, own.prompt_tokens, own.limit)


def marks_before(view: View) -> list[dict[str, Any]]:
    """The compactions among those steps."""
    left = view.base.base if view.base is not None else None
    marks = left.chart.get("marks", []) if left is not None else []
    return [mark for mark in marks if mark["step"] < (view.base_step or 0) and mark["kind"] in _COMPACTED]


_COMPACTED = ("compaction", "micro", "would_fire")


def _item(held: Held, item: Item) -> Item:
    """An item under the id that replays know: its position, where the log has it."""
    place = held.positions.get(item.id)
    return replace(item, id=f"made {item.id}" if place is None else str(place))


def _left_out(branch: View, upto: int) -> dict[int, Painted]:
    """What became of the positions that are not in the branch's memory."""
    found = fates.oldest_fates(branch.pk, branch.base_step or 1, 0, upto, limit=MOST_FATES) if upto else []
    return {
        place: (fate.verdict, Reason(fate.reason) if fate.reason else None)
        for fate in found
        if fate.verdict in LEFT_OUT
        for place in range(fate.first, fate.last + 1)
    }
