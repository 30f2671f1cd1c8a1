"""Which service does a run of which kind."""

from __future__ import annotations

from collections.abc import Callable

from contextlab.services import imports
from contextlab.services.work import Action, execute
from contextlab.store.models import Run

ACTIONS: dict[str, Action] = {
    Run.Kind.IMPORT: imports.perform,
}


def perform(run: Run, on_progress: Callable[[int, int | None, str], None] | None = None) -> list[Run]:
    """Do a run in this process, if nobody else has it; returns the runs to ring (work.execute tells which)."""
    return execute(run.uid, ACTIONS[run.kind], on_progress)
