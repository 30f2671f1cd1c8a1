"""Sample sessions of the very first start, so that the first page has something to look at.

They are logs in the package, read like any other. Once they have been imported they are never brought back: a
person who deleted them meant it.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from django.db import transaction
from django.db.models import Min
from django.utils import timezone

import contextlab
from contextlab.services import actions, imports
from contextlab.services.work import Counting
from contextlab.services.workspaces import local_workspace
from contextlab.store.models import Lease, LogFile, Run, RunState, Session, Workspace

FOLDER = Path(contextlab.__file__).parent / "samples"
ONCE = "samples"
"""Name of the row that says whether it was done."""
DONE = "imported"
PATIENCE = timedelta(minutes=5)
"""A process that began and gave no end in that span was killed: the next start tries again."""


def ensure_samples() -> list[Run]:
    """Import the samples if that never happened; returns the runs that are left to a worker."""
    if not _take():
        return []
    workspace = local_workspace()
    mentioned: set[int] = set()
    for run in imports.queue_paths(workspace, [FOLDER], LogFile.Origin.SAMPLE):
        mentioned |= {left.pk for left in actions.perform(run, counting=Counting.ALL)}
    _behind_what_has_times(workspace)
    Lease.objects.filter(name=ONCE).update(holder=DONE, until=None)
    return list(Run.objects.filter(pk__in=mentioned, state=RunState.QUEUED))


def _take() -> bool:
    """Whether this process is the one that imports them."""
    now = timezone.now()
    with transaction.atomic():
        row, new = Lease.objects.get_or_create(name=ONCE, defaults={"until": now + PATIENCE})
        if new:
            return True
        abandoned = Lease.objects.filter(name=ONCE, until__lt=now).exclude(holder=DONE)
        return row.holder != DONE and bool(abandoned.update(until=now + PATIENCE))


def _behind_what_has_times(workspace: Workspace) -> None:
    """A sample without times would stand first, as if it were of this minute: put it behind the others."""
    samples = Session.objects.filter(workspace=workspace, sample=True)
    oldest = samples.aggregate(at=Min("last_at"))["at"]
    if oldest is not None:
        samples.filter(last_at=None).update(sort_at=oldest - timedelta(minutes=1))
