"""The import report ("doctor") of one file, and what a data page lists of files and folders."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db.models import Count, Sum

from contextlab.store.models import LogFile, RawSegment, Session, WatchedFolder

SESSIONS_SHOWN = 50


@dataclass(frozen=True, slots=True)
class FileSession:
    """A session that stands in the file."""

    uid: uuid.UUID
    title: str
    role: str
    agent: str
    turns: int
    steps: int
    items: int


@dataclass(frozen=True, slots=True)
class HeldElsewhere:
    """A session of this file that is shown from another one, because that holds more of it."""

    native_id: str
    title: str
    uid: uuid.UUID | None
    """None when the session was deleted since."""
    file: uuid.UUID | None
    file_name: str


@dataclass(frozen=True, slots=True)
class FilePage:
    """What reading the file came to, and where its bytes are."""

    uid: uuid.UUID
    name: str
    relative: str
    path: str
    origin: str
    format: str
    size: int
    disk_size: int
    stored: int
    """Bytes of it that ContextLab keeps, decompressed."""
    modified_at: datetime | None
    sha256: str
    imported_at: datetime | None
    missing_since: datetime | None
    forgotten_at: datetime | None
    """When a person deleted its sessions."""
    error: str
    lines: int | None
    records: int | None
    merged: int | None
    duplicates: int | None
    skipped: Sequence[tuple[int, str]]
    """(line, reason) of the first that were skipped."""
    skipped_total: int
    unknown_types: Sequence[tuple[str, int]]
    ignored_types: Sequence[tuple[str, int]]
    warnings: Sequence[str]
    cannot_contain: Sequence[str]
    sessions: Sequence[FileSession]
    sessions_total: int
    elsewhere: Sequence[HeldElsewhere]
    elsewhere_total: int

    @property
    def only_copy(self) -> bool:
        """Whether the log vanished from where it was read."""
        return self.missing_since is not None

    @property
    def rereadable(self) -> bool:
        """Whether it was read from a path that can be read again."""
        return bool(self.path) and not self.only_copy


@dataclass(frozen=True, slots=True)
class Watched:
    """A folder that is read again while it is enabled."""

    key: int
    path: str
    label: str
    enabled: bool
    last_scan_at: datetime | None


@dataclass(frozen=True, slots=True)
class Problem:
    """A file that could not be read, or only in part."""

    uid: uuid.UUID
    name: str
    error: str
    skipped: int


@dataclass(frozen=True, slots=True)
class Holdings:
    """What the workspace holds."""

    files: int
    bytes: int
    """Size of the logs that were read, decompressed."""
    sessions: int
    subagents: int
    only_copies: int
    watched: tuple[Watched, ...]
    problems: tuple[Problem, ...]


def file_page(workspace: int, uid: uuid.UUID) -> FilePage | None:
    """The import report of a file, None when the workspace has no such file."""
    file = LogFile.objects.filter(workspace_id=workspace, uid=uid).first()
    if file is None:
        return None
    sessions = Session.objects.filter(workspace_id=workspace, file=file).order_by("role", "sort_at", "id")
    columns = ("uid", "title", "role", "agent", "turns", "steps", "items")
    shown = [FileSession(*row) for row in sessions.values_list(*columns)[:SESSIONS_SHOWN]]
    return FilePage(
        uid=file.uid,
        name=file.name,
        relative=file.relative,
        path=file.path,
        origin=file.get_origin_display(),
        format=file.format,
        size=file.size,
        disk_size=file.disk_size,
        stored=stored_bytes(file),
        modified_at=datetime.fromtimestamp(file.mtime_ns / 1e9, UTC) if file.mtime_ns else None,
        sha256=file.sha256,
        imported_at=file.imported_at,
        missing_since=file.missing_since,
        forgotten_at=file.forgotten_at,
        error=file.error,
        sessions=shown,
        sessions_total=sessions.count(),
        elsewhere=_elsewhere(file),
        elsewhere_total=len(file.report.get("elsewhere", {})),
        **_report(file.report),
    )


def holdings(workspace: int, problems: int = 20) -> Holdings:
    """Counts and sizes for the data page; at most `problems` files with problems, newest first."""
    files = LogFile.objects.filter(workspace_id=workspace, forgotten_at=None)
    sums = files.aggregate(n=Count("id"), bytes=Sum("size"))
    sessions = Session.objects.filter(workspace_id=workspace)
    bad = files.exclude(error="") | files.filter(report__skipped_total__gt=0)
    rows = bad.order_by("-id").values_list("uid", "name", "error", "report__skipped_total")[:problems]
    folders = WatchedFolder.objects.filter(workspace_id=workspace).order_by("path")
    return Holdings(
        files=sums["n"],
        bytes=sums["bytes"] or 0,
        sessions=sessions.filter(role="").count(),
        subagents=sessions.exclude(role="").count(),
        only_copies=files.filter(missing_since__isnull=False).count(),
        watched=tuple(
            Watched(*row) for row in folders.values_list("id", "path", "label", "enabled", "last_scan_at")
        ),
        problems=tuple(Problem(uid, name, error, skipped or 0) for uid, name, error, skipped in rows),
    )


def _elsewhere(file: LogFile) -> list[HeldElsewhere]:
    """Where the sessions are now that another file holds more of; a chain of copies leads to the last one."""
    noted = dict(list(file.report.get("elsewhere", {}).items())[:SESSIONS_SHOWN])
    sessions = Session.objects.filter(
        workspace=file.workspace_id, format=file.format, native_id__in=list(noted)
    )
    rows = sessions.values_list("native_id", "title", "uid", "file__uid", "file__name")
    found = {
        native: HeldElsewhere(native, title, uid, holder, name or "")
        for native, title, uid, holder, name in rows
    }
    gone = {native: HeldElsewhere(native, "", None, None, name) for native, name in noted.items()}
    return list((gone | found).values())


def stored_bytes(file: LogFile) -> int:
    """How many bytes of the log are kept, decompressed."""
    total = RawSegment.objects.filter(file=file, revision=file.revision).aggregate(n=Sum("length"))["n"]
    return int(total or 0)


def _report(report: dict[str, Any]) -> dict[str, Any]:
    """The fields of core.events.FileReport as they were stored; a file that was never read has none."""
    counts = {name: report.get(name) for name in ("lines", "records", "merged", "duplicates")}
    skipped = [(int(line), str(reason)) for line, reason in report.get("skipped", [])]
    return counts | {
        "skipped": skipped,
        "skipped_total": report.get("skipped_total", len(skipped)),
        "unknown_types": _by_count(report.get("unknown_types", {})),
        "ignored_types": _by_count(report.get("ignored_types", {})),
        "warnings": list(report.get("warnings", [])),
        "cannot_contain": list(report.get("cannot_contain", [])),
    }


def _by_count(types: dict[str, int]) -> list[tuple[str, int]]:
    return sorted(types.items(), key=lambda pair: (-pair[1], pair[0]))
