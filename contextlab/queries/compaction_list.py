"""All compactions of a workspace, newest first: those that logs record and those made here, a page at a time.

Two tables make one list. Its order is (time, made here before the log's, id), all descending; those of logs without
times come last, by id. Each part is read from its index as far as one page needs it, and the parts are merged: page
1,000 costs what page 1 does, and every page takes the same number of queries.

Micro-compactions have no rows here (they summarise nothing), nor has what a policy view would have done: nobody's
memory was compacted there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import UUID

from django.db import connections
from django.db.models import Count, F, Model, Q, QuerySet, Sum

from contextlab.queries.compaction_lines import COLUMNS, CompactionEntry, entries
from contextlab.queries.keyset import Cursor, Key, decode, encode
from contextlab.store.models import CompactionJob, CompactionRecord, RunState, Session

PAGE_SIZE = 50
MOST_ROWS = 200
"""Of a page: for each the reported figures beside it are looked up."""
MOST_COUNTED = 1_000
"""Matching rows are counted up to here."""
MOST_POLICIES = 40
WORDS_LIMIT = 8
ORDER = "compactions"
KEYS = (Key("at", datetime, True), Key("made_here", int, True), Key("id", int, True))
NO_TIME = datetime(1, 1, 2, tzinfo=UTC)
"""Stands in cursors for the time of a compaction whose log has none."""

LOG, HAND, AUTO = "log", "hand", "auto"
ORIGINS = {LOG: "in logs", HAND: "by hand", AUTO: "automatic"}
STATES = tuple(str(state) for state in RunState)
TRIGGERS = {HAND: CompactionJob.Trigger.MANUAL, AUTO: CompactionJob.Trigger.AUTO}
NAMED = ("title", "project", "branch", "model", "native_id", "agent")
NOTHING = Q(pk__in=())
M = TypeVar("M", bound=Model)


@dataclass(frozen=True, slots=True)
class CompactionFilters:
    """What the list is narrowed to. Values that no compaction has give an empty list, never an error."""

    origin: str = ""
    state: str = ""
    policy: str = ""
    q: str = ""
    """Words that stand in the session's title, project, branch, model, agent or native id."""
    session: UUID | None = None
    cursor: str = ""

    @property
    def active(self) -> bool:
        """Whether anything is narrowed."""
        return bool(self.origin or self.state or self.policy or self.q or self.session)


@dataclass(frozen=True, slots=True)
class CompactionTotals:
    """What there is in the workspace, whatever is filtered."""

    origins: dict[str, int]
    """By name of ORIGINS."""
    states: dict[str, int]
    """By state of the run; those of logs are done."""
    policies: Sequence[tuple[str, int]]

    @property
    def all(self) -> int:
        """All compactions."""
        return sum(self.origins.values())


@dataclass(frozen=True, slots=True)
class CompactionListPage:
    """One page of the list."""

    rows: Sequence[CompactionEntry]
    filters: CompactionFilters
    matching: int
    more_match: bool
    """True: at least so many match."""
    first: int
    """Number of the first row on it, from 1."""
    before: str = ""
    after: str = ""
    """Cursors of the neighbouring pages, empty where there is none."""

    @property
    def last(self) -> int:
        """Number of the last row on it."""
        return self.first + len(self.rows) - 1


def compaction_list(
    workspace_id: int, filters: CompactionFilters, size: int = PAGE_SIZE
) -> CompactionListPage:
    """The page of the list that the filters' cursor points to; an unknown cursor gives the first."""
    cursor = decode(filters.cursor, ORDER, KEYS)
    forward = cursor is None or cursor.forward
    jobs, logs = _jobs(workspace_id, filters), _logs(workspace_id, filters)
    parts = [
        _beside(jobs, "asked_at", 1, cursor, size),
        _beside(logs.filter(ts__isnull=False), "ts", 0, cursor, size),
        _beside(logs.filter(ts__isnull=True), None, 0, cursor, size),
    ]
    found = sorted((row for part in parts for row in part), key=_place, reverse=forward)
    more, found = len(found) > size, found[:size]
    if not forward:
        found.reverse()
    start = 0 if cursor is None else cursor.start if forward else max(cursor.start - len(found), 0)
    has_before, has_after = (start > 0, more) if forward else (more, True)
    matching = sum(rows.order_by()[: MOST_COUNTED + 1].count() for rows in (jobs, logs))
    return CompactionListPage(
        entries(found), filters, min(matching, MOST_COUNTED), matching > MOST_COUNTED, start + 1,
        encode(ORDER, _place(found[0]), start, False) if found and has_before else "",
        encode(ORDER, _place(found[-1]), start + len(found)) if found and has_after else "",
    )  # fmt: skip


def compaction_totals(workspace_id: int) -> CompactionTotals:
    """How many there are of each origin, state and policy: of logs from the sessions' own counters."""
    logs = Session.objects.filter(workspace_id=workspace_id).aggregate(n=Sum("compactions"))["n"] or 0
    jobs = CompactionJob.objects.filter(run__workspace_id=workspace_id).order_by()
    origins, states = {LOG: logs, HAND: 0, AUTO: 0}, {str(RunState.DONE): logs}
    for trigger, state, count in jobs.values_list("trigger", "run__state").annotate(n=Count("id")):
        origins[AUTO if trigger == CompactionJob.Trigger.AUTO else HAND] += count
        states[state] = states.get(state, 0) + count
    named = jobs.values_list("policy_name").annotate(n=Count("id")).order_by("-n", "policy_name")
    return CompactionTotals(origins, states, list(named[:MOST_POLICIES]))


def compaction_entry(workspace_id: int, run: UUID) -> CompactionEntry | None:
    """The row of one that was made here; None when the workspace has no such one."""
    jobs = _jobs(workspace_id, CompactionFilters()).filter(run__uid=run)
    return next(iter(entries(_values(jobs, 1))), None)


def _jobs(workspace_id: int, filters: CompactionFilters) -> QuerySet[CompactionJob]:
    """Those made here that the filters let through."""
    rows = _mine(CompactionJob.objects.all(), "run__workspace_id", workspace_id).filter(_of_session(filters))
    if filters.origin:
        rows = rows.filter(trigger=TRIGGERS[filters.origin]) if filters.origin in TRIGGERS else rows.none()
    if filters.state:
        rows = rows.filter(run__state=filters.state)
    return rows.filter(policy_name=filters.policy) if filters.policy else rows


def _logs(workspace_id: int, filters: CompactionFilters) -> QuerySet[CompactionRecord]:
    """Those of logs that the filters let through. They have no policy, and are done."""
    rows = CompactionRecord.objects.filter(micro=False, revision=F("session__revision"))
    rows = _mine(rows, "session__workspace_id", workspace_id)
    others = filters.origin not in ("", LOG) or filters.state not in ("", RunState.DONE) or filters.policy
    return rows.none() if others else rows.filter(_of_session(filters))


def _mine(rows: QuerySet[M], column: str, workspace_id: int) -> QuerySet[M]:
    """Those of the workspace. SQLite keeps no statistics: it would read all of them by the column's index and sort,
    where walking the index of times ends after a page. The sum keeps it from that (it holds one workspace)."""
    if connections[rows.db].vendor != "sqlite":
        return rows.filter(**{column: workspace_id})
    found: QuerySet[Any] = rows.alias(tenant=F(column) + 0).filter(tenant=workspace_id)
    return found


def _of_session(filters: CompactionFilters) -> Q:
    condition = Q(session__uid=filters.session) if filters.session else Q()
    for word in filters.q.split()[:WORDS_LIMIT]:
        anywhere = Q()
        for name in NAMED:
            anywhere |= Q(**{f"session__{name}__icontains": word})
        condition &= anywhere
    return condition


def _beside(
    rows: QuerySet[Any], column: str | None, made_here: int, cursor: Cursor | None, size: int
) -> list[dict[str, Any]]:
    """Of one part the rows that may stand on the page: those on the cursor's side, nearest to it first."""
    sign = "-" if cursor is None or cursor.forward else ""
    order = [f"{sign}{name}" for name in (column, "id") if name]
    if cursor:
        rows = rows.filter(_beyond(column, made_here, cursor))
    return _values(rows.order_by(*order)[: size + 1], made_here)


def _values(rows: QuerySet[Any], made_here: int) -> list[dict[str, Any]]:
    return [{**row, "made_here": made_here} for row in rows.values(*COLUMNS[made_here])]


def _beyond(column: str | None, made_here: int, cursor: Cursor) -> Q:
    at, cursors_part, last = cursor.values
    way = "lt" if cursor.forward else "gt"
    timed, all_of_it = at != NO_TIME, Q()
    if column is None:
        nearer = NOTHING if not cursor.forward else all_of_it
        return nearer if timed else Q(**{f"id__{way}": last})
    if not timed:
        return NOTHING if cursor.forward else all_of_it
    beyond = Q(**{f"{column}__{way}": at})
    if made_here == cursors_part:
        beyond |= Q(**{column: at, f"id__{way}": last})
    elif (made_here < cursors_part) == cursor.forward:
        beyond |= Q(**{column: at})
    # The bound lets the index find the place: an OR alone is read from the start.
    return Q(**{f"{column}__{way}e": at}) & beyond


def _place(row: dict[str, Any]) -> tuple[datetime, int, int]:
    at = row["asked_at"] if row["made_here"] else row["ts"]
    return at or NO_TIME, row["made_here"], row["id"]
