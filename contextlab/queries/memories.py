"""Observations as pages and the API show them: filtered and paged, a session's, and what they cost and save."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import Coalesce, TruncDate
from django.utils import timezone

from contextlab.core.memory_keeping.economics import Economics
from contextlab.core.memory_keeping.observations import SUMMARY_FIELDS
from contextlab.queries.keyset import Key, decode, encode, ordered
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
MOST_DAYS = 60
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
class Costs:
    """What observations of a session, a project or all took and save."""

    observations: int
    batches: int
    figures: Economics
    unreported: int
    """Batches whose provider reported no usage: their cost is not in the figures."""
    cost: Decimal | None
    """US dollars of batches with a known price; None where none has one."""
    raw_source: str
    """counted, or estimated where any of it is."""
    discarded: Sequence[tuple[str, int]] = ()
    """Answers that were discarded or put back, by class."""
    previews: Sequence[str] = ()
    days: Sequence[tuple[date, int, int, int]] = ()
    """(day, discovery, read, raw) summed up to that day, in tokens."""


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


def workspace_costs(workspace: int, project: str = "", session: str = "") -> Costs:
    """What the observations of a project (or all) took and save, over time."""
    batches = ObservationBatch.objects.filter(session__workspace_id=workspace)
    if project:
        batches = batches.filter(session__project=project)
    if session:
        batches = batches.filter(session__uid=session)
    return costs(batches, over_time=True)


def costs(batches: QuerySet[ObservationBatch], over_time: bool = False) -> Costs:
    """The figures of these batches; each batch's cost counts once, however many observations it brought."""
    turns = batches.exclude(turn=WHOLE_SESSION)
    read = batches.aggregate(read=Sum("observations__read_tokens"), made=Count("observations"))
    stood = turns.filter(Exists(ObservationRecord.objects.filter(batch=OuterRef("pk"))))
    raw = stood.aggregate(raw=Sum("raw_tokens"))["raw"]
    sums = batches.aggregate(
        paid=Sum("discovery_tokens"), cost=Sum("cost"), n=Count("id"),
        unreported=Count("id", filter=Q(discovery_tokens=None) & ~Q(fate=ObservationBatch.Fate.PENDING)),
    )  # fmt: skip
    gone = batches.filter(fate__in=(ObservationBatch.Fate.DISCARDED, ObservationBatch.Fate.PENDING))
    classes = gone.values_list("fate", "answer_class").annotate(n=Count("id")).order_by("-n")
    return Costs(
        read["made"],
        sums["n"],
        Economics(sums["paid"] or 0, read["read"] or 0, raw),
        sums["unreported"],
        sums["cost"],
        "estimated" if stood.exclude(raw_source="counted").exists() else "counted",
        [(f"{fate}: {name or 'unknown'}", number) for fate, name, number in classes],
        list(gone.exclude(preview="").order_by("-made_at").values_list("preview", flat=True)[:5]),
        _days(batches) if over_time else (),
    )


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


def _days(batches: QuerySet[ObservationBatch]) -> list[tuple[date, int, int, int]]:
    """Sums up to each day on which anything was written, the newest MOST_DAYS of them."""
    by_day = batches.annotate(day=TruncDate("made_at")).order_by("day").values("day")
    paid = by_day.annotate(
        paid=Coalesce(Sum("discovery_tokens"), 0),
        raw=Coalesce(Sum("raw_tokens", filter=~Q(turn=WHOLE_SESSION)), 0),
    )
    read = dict(
        ObservationRecord.objects.filter(batch__in=batches)
        .annotate(day=TruncDate("batch__made_at"))
        .order_by()
        .values_list("day")
        .annotate(n=Sum(F("read_tokens")))
        .values_list("day", "n")
    )
    days: list[tuple[date, int, int, int]] = []
    sums = [0, 0, 0]
    for row in paid:
        sums[0] += row["paid"]
        sums[1] += read.get(row["day"], 0)
        sums[2] += row["raw"]
        days.append((row["day"], sums[0], sums[1], sums[2]))
    return days[-MOST_DAYS:]
