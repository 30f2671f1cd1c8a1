"""Importing files: paths are queued as runs, a run reads one file."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import timezone

from contextlab.core.redaction import redact
from contextlab.importers import UnreadableFile
from contextlab.importers.base import Source
from contextlab.services import runs
from contextlab.services.ingest import Finding, SessionWriter, examine, ingest
from contextlab.services.runs import Priority, Refused
from contextlab.services.work import Outcome, Work
from contextlab.store.models import LogFile, Run, RunState, Workspace


def file_for(workspace: Workspace, source: Source, origin: str = LogFile.Origin.PATH) -> LogFile:
    """The row of a file on disk, made when it is new."""
    path = os.path.abspath(source.path or source.name)
    key = hashlib.sha256(os.fsencode(path)).hexdigest()
    name = Path(path).name
    found, _ = LogFile.objects.get_or_create(
        workspace=workspace, key=key,
        defaults={"name": name, "path": path, "relative": source.relative[:1024], "origin": origin},
    )  # fmt: skip
    return found


def request(file: LogFile, priority: Priority = Priority.NOW, parent: Run | None = None) -> tuple[Run, bool]:
    """The run that imports a file, and whether it is new."""
    return runs.request(
        file.workspace, Run.Kind.IMPORT, f"import:{file.uid.hex}", target=file.uid.hex, priority=priority,
        parent=parent, unit="bytes",
    )  # fmt: skip


def perform(work: Work) -> Outcome:
    """Import the run's file."""
    file = LogFile.objects.select_related("workspace").get(uid=work.run.target)
    source = source_of(file)
    try:
        finding = examine(file, source)
        if finding is Finding.SAME:
            return Outcome(RunState.NOOP, {"sessions": []})
        written = ingest(work, file, source, finding)
    except UnreadableFile as error:
        raise Refused(str(error)) from error
    return Outcome(RunState.DONE, {"new_items": sum(writer.new_items for writer in written)})


def source_of(file: LogFile) -> Source:
    """The source of a file as it is now; it reads no further than the file reaches at this moment."""
    path = Path(file.path)
    limit = path.stat().st_size if path.exists() else None
    return Source(file.name, path, relative=file.relative, limit=limit)
