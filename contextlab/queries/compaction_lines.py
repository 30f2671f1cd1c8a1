"""A compaction as a line of the workspace's list, with what stands in other tables for a page of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F

from contextlab.core.audit.results import FactVerdict
from contextlab.queries.log_sizes import Sides, Stated, sizes_of
from contextlab.store.models import FINISHED, CompactionJob, MemoryVersion, SessionAudit

_SESSION = tuple(f"session__{name}" for name in ("uid", "title", "project", "role", "agent", "revision"))
_OF_LOG = (
    "id", "session_id", *_SESSION, "ts", "number", "at_step", "origin", "trigger", "opaque", "pre_tokens",
    "post_tokens",
)  # fmt: skip
_OF_JOB = (
    "id", "session_id", *_SESSION, "asked_at", "at_step", "before_step", "trigger", "policy_name", "method", "reason",
    "tokens_before", "tokens_after", "token_source", "run__uid", "run__state", "run__doing", "run__error", "revision",
    "facts",
)  # fmt: skip
COLUMNS = (_OF_LOG, _OF_JOB)
"""By whether it was made here."""


@dataclass(frozen=True, slots=True)
class CompactionEntry:
    """A compaction of the workspace."""

    origin: str
    """log, hand or auto."""
    detected: bool
    """The log does not say that it happened: it shows."""
    run: UUID | None
    """Of one that was made here."""
    number: int | None
    """Of one of a log."""
    session: UUID
    title: str
    project: str
    role: str
    agent: str
    state: str
    doing: str
    reason: str
    """Why nothing was done, or what went wrong."""
    at_step: int | None
    """The step that the memory stands before."""
    trigger: str
    policy: str
    """Empty for those of logs: their policy is the agent's own."""
    tokens_before: int | None
    before_source: str
    """logged, reported, counted or estimated; empty for unknown."""
    tokens_after: int | None
    after_source: str
    opaque: bool
    facts: dict[str, int] | None
    """What became of the facts of the items that left, by verdict; None: nobody has looked yet, empty: unknown."""
    branch: str | None
    version: int | None
    """The memory that it made."""
    at: datetime | None

    @property
    def active(self) -> bool:
        """Whether it waits or works."""
        return self.state not in FINISHED

    @property
    def fact_counts(self) -> Sequence[tuple[str, int]]:
        """(verdict, number) in the order of verdicts."""
        return [(verdict, (self.facts or {}).get(verdict, 0)) for verdict in FactVerdict]

    @property
    def facts_total(self) -> int:
        """All facts that were judged."""
        return sum((self.facts or {}).values())

    @property
    def place(self) -> str:
        """The last part of the project's path."""
        return self.project.replace("\\", "/").rstrip("/").rpartition("/")[2] or self.project


def entries(rows: Sequence[dict[str, Any]]) -> list[CompactionEntry]:
    """The rows (COLUMNS, and `made_here`) as lines, in their order: four queries at most, whatever their number."""
    of_log = [row for row in rows if not row["made_here"]]
    made = _memories([row["id"] for row in rows if row["made_here"]])
    audits, sizes = _audits(of_log), iter(sizes_of([_stated(row) for row in of_log]))
    return [
        _made_here(row, made.get(row["id"])) if row["made_here"] else _of_log(row, audits, next(sizes))
        for row in rows
    ]


def _stated(row: dict[str, Any]) -> Stated:
    return Stated(
        row["session_id"], row["session__revision"], row["at_step"], row["pre_tokens"], row["post_tokens"]
    )


def _of_log(row: dict[str, Any], audits: dict[int, dict[str, Any]], sizes: Sides) -> CompactionEntry:
    (before, after), facts = sizes, audits.get(row["session_id"], {}).get(str(row["number"]))
    return CompactionEntry(
        "log", row["origin"] == "detected", None, row["number"], *_session(row), "done", "", "", row["at_step"],
        row["trigger"], "", *before, *after, row["opaque"], facts, None, None, row["ts"],
    )  # fmt: skip


def _made_here(row: dict[str, Any], memory: tuple[str, int] | None) -> CompactionEntry:
    source = row["token_source"]
    sides = [
        (value, source if value is not None else "") for value in (row["tokens_before"], row["tokens_after"])
    ]
    branch, version = memory or (None, None)
    return CompactionEntry(
        "auto" if row["trigger"] == CompactionJob.Trigger.AUTO else "hand", False, row["run__uid"], None,
        *_session(row), row["run__state"], row["run__doing"], row["run__error"] or row["reason"],
        row["at_step"] or row["before_step"], row["trigger"], row["policy_name"], *sides[0], *sides[1], False,
        _facts(row), branch, version, row["asked_at"],
    )  # fmt: skip


def _facts(row: dict[str, Any]) -> dict[str, int] | None:
    """As they were counted; empty where the log was rewritten since, and its page cannot show them any more."""
    counted: dict[str, int] | None = row["facts"]
    return counted if counted is None or row["revision"] == row["session__revision"] else {}


def _session(row: dict[str, Any]) -> tuple[UUID, str, str, str, str]:
    uid, title, project, role, agent = (row[name] for name in _SESSION[:-1])
    return uid, title, project, role, agent


def _memories(jobs: Iterable[int]) -> dict[int | None, tuple[str, int]]:
    """Branch and version of the memory that each made."""
    rows = MemoryVersion.objects.filter(compaction_id__in=list(jobs)).order_by("-id")
    return {job: (name, version) for job, name, version in rows.values_list(
        "compaction_id", "view__name", "version")}  # fmt: skip


def _audits(rows: Sequence[dict[str, Any]]) -> dict[int, dict[str, Any]]:
    """The counts of facts of sessions that are audited as they were read, by number of the compaction."""
    sessions = {row["session_id"] for row in rows}
    found = SessionAudit.objects.filter(session_id__in=sessions, revision=F("session__revision"))
    return dict(found.values_list("session_id", "counts"))
