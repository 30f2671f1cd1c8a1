"""The block that a new session of a project begins with: the best observations within a token budget."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from contextlab.adapters.tokens import counter
from contextlab.core.memory_keeping.injection import Injection, Stored, Wanted
from contextlab.core.memory_keeping.injection import inject as fitted
from contextlab.core.memory_keeping.observations import Observation
from contextlab.store.models import ObservationRecord, Workspace

CANDIDATES = 1_000
"""The newest observations that are looked at; chosen ones come besides."""
MOST_TOKENS = 100_000
DEFAULT_TOKENS = 2_000


def inject(
    workspace: Workspace,
    project: str | None = None,
    *,
    budget: int = DEFAULT_TOKENS,
    wanted: Wanted | None = None,
    chosen: Sequence[UUID] = (),
) -> Injection:
    """A block of at most `budget` tokens (counted), from a project's observations or (None) from all."""
    rows = ObservationRecord.objects.filter(workspace=workspace)
    if project is not None:
        rows = rows.filter(session__project=project)
    newest = list(rows.order_by("-id")[:CANDIDATES])
    by_hand = list(ObservationRecord.objects.filter(workspace=workspace, uid__in=list(chosen)[:CANDIDATES]))
    found = {row.pk: row for row in (*newest, *by_hand)}
    stored = [_stored(found[key]) for key in sorted(found)]
    names = {str(uid) for uid in chosen}
    return fitted(stored, min(budget, MOST_TOKENS), wanted, chosen=names, count=counter().count)


def _stored(row: ObservationRecord) -> Stored:
    day = row.happened_at.date().isoformat() if row.happened_at else ""
    return Stored(str(row.uid), observation_of(row), day)


def observation_of(row: ObservationRecord) -> Observation:
    """The core's observation of a row."""
    return Observation(
        row.type, row.title, row.subtitle, row.narrative, row.facts, row.concepts, row.files_read,
        row.files_modified, row.turn, tuple(row.items),
    )  # fmt: skip
