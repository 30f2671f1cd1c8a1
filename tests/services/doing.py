"""Import files in tests, and look at all that came of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from contextlab.core.assembler import Assembler
from contextlab.core.events import FileReport, SessionStart
from contextlab.importers import read_file
from contextlab.importers.base import Source
from contextlab.services import imports
from contextlab.services.actions import perform
from contextlab.services.work import Counting
from contextlab.services.workspaces import local_workspace
from contextlab.store.models import (
    CompactionRecord,
    ItemRecord,
    LogFile,
    MarkRecord,
    RawSegment,
    Run,
    Session,
    SpanRecord,
    StepRecord,
    StepReport,
    TextSegment,
    TurnRecord,
    View,
)
from contextlab.store.texts import TEXT_COLUMNS, read_raw, read_texts

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"
needs_corpus = pytest.mark.skipif(
    not CORPUS.is_dir(), reason="the corpus of real logs is not beside the project"
)

NOT_COMPARED = {"id", "session", "session_id", "view", "view_id", "revision", "text_segment", "text_offset"}
TABLES = (ItemRecord, TurnRecord, StepRecord, MarkRecord, CompactionRecord)
ALL_TABLES = (*TABLES, TextSegment, RawSegment, StepReport, SpanRecord, View, Session, LogFile)


def import_path(path: Path, counting: Counting = Counting.SMALL) -> Run:
    """Import one file as a worker would; returns the run at its end."""
    (run,) = imports.queue_paths(local_workspace(), [path])
    perform(run, None, counting)
    run.refresh_from_db()
    return run


def import_well(path: Path, counting: Counting = Counting.SMALL) -> Session:
    """Import one file that holds one main session; returns that."""
    run = import_path(path, counting)
    assert run.state in ("done", "noop"), run.error
    return Session.objects.get(file__uid=run.target, role="")


def counts() -> dict[str, int]:
    """Rows of every table."""
    return {model.__name__: model.objects.count() for model in ALL_TABLES}


def everything(session: Session) -> dict[str, Any]:
    """All that is stored of a session, without keys and without where its texts lie."""
    found: dict[str, Any] = {}
    for model in TABLES:
        rows = model.objects.filter(session=session, revision=session.revision)
        assert rows.count() == model.objects.filter(session=session).count(), (
            "rows of another revision are left"
        )
        found[model.__name__] = sorted((_plain(row) for row in rows.values()), key=repr)
    found["texts"] = texts(session)
    for view in View.objects.filter(session=session):
        rows = StepReport.objects.filter(view=view).order_by("step").values()
        found[f"{view.name} reports"] = [_plain(row) for row in rows]
        found[f"{view.name} spans"] = sorted(
            (_plain(row) for row in SpanRecord.objects.filter(view=view).values()), key=repr
        )
        found[f"{view.name} chart"] = view.chart
        found[f"{view.name} state"] = (view.steps, view.counted, view.stale)
    skipped = {
        "id",
        "uid",
        "workspace_id",
        "file_id",
        "revision",
        "created_at",
        "parent_id",
        "forked_from_id",
    }
    row = Session.objects.filter(pk=session.pk).values().get()
    found["session"] = {name: value for name, value in row.items() if name not in skipped}
    return found


def texts(session: Session) -> dict[int, str]:
    """Every text by position."""
    rows = ItemRecord.objects.filter(session=session, revision=session.revision)
    return read_texts(session.pk, session.revision, rows.order_by("position").values_list(*TEXT_COLUMNS))


def raw(file: LogFile) -> bytes:
    """The log's bytes as they are stored."""
    file.refresh_from_db()
    return read_raw(file, 0, file.size)


def assembled(path: Path) -> dict[str, tuple[Assembler, list[str]]]:
    """The same file read without a database: assembler and texts of each session, by native id."""
    found: dict[str, tuple[Assembler, list[str]]] = {}
    keys: dict[str, str] = {}
    for key, event in read_file(Source(path.name, path, relative=path.name), FileReport()):
        if key not in keys:
            assert isinstance(event, SessionStart)
            keys[key] = event.native_id
            found[event.native_id] = (Assembler(event), [])
        assembler, words = found[keys[key]]
        row = assembler.feed(event)
        if row is not None:
            words.append(row.event.text)
    return found


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: bytes(value) if isinstance(value, memoryview) else value
        for name, value in row.items()
        if name not in NOT_COMPARED
    }
