"""Where views' policies compacted or would have, as rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from contextlab.store.models import PolicyCompaction, View

if TYPE_CHECKING:
    from contextlab.core.replaying.fires import Fire

BATCH = 500
_COMPACTS = (View.Kind.POLICY, View.Kind.LIVE)


def write_fires(made: Sequence[tuple[View, Sequence[Fire]]]) -> None:
    """Exchange the rows of these views, within the caller's transaction."""
    views = [view for view, _ in made if view.kind in _COMPACTS]
    if not views:
        return
    PolicyCompaction.objects.filter(view__in=views).delete()
    rows = [row_of(view, fire) for view, fires in made for fire in fires]
    PolicyCompaction.objects.bulk_create(rows, batch_size=BATCH)


def row_of(view: View, fire: Fire) -> PolicyCompaction:
    """A compaction of a view as it is stored."""
    result = fire.result
    return PolicyCompaction(
        view=view, step=fire.step, made=fire.made, reason=fire.reason[:40], rule=fire.rule[:200],
        estimate=fire.estimate, threshold=fire.threshold, tokens_before=fire.tokens_before,
        tokens_after=fire.tokens_after, summarised=fire.summarised, method=result.method if result else "",
        summary=result.summary if result else "",
    )  # fmt: skip
