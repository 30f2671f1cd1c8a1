"""Whether an agent decided with the count that its provider reported."""

from __future__ import annotations

from django.db.models import Sum
from django.db.models.functions import Coalesce

from contextlab.core.measuring.sums import sum_of_known
from contextlab.core.measuring.window import counter_mismatch
from contextlab.store.models import CompactionRecord, ItemRecord, Session, StepRecord


def mismatch_at(session: Session, number: int) -> int | None:
    """How far the figure before a compaction, as the log states it, is from the last prompt that was reported.

    None where it fits, and where either is unknown.
    """
    own = {"session": session, "revision": session.revision}
    record = CompactionRecord.objects.filter(**own, micro=False, number=number).first()
    if record is None or record.pre_tokens is None:
        return None
    step = StepRecord.objects.filter(**own, number=record.at_step - 1).first()
    if step is None:
        return None
    told = sum_of_known((step.input, step.cache_read, step.cache_write))
    added = ItemRecord.objects.filter(**own, position__gte=step.upto, position__lt=record.upto)
    size = added.aggregate(size=Sum(Coalesce("tokens", "estimate")))["size"] or 0
    # The answer stands in both, and hidden reasoning in its output alone: an upper bound.
    return counter_mismatch(told, record.pre_tokens, size + (step.output or 0))
