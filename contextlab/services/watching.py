"""Watched folders: known files are read again when they changed, new ones are imported; vanished ones are noted."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from django.utils import timezone

from contextlab.importers.discover import discover
from contextlab.services import imports
from contextlab.services.runs import Priority
from contextlab.store.models import FINISHED, LogFile, Run, WatchedFolder

BYTES_PER_SECOND = 4_000_000
"""A growing file is read from its start: it rests for a second per so many bytes, a tenth of a core at most."""

_SKIPPED = frozenset({"node_modules", "__pycache__", "tool-results"})


@dataclass(slots=True)
class Watcher:
    """Remembers the folders' own times between two looks: only where one changed can a file be new."""

    _seen: dict[int, dict[str, int]] = field(default_factory=dict)

    def look(self, now: datetime | None = None) -> list[Run]:
        """Runs for what changed in the watched folders."""
        now = now or timezone.now()
        queued: list[Run] = []
        for folder in WatchedFolder.objects.filter(enabled=True).select_related("workspace"):
            queued += self._known(folder, now)
            folders = _folder_times(folder.path)
            if folders != self._seen.get(folder.pk):
                queued += _unknown(folder)
                self._seen[folder.pk] = folders
            WatchedFolder.objects.filter(pk=folder.pk).update(last_scan_at=now)
        return queued

    def _known(self, folder: WatchedFolder, now: datetime) -> list[Run]:
        """Files that were read before and look different now; one that was deleted here stays away."""
        below = folder.path.rstrip(os.sep) + os.sep
        files = LogFile.objects.filter(workspace=folder.workspace_id, path__startswith=below)
        files = files.filter(forgotten_at=None, imported_at__isnull=False)
        changed = [
            key
            for key, path, size, mtime, read_at in files.values_list(
                "pk", "path", "disk_size", "mtime_ns", "imported_at"
            )
            if (status := imports.status_of(Path(path))) is not None
            and status != (size, mtime)
            and _rested(read_at, status[0], now)
        ]
        found = LogFile.objects.filter(pk__in=changed[:500]).select_related("workspace")
        return [imports.request(file, Priority.GREW)[0] for file in found]


def switch(folder: WatchedFolder, on: bool) -> None:
    """Watch a folder or leave it alone; what changed while it was off is read when it is on again."""
    WatchedFolder.objects.filter(pk=folder.pk).update(enabled=on)


def note_vanished() -> None:
    """Note which files are no longer there (ContextLab then holds the only copy), and which came back."""
    now = timezone.now()
    # The log of a live session begins with its first event, and is written anew where it is gone.
    files = LogFile.objects.exclude(path="").exclude(origin=LogFile.Origin.API)
    gone, back = [], []
    for key, path, missing in files.values_list("pk", "path", "missing_since").iterator(chunk_size=2000):
        there = os.path.exists(path)
        if there and missing is not None:
            back.append(key)
        elif not there and missing is None:
            gone.append(key)
    for start in range(0, len(gone), 500):
        LogFile.objects.filter(pk__in=gone[start : start + 500]).update(missing_since=now)
    for start in range(0, len(back), 500):
        LogFile.objects.filter(pk__in=back[start : start + 500]).update(missing_since=None)


def forget_unread() -> None:
    """Remove the rows of files that a stopped scan never came to."""
    waiting = Run.objects.filter(kind=Run.Kind.IMPORT).exclude(state__in=FINISHED)
    wanted = set(waiting.values_list("target", flat=True))
    unread = LogFile.objects.filter(imported_at=None, error="", sessions=None)
    for key, uid in list(unread.values_list("pk", "uid")):
        if uid.hex not in wanted:
            LogFile.objects.filter(pk=key, imported_at=None).delete()


def _rested(read_at: datetime | None, size: int, now: datetime) -> bool:
    return read_at is None or read_at + timedelta(seconds=size / BYTES_PER_SECOND) <= now


def _unknown(folder: WatchedFolder) -> list[Run]:
    """Files that nobody has read yet and that are newer than the watch."""
    since = folder.since.timestamp() if folder.since else 0.0
    fresh = [source for source in discover([folder.path]) if (source.modified or 0.0) >= since]
    files = imports.files_for(folder.workspace, fresh, LogFile.Origin.SCAN)
    unread = [file for file in files if file.imported_at is None and file.forgotten_at is None]
    return [imports.request(file, Priority.GREW)[0] for file in unread]


def _folder_times(root: str) -> dict[str, int]:
    """Every folder below the root with the time of its last change."""
    return dict(_walk(root))


def _walk(root: str) -> Iterator[tuple[str, int]]:
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        try:
            yield folder, os.stat(folder).st_mtime_ns
            with os.scandir(folder) as entries:
                inner = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError:
            continue
        waiting += [
            entry.path for entry in inner if entry.name not in _SKIPPED and not entry.name.startswith(".")
        ]
