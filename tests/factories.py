"""Rows for tests of pages and services: made straight in the database, with defaults for all that is not said."""

from __future__ import annotations

import hashlib
import itertools
from datetime import UTC, datetime, timedelta
from typing import Any

from contextlab.store.models import LogFile, RawSegment, Run, Session, TurnRecord, Workspace

NOW = datetime(2026, 1, 20, 12, 0, tzinfo=UTC)
_numbers = itertools.count(1)


def a_workspace() -> Workspace:
    """The workspace that pages show locally."""
    return Workspace.objects.order_by("id").first() or Workspace.objects.create()


def a_file(**values: Any) -> LogFile:
    """A log that was read without a problem."""
    number = next(_numbers)
    report = {
        "format": "claude-code", "lines": 12, "records": 12, "merged": 3, "duplicates": 0, "skipped": [],
        "skipped_total": 0, "unknown_types": {}, "ignored_types": {"progress": 2}, "warnings": [],
        "cannot_contain": ["The system prompt is not in it."],
    }  # fmt: skip
    name = values.pop("name", f"log-{number}.jsonl")
    defaults: dict[str, Any] = {
        "workspace": values.get("workspace") or a_workspace(),
        "name": name,
        "path": f"/home/ada/.claude/projects/acme/{name}",
        "key": hashlib.sha256(f"{number} {name}".encode()).hexdigest(),
        "format": "claude-code",
        "size": 4_096,
        "disk_size": 4_096,
        "sha256": "ab" * 32,
        "mtime_ns": int(NOW.timestamp() * 1e9),
        "imported_at": NOW,
        "report": report | values.pop("report", {}),
    }
    return LogFile.objects.create(**defaults | values)


def a_segment(file: LogFile, content: bytes, **values: Any) -> RawSegment:
    """The bytes that are kept of a file (as one segment)."""
    import zstandard

    digest = hashlib.sha256(content).hexdigest()
    defaults = {"number": 0, "offset": 0, "length": len(content), "sha256": digest, "revision": file.revision}
    return RawSegment.objects.create(file=file, data=zstandard.compress(content), **defaults | values)


def a_session(**values: Any) -> Session:
    """A session of 20 steps, peak 149k of 200k reported tokens, one compaction."""
    number = next(_numbers)
    defaults: dict[str, Any] = {
        "workspace": values.get("workspace") or a_workspace(),
        "native_id": f"native-{number}",
        "format": "claude-code",
        "title": f"Session {number}",
        "model": "claude-sonnet-4-5",
        "project": "/home/ada/src/acme-api",
        "branch": "main",
        "turns": 4,
        "steps": 20,
        "items": 60,
        "compactions": 1,
        "peak_tokens": 149_000,
        "peak_source": "reported",
        "limit": 200_000,
        "fill_percent": 74.5,
        "sparkline": [[20_000 + 6_000 * bar, int(bar == 9)] for bar in range(20)],
        "last_at": NOW - timedelta(minutes=number),
        "sort_at": NOW - timedelta(minutes=number),
    }
    return Session.objects.create(**defaults | values)


def a_turn(session: Session, title: str, number: int = 1) -> TurnRecord:
    """A turn that a prompt began."""
    return TurnRecord.objects.create(
        session=session, revision=session.revision, number=number, native_id=f"turn-{number}", title=title,
        first_position=0,
    )  # fmt: skip


def a_run(**values: Any) -> Run:
    """A run that waits."""
    defaults: dict[str, Any] = {
        "workspace": values.get("workspace") or a_workspace(),
        "kind": Run.Kind.IMPORT,
    }
    return Run.objects.create(**defaults | values)
