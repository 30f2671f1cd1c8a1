"""Which service does a run of which kind."""

from __future__ import annotations

from contextlab.services import counting, imports, projection, scan
from contextlab.services.compaction import performing as compaction
from contextlab.services.memories import observing, users
from contextlab.services.work import Action, Counting, Progress, execute
from contextlab.store.models import Run

ACTIONS: dict[str, Action] = {
    Run.Kind.IMPORT: imports.perform,
    Run.Kind.COUNT: counting.perform,
    Run.Kind.PROJECT: projection.perform,
    Run.Kind.COMPACT: compaction.perform,
    Run.Kind.OBSERVE: observing.perform,
    Run.Kind.REMEMBER: users.perform,
    Run.Kind.SCAN: scan.perform,
}


def perform(run: Run, on_progress: Progress | None = None, counting: Counting = Counting.SMALL) -> list[Run]:
    """Do a run in this process, if nobody else has it; returns the runs that it queued."""
    return execute(run.uid, ACTIONS[run.kind], on_progress, counting)
