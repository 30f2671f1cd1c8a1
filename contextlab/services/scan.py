"""The logs that agents left on this machine: how many there are, and importing them, newest first.

Only the well-known folders of the user who started the server are read; no request names a path.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypedDict, cast

from django.db import transaction
from django.db.models import Count, Q, Sum
from django.utils import timezone

from contextlab.importers.base import Source
from contextlab.importers.discover import discover, well_known_folders
from contextlab.services import imports, runs
from contextlab.services.runs import Priority
from contextlab.services.work import Outcome, Work
from contextlab.store.models import FINISHED, LogFile, Run, RunState, WatchedFolder, Workspace

RECENT = timedelta(days=7)
"""What a scan imports first; the rest comes on request."""

CHUNK = 200


class Folder(TypedDict):
    """A folder of logs that is there."""

    label: str
    path: str
    files: int
    sessions: int
    """Files that are no subagents' logs."""
    bytes: int
    sessions_recent: int
    bytes_recent: int


class Progress(TypedDict):
    """How far a scan is."""

    files_total: int
    files_done: int
    files_failed: int
    bytes_total: int
    bytes_done: int


def survey(now: datetime | None = None) -> list[Folder]:
    """The well-known folders that exist, with what lies in them; nothing is read but names and sizes."""
    since = ((now or timezone.now()) - RECENT).timestamp()
    found: list[Folder] = []
    for label, path in folders():
        sources = discover([path])
        main = [source for source in sources if not _is_subagent(source)]
        recent = [source for source in sources if (source.modified or 0) >= since]
        found.append(
            {
                "label": label,
                "path": str(path),
                "files": len(sources),
                "sessions": len(main),
                "bytes": sum(source.size or 0 for source in sources),
                "sessions_recent": sum(not _is_subagent(source) for source in recent),
                "bytes_recent": sum(source.size or 0 for source in recent),
            }
        )
    return found


def folders() -> list[tuple[str, Path]]:
    """Label and path of the well-known folders that exist."""
    return [(label, path) for label, path in well_known_folders(os.environ, Path.home()) if path.is_dir()]


def start_scan(workspace: Workspace, rest: bool = False) -> Run:
    """Queue the scan: the last seven days, or with `rest` everything. Asking twice gives one run."""
    key = f"scan:{workspace.uid.hex}"
    return runs.request(workspace, Run.Kind.SCAN, key, params={"rest": rest}, unit="files")[0]


def perform(work: Work) -> Outcome:
    """Queue an import for each file that is new or changed, newest first; the run ends with the last of them."""
    run = work.run
    since = 0.0 if run.params.get("rest") else (run.created_at - RECENT).timestamp()
    places = folders()
    found = [
        source
        for source in discover([path for _, path in places], newest_first=True)
        if (source.modified or 0) >= since
    ]
    for start in range(0, len(found), CHUNK):
        with transaction.atomic():
            work.still_ours("looking for logs")
            _queue(run, found[start : start + CHUNK])
    with transaction.atomic():
        sizes = run.children.aggregate(n=Count("pk"), bytes=Sum("total"))
        runs.progress(work.claim, total=sizes["n"], doing="importing", result={"bytes": sizes["bytes"] or 0})
        _watch(run.workspace, places)
    return Outcome(waits=True)


def progress(run: Run) -> Progress:
    """How far a scan is, in files and bytes."""
    ended = Q(state__in=FINISHED)
    sums = run.children.aggregate(
        files_total=Count("pk"), files_done=Count("pk", filter=ended),
        files_failed=Count("pk", filter=Q(state=RunState.FAILED)),
        bytes_total=Sum("total"), bytes_done=Sum("total", filter=ended),
    )  # fmt: skip
    return cast(Progress, {name: value or 0 for name, value in sums.items()})


def stop_scan(run: Run) -> None:
    """Stop: what waits is dropped, what is being read ends at its next batch; what landed stays."""
    runs.cancel(run)


def skip_current(run: Run) -> None:
    """Give up the files that are being read right now, and go on with the next ones."""
    for child in run.children.filter(state=RunState.RUNNING):
        runs.cancel(child)


def _queue(scan: Run, sources: Sequence[Source]) -> None:
    files = imports.files_for(scan.workspace, sources, LogFile.Origin.SCAN)
    for file, source in zip(files, sources, strict=True):
        if file.forgotten_at is None and not imports.is_unchanged(file, source):
            imports.request(file, Priority.FOUND, parent=scan, total=source.size)


def _watch(workspace: Workspace, places: Sequence[tuple[str, Path]]) -> None:
    """From now on the folders are watched, unless a person has said no to one of them."""
    for label, path in places:
        defaults: dict[str, Any] = {"label": label, "since": timezone.now()}
        WatchedFolder.objects.get_or_create(workspace=workspace, path=str(path), defaults=defaults)


def _is_subagent(source: Source) -> bool:
    return "/subagents/" in f"/{source.relative}" or source.name.startswith("agent-")
