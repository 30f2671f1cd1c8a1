"""Where memory was compacted in a view, and where it would have been.

| view     | what is marked                                                                     |
|----------|------------------------------------------------------------------------------------|
| recorded | what the log records: compactions and micro-compactions                            |
| policy   | what its policy did (the log's own did not happen there), and the first place where |
|          | it would have needed a model: what would follow is not known                       |
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime

from django.db.models import QuerySet

from contextlab.queries.step import Seen
from contextlab.store.models import CompactionRecord, PolicyCompaction

MARKS_READ = 5000
MARKS_HERE = 4


@dataclass(frozen=True, slots=True)
class CompactionLine:
    """A compaction that the log records."""

    number: int
    micro: bool
    at_step: int
    trigger: str
    pre_tokens: int | None
    post_tokens: int | None
    tokens_saved: int | None
    opaque: bool
    summary: int | None
    items_summarised: int | None
    ts: datetime | None


COMPACTION_COLUMNS = tuple(field.name for field in fields(CompactionLine))


@dataclass(frozen=True, slots=True)
class Mark:
    """A compaction of a view. Numbers count within the view, those of micro-compactions by themselves."""

    number: int
    step: int
    """The first step behind it."""
    made: bool = True
    """False: it was due, and needs a model."""
    of_log: bool = True
    micro: bool = False
    opaque: bool = False
    items_summarised: int | None = None


@dataclass(frozen=True, slots=True)
class Marks:
    """Where memory was compacted in a view, without micro-compactions."""

    places: Sequence[Mark]
    """In order."""
    here: Sequence[Mark]
    """Those in force from exactly the step that was asked for on, micro-compactions too."""

    def around(self, step: int) -> tuple[int | None, int | None]:
        """Steps of the nearest compaction before and after a step."""
        steps = [mark.step for mark in self.places]
        before, after = bisect_left(steps, step), bisect_right(steps, step)
        return (steps[before - 1] if before else None), (steps[after] if after < len(steps) else None)

    def numbers(self) -> dict[int, int]:
        """Number of the compaction by the step at which it took effect."""
        return {mark.step: mark.number for mark in self.places if mark.made}


def read_marks(seen: Seen, step: int) -> Marks:
    """The compactions of a view, with those at a step."""
    places = marks_between(seen)
    if not seen.recorded:
        return Marks(places, [mark for mark in places if mark.step == step])
    rows = _of_log(seen).filter(at_step=step).order_by("micro", "number").values_list(*_LOG)[:MARKS_HERE]
    return Marks(places, [_log_mark(*row) for row in rows])


def marks_between(seen: Seen, first: int = 1, last: int | None = None) -> list[Mark]:
    """The compactions of a view that took effect at steps of a range, in order, without micro-compactions."""
    if not seen.recorded:
        return [
            mark for mark in _of_policy(seen) if first <= mark.step and (last is None or mark.step <= last)
        ]
    rows = _of_log(seen).filter(micro=False, at_step__gte=first)
    if last is not None:
        rows = rows.filter(at_step__lte=last)
    return [_log_mark(*row) for row in rows.order_by("at_step", "number").values_list(*_LOG)[:MARKS_READ]]


def has_marks(seen: Seen) -> bool:
    """Whether memory was compacted in the view, or would have been."""
    if seen.recorded:
        return _of_log(seen).filter(micro=False).exists()
    return PolicyCompaction.objects.filter(view_id=seen.view_id or 0).exists()


def log_compaction_at(session_id: int, revision: int, step: int) -> int | None:
    """Number of the log's compaction that took effect at a step: the memory before that step is what it left."""
    rows = CompactionRecord.objects.filter(
        session_id=session_id, revision=revision, micro=False, at_step=step
    )
    return rows.order_by("number").values_list("number", flat=True).first()


_LOG = ("number", "at_step", "micro", "opaque", "items_summarised")


def _of_log(seen: Seen) -> QuerySet[CompactionRecord]:
    return CompactionRecord.objects.filter(session_id=seen.session_id, revision=seen.revision)


def _log_mark(number: int, step: int, micro: bool, opaque: bool, items: int | None) -> Mark:
    return Mark(number, step, micro=micro, opaque=opaque, items_summarised=items)


def _of_policy(seen: Seen) -> list[Mark]:
    """All of the view: a number is the place among them."""
    rows = PolicyCompaction.objects.filter(view_id=seen.view_id or 0).order_by("step")
    found = rows.values_list("step", "made", "summarised")[:MARKS_READ]
    return [
        Mark(number, step, made, of_log=False, items_summarised=items if made else None)
        for number, (step, made, items) in enumerate(found, 1)
    ]
