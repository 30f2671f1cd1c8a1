"""Observations as pages and the API show them: filtered and paged, a session's, and what they cost and save."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from contextlab.core.memory_keeping.observations import SUMMARY_FIELDS
from contextlab.queries.keyset import Key, decode, encode, ordered
from contextlab.queries.memory_costs import Costs, costs
from contextlab.store.models import (
    WHOLE_SESSION,
    ObservationBatch,
    ObservationRecord,
    ObservationTag,
    Session,
    SessionSummaryRecord,
)

PAGE = 40
KEYS = (Key("id", int, descending=True),)
ORDER = "newest"
LONGEST = 200
MOST_WORDS = 8
MOST_CHOICES = 30
QUIET = timedelta(minutes=30)
"""A session whose log has been silent for so long counts as ended: a summary is due."""
COLUMNS = (
    "id", "uid", "type", "title", "subtitle", "narrative", "facts", "concepts", "files_read", "files_modified",
    "turn", "items", "read_tokens", "happened_at", "content_hash", "batch__method", "batch__fate", "session__uid",
    "session__title", "session__project",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class MemoryFilters:
    """What narrows the list; empty text: not narrowed."""

    words: str = ""
    type: str = ""
    file: str = ""
    concept: str = ""
    project: str = ""
    session: str = ""
    """Uid (hex)."""
    cursor: str = ""

    @property
    def narrowed(self) -> bool:
        """Whether anything is left out."""
        return replace(self, cursor="") != MemoryFilters()


@dataclass(frozen=True, slots=True)
class ObservationLine:
    """One observation with the turn that it is from."""

    uid: UUID
    type: str
    title: str | None
    subtitle: str | None
    narrative: str | None
    facts: Sequence[str]
    concepts: Sequence[str]
    files_read: Sequence[str]
    files_modified: Sequence[str]
    turn: int
    items: Sequence[str]
    read_tokens: int
    """Estimated."""
    happened_at: datetime | None
    content_hash: str
    method: str
    session: UUID
    session_title: str
    project: str


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """One page of the list."""

    lines: Sequence[ObservationLine]
    matching: int
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class Choices:
    """Values to narrow by, each with the number of observations."""

    types: Sequence[tuple[str, int]]
    concepts: Sequence[tuple[str, int]]
    projects: Sequence[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class SummaryLine:
    """What a session came to."""

    method: str
    fields: Sequence[tuple[str, str]]
    made_at: datetime


@dataclass(frozen=True, slots=True)
class SessionMemories:
    """A session's memories: its observations by turn, its summaries, and what is missing."""

    lines: Sequence[ObservationLine]
    more: int
    """Observations beyond those shown."""
    summaries: Sequence[SummaryLine]
    summary_due: bool
    """The session is over, was read, and has no summary that was not skipped."""
    skipped: str
    """Why there is none, where that was decided."""
    turns_read: int
    turns: int
    costs: Costs
    by_turn: dict[int, int] = field(default_factory=dict)


def memory_page(workspace: int, filters: MemoryFilters, size: int = PAGE) -> MemoryPage:
    """A page of observations, newest first; an unknown cursor gives the first."""
    rows = narrowed(workspace, filters)
    cursor = decode(filters.cursor, ORDER, KEYS)
    found = list(ordered(rows, KEYS, cursor).values(*COLUMNS)[: size + 1])
    more, found = len(found) > size, found[:size]
    forward = cursor is None or cursor.forward
    if not forward:
        found.reverse()
    has_before, has_after = (cursor is not None, more) if forward else (more, True)
    return MemoryPage(
        [line_of(row) for row in found],
        rows.count(),
        encode(ORDER, [found[0]["id"]], 0, False) if found and has_before else "",
        encode(ORDER, [found[-1]["id"]], 0) if found and has_after else "",
    )


def narrowed(workspace: int, filters: MemoryFilters) -> QuerySet[ObservationRecord]:
    """The observations that the filters leave."""
    rows = ObservationRecord.objects.filter(workspace_id=workspace)
    if filters.type:
        rows = rows.filter(type=filters.type)
    if filters.project:
        rows = rows.filter(session__project=filters.project)
    if filters.session:
        rows = rows.filter(session__uid=filters.session)
    for word in filters.words[:LONGEST].casefold().split()[:MOST_WORDS]:
        rows = rows.filter(words__contains=word)
    if filters.concept:
        rows = rows.filter(_tagged(ObservationTag.Kind.CONCEPT, Q(value=filters.concept)))
    if filters.file:
        path = Q(value=filters.file) | Q(value__endswith=f"/{filters.file.lstrip('/')}")
        rows = rows.filter(
            _tagged(ObservationTag.Kind.FILE, path | Q(value__startswith=f"{filters.file.rstrip('/')}/"))
        )
    return rows


def observation(workspace: int, uid: UUID) -> ObservationLine | None:
    """One observation; None for those of others."""
    row = ObservationRecord.objects.filter(workspace_id=workspace, uid=uid).values(*COLUMNS).first()
    return None if row is None else line_of(row)


def choices(workspace: int) -> Choices:
    """What the list can be narrowed to, the most frequent first."""
    rows = ObservationRecord.objects.filter(workspace_id=workspace).order_by()
    tags = ObservationTag.objects.filter(
        observation__workspace_id=workspace, kind=ObservationTag.Kind.CONCEPT
    )
    return Choices(
        _counted(rows, "type"), _counted(tags.order_by(), "value"), _counted(rows, "session__project")
    )


def session_memories(session: Session, shown: int = PAGE) -> SessionMemories:
    """A session's memories."""
    rows = ObservationRecord.objects.filter(session=session).order_by("turn", "id")
    lines = [line_of(row) for row in rows.values(*COLUMNS)[:shown]]
    counts = dict(rows.order_by().values_list("turn").annotate(n=Count("id")).values_list("turn", "n"))
    summaries = [_summary(row) for row in _summaries(session)]
    batches = ObservationBatch.objects.filter(session=session)
    whole = batches.filter(turn=WHOLE_SESSION).order_by("-made_at").first()
    read = batches.exclude(turn=WHOLE_SESSION).values("turn").distinct().count()
    skipped = whole.skip_reason if whole is not None and whole.fate == ObservationBatch.Fate.SKIPPED else ""
    over = session.last_at is None or session.last_at < timezone.now() - QUIET
    due = bool(session.turns) and over and not summaries and not skipped
    total = sum(counts.values())
    return SessionMemories(
        lines, total - len(lines), summaries, due, skipped, read, session.turns, costs(batches), counts
    )


def observed_turns(session: Session, turns: Sequence[int]) -> dict[int, int]:
    """How many observations each of these turns brought, those that brought none left out."""
    rows = ObservationRecord.objects.filter(session=session, turn__in=list(turns)).order_by()
    return dict(rows.values_list("turn").annotate(n=Count("id")).values_list("turn", "n"))


def turn_observations(session: Session, turn: int) -> list[ObservationLine]:
    """The observations of one turn."""
    rows = ObservationRecord.objects.filter(session=session, turn=turn).order_by("id")
    return [line_of(row) for row in rows.values(*COLUMNS)[:PAGE]]


def line_of(row: dict[str, Any]) -> ObservationLine:
    """A row's values as a line."""
    return ObservationLine(
        row["uid"], row["type"], row["title"], row["subtitle"], row["narrative"], row["facts"], row["concepts"],
        row["files_read"], row["files_modified"], row["turn"], row["items"], row["read_tokens"],
        row["happened_at"], row["content_hash"], row["batch__method"], row["session__uid"],
        row["session__title"], row["session__project"],
    )  # fmt: skip


def _tagged(kind: str, values: Q) -> Exists:
    return Exists(ObservationTag.objects.filter(values, observation=OuterRef("pk"), kind=kind))


def _path(wanted: str) -> Q:
    """A file by its whole path or the end of it, or all files of a folder."""
    name = wanted.strip("/")
    folder = Q(value__startswith=f"{wanted.rstrip('/')}/") | Q(value__contains=f"/{name}/")
    return Q(value=wanted) | Q(value__endswith=f"/{name}") | folder


def _counted(rows: QuerySet[Any], column: str) -> list[tuple[str, int]]:
    found = rows.values_list(column).annotate(n=Count("id")).order_by("-n", column)[:MOST_CHOICES]
    return [(value, number) for value, number in found if value]


def _summaries(session: Session) -> QuerySet[SessionSummaryRecord]:
    rows = SessionSummaryRecord.objects.filter(session=session).select_related("batch")
    return rows.order_by("batch__method", "-id")


def _summary(row: SessionSummaryRecord) -> SummaryLine:
    said = [(name, getattr(row, name)) for name in SUMMARY_FIELDS]
    return SummaryLine(row.batch.method, [(name, text) for name, text in said if text], row.made_at)
