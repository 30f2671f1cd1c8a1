"""The spans of a view by item, kept in memory for the views that were looked at last."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from uuid import UUID

from contextlab.core.audit.last_seen import SpanIndex
from contextlab.store.models import SpanRecord, View

SPANS_KEPT = 8

_kept: OrderedDict[tuple[UUID, int], SpanIndex] = OrderedDict()
_lock = Lock()


def spans_of(view: View | None) -> SpanIndex:
    """The spans of a view by item; those of the views looked at last are kept in memory."""
    if view is None:
        return SpanIndex(())
    key = (view.uid, view.version)
    with _lock:
        if (found := _kept.get(key)) is not None:
            _kept.move_to_end(key)
            return found
    columns = ("first_item", "last_item", "verdict", "reason", "first_step", "end_step")
    made = SpanIndex(SpanRecord.objects.filter(view=view).values_list(*columns).iterator(chunk_size=5000))
    with _lock:
        _kept[key] = made
        while len(_kept) > SPANS_KEPT:
            _kept.popitem(last=False)
    return made
