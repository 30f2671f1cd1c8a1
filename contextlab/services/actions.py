"""Which service does a run of which kind."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from contextlab.services.work import Action, Counting, Progress, execute
from contextlab.store.models import Run

ACTIONS = {
    Run.Kind.IMPORT: "imports",
    Run.Kind.COUNT: "counting",
    Run.Kind.PROJECT: "projection",
    Run.Kind.COMPACT: "compaction.performing",
    Run.Kind.AUDIT: "audits",
    Run.Kind.OBSERVE: "memories.observing",
    Run.Kind.REMEMBER: "memories.users",
    Run.Kind.CALIBRATE: "reconcile",
    Run.Kind.INDEX: "last_seen",
    Run.Kind.SCAN: "scan",
}
"""Modules of this package, each with a `perform(work)`; loaded when first needed (an import needs three of them)."""


def action_of(kind: str) -> Action:
    """The service that does runs of this kind."""
    return cast(Action, import_module(f"contextlab.services.{ACTIONS[Run.Kind(kind)]}").perform)


def perform(run: Run, on_progress: Progress | None = None, counting: Counting = Counting.SMALL) -> list[Run]:
    """Do a run in this process, if nobody else has it; returns the runs that it queued."""
    return execute(run.uid, action_of(run.kind), on_progress, counting)
