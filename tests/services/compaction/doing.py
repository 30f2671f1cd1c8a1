"""A session with enough in it to be compacted, and compactions of it as a worker would do them."""

from __future__ import annotations

from typing import Any

from contextlab.services.actions import perform
from contextlab.services.compaction import read_request, request_compaction
from contextlab.store.models import CompactionJob, Run, Session

STRUCTURED = {"version": 1, "name": "mine", "compaction": {"kind": "structured_summary", "max_items": 4}}
BY_MODEL = {"version": 1, "name": "by model", "compaction": {"kind": "llm_summary", "max_items": 4}}
ANSWER = '{"goal": "ship it", "completed": ["wrote the parser"], "pending": ["tests"]}'


def asked(session: Session, key: str | None = None, **values: Any) -> Run:
    """A run that waits."""
    return request_compaction(session, read_request({"policy": STRUCTURED, **values}), key)[0]


def done(run: Run) -> CompactionJob:
    """The run as a worker does it, with what came of it."""
    perform(run)
    return seen(run)


def seen(run: Run) -> CompactionJob:
    """The job of a run as it is stored."""
    return CompactionJob.objects.select_related("run", "session", "base_view").get(run=run.pk)


def by_model(session: Session, **values: Any) -> Run:
    """A run that asks a model, as a person confirmed."""
    return asked(session, policy=BY_MODEL, confirm=True, **values)
