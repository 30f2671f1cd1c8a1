"""Importing files: paths are queued as runs, a run reads one file and makes its recorded views.

queue_paths(workspace, paths, origin)     one run per file
perform(work)                             the run
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone

from contextlab.core.redaction import redact
from contextlab.core.timeline import UNKNOWN
from contextlab.importers import UnreadableFile
from contextlab.importers.base import Source
from contextlab.importers.discover import discover
from contextlab.services import counting, opening, projection, runs, uploads
from contextlab.services.ingest import Finding, SessionWriter, examine, ingest, is_sent, remember, resumed_of
from contextlab.services.ingest.redacting import as_stored
from contextlab.services.ingest.resuming import Resumed
from contextlab.services.linking import link_sessions
from contextlab.services.projection import Job
from contextlab.services.reports import Superseded
from contextlab.services.runs import ATTEMPTS, Cancelled, Lost, Priority, Refused
from contextlab.services.timelines import fill_counts, load_timeline
from contextlab.services.work import Outcome, Work
from contextlab.store.models import LogFile, Run, RunState, Session, WatchedFolder, Workspace

SESSIONS_NAMED = 20
"""Sessions that a run's result names."""


def queue_paths(
    workspace: Workspace,
    paths: Iterable[str | Path],
    origin: str = LogFile.Origin.PATH,
    watch: bool = False,
    problems: list[str] | None = None,
) -> list[Run]:
    """One run for each file of the paths, folders and trees; files of folders that did not change are left out.

    With `watch` the folders are read again every two seconds from now on. What could not be looked at is named in
    `problems`.
    """
    asked = [Path(path) for path in paths]
    found = discover(asked, problems=problems)
    queued = [
        request(file)[0]
        for file, source in zip(files_for(workspace, found, origin), found, strict=True)
        if source.path in asked or not is_unchanged(file, source)
    ]
    if watch:
        for folder in asked:
            if folder.is_dir():
                watch_folder(workspace, folder)
    return queued


def files_for(
    workspace: Workspace, sources: Sequence[Source], origin: str = LogFile.Origin.PATH
) -> list[LogFile]:
    """The rows of files on disk, made where they are new, in the order of the sources."""
    keys = [hashlib.sha256(os.fsencode(_absolute(source))).hexdigest() for source in sources]
    known: dict[str, LogFile] = {}
    for start in range(0, len(keys), 500):
        some = slice(start, start + 500)
        rows = LogFile.objects.filter(workspace=workspace, key__in=keys[some])
        known |= {file.key: file for file in rows}
        LogFile.objects.bulk_create(
            (
                LogFile(
                    workspace=workspace, key=key, origin=origin, name=Path(_absolute(source)).name[:1024],
                    path=_absolute(source), relative=source.relative[:1024],
                )
                for key, source in zip(keys[some], sources[some], strict=True)
                if key not in known
            ),
            ignore_conflicts=True,
        )  # fmt: skip
        known |= {file.key: file for file in rows.all()}
    return [known[key] for key in keys]


def is_unchanged(file: LogFile, source: Source) -> bool:
    """Whether a file looks as it did when it was last read well, by its size and time."""
    status = status_of(source.path)
    return not file.error and status is not None and status == (file.disk_size, file.mtime_ns)


def request(
    file: LogFile,
    priority: Priority = Priority.NOW,
    parent: Run | None = None,
    total: int | None = None,
) -> tuple[Run, bool]:
    """The run that imports a file, and whether it is new."""
    return runs.request(
        file.workspace, Run.Kind.IMPORT, f"import:{file.uid.hex}", target=file.uid.hex, priority=priority,
        parent=parent, total=total, unit="bytes",
    )  # fmt: skip


def watch_folder(workspace: Workspace, folder: Path, label: str = "") -> WatchedFolder:
    """Read a folder again every two seconds from now on: its known files when they change, and new ones."""
    path = str(folder.absolute())
    defaults = {"label": label or folder.name, "enabled": True, "since": timezone.now()}
    return WatchedFolder.objects.update_or_create(workspace=workspace, path=path, defaults=defaults)[0]


# The run --------------------------------------------------------------------------------------------------


def perform(work: Work) -> Outcome:
    """Import the run's file: read it, link its sessions, count what is little, make the recorded views.

    Larger sessions are shown with estimates first; the run that counts them is returned with the outcome.
    """
    file = LogFile.objects.select_related("workspace").filter(uid=work.run.target).first()
    if file is None:
        raise Refused("The file's sessions were deleted.")
    upload = work.run.params.get("upload")
    status = status_of(Path(file.path)) if file.path else None
    try:
        written, finding, resumed = _read(work, file, upload)
    except UnreadableFile as error:
        _note_failure(file, status, str(error))
        uploads.discard(upload)
        raise Refused(str(error)) from error
    except (Lost, Cancelled):
        raise
    except Exception as error:
        if work.run.attempts >= ATTEMPTS:
            _note_failure(file, status, f"{type(error).__name__}: {error}")
        raise
    if status is not None:
        LogFile.objects.filter(pk=file.pk).update(disk_size=status[0], mtime_ns=status[1])
    queued = _settle(work, file, written)
    if resumed is not None:
        remember(file, resumed)
    # Last of all: until here whoever takes a broken-off run over needs the bytes.
    uploads.discard(upload)
    return _outcome(finding, written, queued)


def _read(
    work: Work, file: LogFile, upload: str | None
) -> tuple[list[SessionWriter], Finding, Resumed | None]:
    """What was written, and of a log that is sent piece by piece how it was read."""
    if upload and file.sha256 and not uploads.is_there(upload):
        return [], Finding.SAME, None
    source = as_stored(uploads.source_of(file, upload) if upload else source_of(file))
    resumed = resumed_of(file, source) if is_sent(file) else None
    finding = resumed.finding(source) if resumed is not None and resumed.size else examine(file, source)
    if finding is Finding.SAME:
        LogFile.objects.filter(pk=file.pk).update(error="", missing_since=None, forgotten_at=None)
        return [], finding, resumed
    return ingest(work, file, source, finding, partial(_first_look, work), resumed), finding, resumed


def _first_look(work: Work, writers: Sequence[SessionWriter]) -> None:
    """Recorded views of the first steps of new sessions: whoever opens one reads on while the rest lands."""
    sessions = [writer.session for writer in writers if writer.session is not None]
    views = opening.recorded_views(sessions)
    jobs = (
        Job(writer.session, views[writer.session.pk], writer.timeline())
        for writer in writers
        if writer.session is not None
    )
    # Where somebody looked already, their run makes the view.
    with suppress(Superseded):
        projection.project(work, jobs)


def source_of(file: LogFile) -> Source:
    """The source of a file as it is now; it reads no further than the file reaches at this moment.

    Raises Refused for an upload, whose bytes are gone, and UnreadableFile where a folder stands in its place.
    """
    if not file.path:
        raise Refused(f"{file.name}: was uploaded and cannot be read again; upload it once more")
    if Path(file.path).is_dir():
        raise UnreadableFile(f"{file.name}: is a folder now")
    source = discover([Path(file.path)])[0]
    source.relative = file.relative or source.relative
    source.limit = None if _is_compressed(Path(file.path)) else source.size
    return source


def _settle(work: Work, file: LogFile, written: Sequence[SessionWriter]) -> list[Run]:
    """After the rows: links, counts where there is little to count, recorded views; returns runs for the rest.

    Also does what a run that was cut off behind its last row had left to do.
    """
    at_hand = {writer.session.pk: writer for writer in written if writer.session is not None}
    changed = [writer.session for writer in at_hand.values() if writer.changed and writer.session is not None]
    keys = {session.pk for session in changed}
    changed += [session for session in opening.incomplete(file.sessions.all()) if session.pk not in keys]
    with transaction.atomic():
        link_sessions(changed)
    since = {key: writer.counted_to for key, writer in at_hand.items()}
    queued, counted = counting.count_or_queue(work, file, changed, since)
    views = opening.recorded_views(changed)
    if is_sent(file) and not all(session.steps <= opening.LITTLE for session in changed):
        return queued + [run for one in changed for run in opening.follow(one, [views[one.pk]])]

    def job(session: Session) -> Job:
        writer = at_hand.get(session.pk)
        timeline = writer.timeline() if writer else load_timeline(session)
        if writer and (counted or writer.counted_to) and UNKNOWN in timeline.tokens:
            fill_counts(timeline, session)
        return Job(session, views[session.pk], timeline)

    return queued + projection.project_or_queue(work, map(job, changed))


def _outcome(finding: Finding, written: Sequence[SessionWriter], queued: list[Run]) -> Outcome:
    changed = [writer for writer in written if writer.changed and writer.session is not None]
    main = [writer.session for writer in changed if writer.session is not None and not writer.session.role]
    result = {
        "finding": finding.value,
        "new_items": sum(writer.new_items for writer in changed),
        "sessions": [session.uid.hex for session in main[:SESSIONS_NAMED]],
        "sessions_total": len(main),
        "subagents_total": len(changed) - len(main),
    }
    return Outcome(RunState.DONE if changed else RunState.NOOP, result, queued)


def _note_failure(file: LogFile, status: tuple[int, int] | None, message: str) -> None:
    """Keep why a file could not be read; it is tried again when it changes, or when somebody asks."""
    fields: dict[str, Any] = {"error": redact(message)[:2000], "imported_at": timezone.now()}
    if status is not None:
        fields["disk_size"], fields["mtime_ns"] = status
    elif file.path and not file.missing_since:
        fields["missing_since"] = timezone.now()
    LogFile.objects.filter(pk=file.pk).update(**fields)


def status_of(path: Path | None) -> tuple[int, int] | None:
    """Size and time of the last change; None when there is no such file."""
    try:
        status = os.stat(path or "")
    except (OSError, ValueError):
        return None
    return status.st_size, status.st_mtime_ns


def _is_compressed(path: Path) -> bool:
    """Whether the bytes read are not those on disk, by the file's first ones."""
    try:
        with path.open("rb") as stream:
            head = stream.read(4)
    except OSError:
        return False
    return head == b"\x28\xb5\x2f\xfd" or head[:2] == b"\x1f\x8b"


def _absolute(source: Source) -> str:
    return os.path.abspath(source.path or source.name)
