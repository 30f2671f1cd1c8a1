"""Removing what was imported, and what the data folder holds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from contextlab.services.linking import count_children
from contextlab.services.live import log
from contextlab.store import search
from contextlab.store.bulk import lock_rows
from contextlab.store.models import (
    FINISHED,
    CompressionStateRecord,
    ContentCount,
    LogFile,
    MemorySettings,
    ModelCalibration,
    ObservationPrompts,
    OffloadRecord,
    PolicyDocument,
    RawSegment,
    Run,
    RunState,
    Session,
    UserMemoryRecord,
    View,
    WatchedFolder,
    Workspace,
)


@dataclass(frozen=True, slots=True)
class DataFolder:
    """Where everything is kept, and its size in bytes."""

    path: str
    bytes: int
    database: str
    """`sqlite` (inside the folder) or `postgresql` (its size is then not part of `bytes`)."""


def delete_session(session: Session) -> None:
    """Remove a session with its subagents. A log that holds nothing else is forgotten until somebody asks for it."""
    with transaction.atomic():
        family = _family(session)
        files = list(LogFile.objects.filter(sessions__in=family).distinct())
        _stop_runs(family, files)
        parent = session.parent_id
        _delete(Session.objects.filter(pk__in=[member.pk for member in family]))
        for file in files:
            if not file.sessions.exists():
                _forget(file)
        if parent is not None:
            count_children([parent])


def delete_everything(workspace: Workspace) -> None:
    """Remove all that the workspace has (sessions, logs, runs, watched folders, live memories, policies)."""
    with transaction.atomic():
        # Runs first: who is at one of them finds it gone and writes nothing more.
        Run.objects.filter(workspace=workspace).delete()
        _delete(Session.objects.filter(workspace=workspace))
        LogFile.objects.filter(workspace=workspace).delete()
        WatchedFolder.objects.filter(workspace=workspace).delete()
        # What live agents keep may belong to no session.
        CompressionStateRecord.objects.filter(workspace=workspace).delete()
        OffloadRecord.objects.filter(workspace=workspace).delete()
        PolicyDocument.objects.filter(workspace=workspace).delete()
        ModelCalibration.objects.filter(workspace=workspace).delete()
        for memories in (MemorySettings, ObservationPrompts, UserMemoryRecord):
            memories.objects.filter(workspace=workspace).delete()
        if not Session.objects.exists():
            ContentCount.objects.all().delete()
    for path in (*Path(settings.UPLOAD_DIR).iterdir(), *log.folder().iterdir()):
        if path.is_file():
            path.unlink(missing_ok=True)
    _give_back()


def data_folder() -> DataFolder:
    """The data folder and its size."""
    root = Path(settings.DATA_DIR)
    return DataFolder(str(root), sum(_sizes(root)), connection.vendor)


def _delete(sessions: QuerySet[Session]) -> None:
    """Delete sessions while nobody adds rows to them or to their views."""
    lock_rows(sessions)
    lock_rows(View.objects.filter(session__in=sessions))
    sessions.delete()


def _family(session: Session) -> list[Session]:
    """The session and everything below it."""
    family, level = [session], [session]
    while level:
        level = list(Session.objects.filter(parent__in=level).exclude(pk__in=[one.pk for one in family]))
        family += level
    return family


def _stop_runs(sessions: Iterable[Session], files: Iterable[LogFile]) -> None:
    """End what is at work on these: taking the token away keeps a batch under way from being committed."""
    targets = [one.uid.hex for one in sessions] + [one.uid.hex for one in files]
    for start in range(0, len(targets), 400):
        active = Run.objects.exclude(state__in=FINISHED).filter(target__in=targets[start : start + 400])
        active.update(
            state=RunState.CANCELLED, token=None, lease_until=None, idempotency_key=None, cancel_requested=True,
            finished_at=timezone.now(),
        )  # fmt: skip


def _forget(file: LogFile) -> None:
    """Nothing of the file is left: an upload and the log of a live session go, of another file on disk stays the note
    not to bring it back."""
    if not file.path or log.is_own(file):
        log.remove(file)
        file.delete()
        return
    RawSegment.objects.filter(file=file).delete()
    LogFile.objects.filter(pk=file.pk).update(
        forgotten_at=timezone.now(), size=0, sha256="", report={}, error="", revision=1
    )


def _give_back() -> None:
    """SQLite keeps deleted bytes in its file until it is written anew."""
    if connection.vendor == "sqlite" and not connection.in_atomic_block:
        search.squeeze()
        with connection.cursor() as cursor:
            cursor.execute("VACUUM")
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _sizes(root: Path) -> Iterable[int]:
    for path in root.rglob("*"):
        try:
            if path.is_file() and not path.is_symlink():
                yield path.stat().st_size
        except OSError:
            continue
