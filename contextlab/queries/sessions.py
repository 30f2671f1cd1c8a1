"""The list of sessions, and whether an open one has grown."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from contextlab.queries.keyset import Cursor, decode, encode, ordered
from contextlab.queries.session_filters import FLAGS, NEARLY_FULL, Filters, listed, narrow
from contextlab.store.models import Session

PAGE_SIZE = 50
_VERSION = ("sessions", "steps", "subagents", "peaks", "counted")
_COLUMNS = (
    "id", "uid", "title", "native_id", "project", "branch", "format", "model", "agent", "role", "sample", "turns",
    "steps", "compactions", "micro_compactions", "subagents", "peak_tokens", "peak_source", "limit", "fill_percent",
    "sparkline", "findings", "last_at", "file__uid", "file__missing_since", "file__error",
    "file__report__skipped_total", "by",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class LookAt:
    """Something about a session that is worth a look; `level` is danger, warn or info."""

    level: str
    text: str
    to_report: bool = False
    """Whether the import report says more."""


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session as a row of the list."""

    uid: uuid.UUID
    title: str
    project: str
    branch: str
    format: str
    model: str
    agent: str
    role: str
    sample: bool
    turns: int
    steps: int
    compactions: int
    micro_compactions: int
    subagents: int
    peak: int | None
    peak_source: str
    limit: int | None
    sparkline: Sequence[Sequence[float | None]]
    last_at: datetime | None
    file: uuid.UUID | None
    look_at: tuple[LookAt, ...]
    opens_group: int | None = None
    """Number of sessions in the group (project and branch) that begins with this row, None when none does."""

    @property
    def place(self) -> str:
        """The last part of the project's path: what people call it."""
        return self.project.replace("\\", "/").rstrip("/").rpartition("/")[2] or self.project


@dataclass(frozen=True, slots=True)
class Choice:
    """A value that the list can be narrowed to, with the number of sessions that have it."""

    value: str
    count: int
    label: str = ""


@dataclass(frozen=True, slots=True)
class Totals:
    """Counters of the whole workspace. Steps shared with the session they were forked from count once."""

    sessions: int
    samples: int
    """Of the sessions those that came with ContextLab."""
    steps: int
    compactions: int
    subagents: int
    formats: tuple[Choice, ...]
    models: tuple[Choice, ...]
    projects: int
    flags: tuple[Choice, ...]

    version: str
    """Differs when a session landed, grew, or got its figures."""


@dataclass(frozen=True, slots=True)
class SessionPage:
    """One page of the list."""

    rows: tuple[SessionRow, ...]
    filters: Filters
    matching: int
    first: int
    """Number of the first row on it, from 1."""
    before: str = ""
    after: str = ""
    """Cursors of the neighbouring pages, empty where there is none."""

    @property
    def last(self) -> int:
        """Number of the last row on it."""
        return self.first + len(self.rows) - 1


@dataclass(frozen=True, slots=True)
class Freshness:
    """How far a session's log has been read: what an open page compares itself with."""

    steps: int
    turns: int
    items: int
    revision: int


def session_page(workspace: int, filters: Filters) -> SessionPage:
    """The page of the list that the filters' cursor points to; an unknown cursor gives the first."""
    matching = narrow(workspace, filters)
    total = matching.count()
    cursor = decode(filters.cursor, filters.order, filters.keys)
    raw = list(ordered(matching, filters.keys, cursor).values(*_COLUMNS)[: PAGE_SIZE + 1])
    more = len(raw) > PAGE_SIZE
    raw = raw[:PAGE_SIZE]
    forward = cursor is None or cursor.forward
    if not forward:
        raw.reverse()
    start = _start(cursor, len(raw))
    rows = [_row(values) for values in raw]
    if filters.grouped:
        rows = _with_groups(rows, matching)
    has_before, has_after = (start > 0, more) if forward else (more, True)
    return SessionPage(
        rows=tuple(rows),
        filters=filters,
        matching=total,
        first=start + 1,
        before=_cursor(raw[0], filters, start, forward=False) if raw and has_before else "",
        after=_cursor(raw[-1], filters, start + len(raw), forward=True) if raw and has_after else "",
    )


def totals(workspace: int) -> Totals:
    """What the head of the list says, and what its filters offer. From the sessions' own counters only."""
    rows = listed(workspace)
    # No alias may be a column's name: the conditions of the flags mean the columns.
    counts: dict[str, Any] = rows.aggregate(
        n_sessions=Count("id"),
        n_samples=Count("id", filter=Q(sample=True)),
        n_steps=Coalesce(Sum("steps"), 0) - Coalesce(Sum("shared_steps"), 0),
        n_compactions=Coalesce(Sum("compactions"), 0),
        n_subagents=Coalesce(Sum("subagents"), 0),
        n_peaks=Coalesce(Sum("peak_tokens"), 0),
        n_counted=Count("id", filter=Q(counted=True)),
        n_projects=Count("project", distinct=True, filter=~Q(project="")),
        **{f"flag_{name}": Count("id", filter=condition) for name, (_, condition) in FLAGS.items()},
    )
    return Totals(
        sessions=counts["n_sessions"],
        samples=counts["n_samples"],
        steps=counts["n_steps"],
        compactions=counts["n_compactions"],
        subagents=counts["n_subagents"],
        projects=counts["n_projects"],
        formats=_choices(rows, "format"),
        models=_choices(rows, "model"),
        version="-".join(str(counts[f"n_{name}"]) for name in _VERSION),
        flags=tuple(Choice(name, counts[f"flag_{name}"], label) for name, (label, _) in FLAGS.items()),
    )


def freshness(workspace: int, uid: uuid.UUID) -> Freshness | None:
    """How far the session's log has been read, None when it does not exist (any more)."""
    found = Session.objects.filter(workspace_id=workspace, uid=uid).values_list(
        "steps", "turns", "items", "revision"
    )
    for row in found:
        return Freshness(*row)
    return None


def _choices(rows: QuerySet[Session], column: str, most: int = 40) -> tuple[Choice, ...]:
    found = (
        rows.exclude(**{column: ""}).values_list(column).annotate(n=Count("id")).order_by("-n", column)[:most]
    )
    return tuple(Choice(value, count) for value, count in found)


def _start(cursor: Cursor | None, length: int) -> int:
    if cursor is None:
        return 0
    return cursor.start if cursor.forward else max(cursor.start - length, 0)


def _cursor(values: dict[str, Any], filters: Filters, start: int, forward: bool) -> str:
    return encode(filters.order, [values[key.name] for key in filters.keys], start, forward)


def _with_groups(rows: list[SessionRow], matching: QuerySet[Session]) -> list[SessionRow]:
    """Mark the rows that begin a group, with the size of the whole group (it may reach over several pages)."""
    projects = {row.project for row in rows}
    counted = (
        matching.filter(project__in=projects)
        .order_by()
        .values_list("project", "branch")
        .annotate(n=Count("id"))
    )
    sizes = {(project, branch): size for project, branch, size in counted}
    marked, last = [], None
    for row in rows:
        group = (row.project, row.branch)
        marked.append(replace(row, opens_group=sizes.get(group, 1)) if group != last else row)
        last = group
    return marked


def _row(values: dict[str, Any]) -> SessionRow:
    return SessionRow(
        title=values["title"],
        peak=values["peak_tokens"],
        file=values["file__uid"],
        look_at=tuple(_look_at(values)),
        **{name: values[name] for name in _SAME},
    )


_SAME = (
    "uid", "project", "branch", "format", "model", "agent", "role", "sample", "turns", "steps", "compactions",
    "micro_compactions", "subagents", "peak_source", "limit", "sparkline", "last_at",
)  # fmt: skip


def _look_at(values: dict[str, Any]) -> list[LookAt]:
    fill, skipped = values["fill_percent"], values["file__report__skipped_total"] or 0
    found = []
    if fill is not None and fill > 100:
        found.append(LookAt("danger", f"over the limit: {fill:.0f} %"))
    elif fill is not None and fill > NEARLY_FULL:
        found.append(LookAt("warn", f"{fill:.0f} % full"))
    if values["findings"]:
        found.append(LookAt("warn", f"changed outside the log, {_times(values['findings'])}"))
    if not values["steps"]:
        found.append(LookAt("info", "empty log: no model call"))
    if skipped:
        found.append(LookAt("warn", f"{skipped:,} line{'s' if skipped != 1 else ''} skipped", to_report=True))
    if values["file__error"]:
        found.append(LookAt("danger", "the file can no longer be read", to_report=True))
    if values["file__missing_since"]:
        found.append(LookAt("info", "only copy: the log is gone", to_report=True))
    return found


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
