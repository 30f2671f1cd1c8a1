"""Which sessions a list shows and in what order: the part of its address that narrows it, as one value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, F, FloatField, OuterRef, Q, QuerySet
from django.db.models.functions import Cast, Coalesce

from contextlab.queries.keyset import Key
from contextlab.store.models import Session, TurnRecord

WORDS_LIMIT = 8
"""Words of a search that are looked for; each costs a read of all prompts."""
QUERY_LIMIT = 200
"""Characters."""
NEARLY_FULL = 80.0
"""Per cent of the window from which on a session counts as nearly full."""

FLAGS: dict[str, tuple[str, Q]] = {
    "compacted": ("has compaction", Q(compactions__gt=0) | Q(micro_compactions__gt=0)),
    "full": (f"over {NEARLY_FULL:.0f} % full", Q(fill_percent__gt=NEARLY_FULL)),
    "over": ("over the limit", Q(fill_percent__gt=100)),
    "findings": ("changed outside the log", Q(findings__gt=0)),
    "empty": ("empty log", Q(steps=0)),
    "only-copy": ("only copy", Q(file__missing_since__isnull=False)),
}
"""Filters that are on or off: name in addresses -> words, condition."""


@dataclass(frozen=True, slots=True)
class Sort:
    """An order: its words, and the column it goes by."""

    label: str
    key: Key
    column: Callable[[], F | Coalesce | Cast]


def _number(name: str) -> Callable[[], Coalesce]:
    """Unknown sorts as less than anything known."""
    return lambda: Coalesce(Cast(name, FloatField()), -1.0)


SORTS: dict[str, Sort] = {
    "newest": Sort("newest first", Key("by", datetime, descending=True), lambda: F("sort_at")),
    "oldest": Sort("oldest first", Key("by", datetime), lambda: F("sort_at")),
    "fullest": Sort("fullest first", Key("by", float, descending=True), _number("fill_percent")),
    "peak": Sort("largest peak first", Key("by", float, descending=True), _number("peak_tokens")),
    "turns": Sort("most turns first", Key("by", float, descending=True), _number("turns")),
    "steps": Sort("most steps first", Key("by", float, descending=True), _number("steps")),
    "compactions": Sort("most compactions first", Key("by", float, descending=True), _number("compactions")),
    "title": Sort("by title", Key("by", str), lambda: F("title")),
}
DEFAULT_SORT = "newest"


@dataclass(frozen=True, slots=True)
class Filters:
    """What the list is narrowed to. Values that no session has give an empty list, never an error."""

    q: str = ""
    format: str = ""
    model: str = ""
    project: str | None = None
    branch: str | None = None
    flags: frozenset[str] = frozenset()
    sort: str = DEFAULT_SORT
    grouped: bool = False
    """By project and branch."""
    cursor: str = ""

    @property
    def active(self) -> bool:
        """Whether anything is narrowed (an order narrows nothing)."""
        return bool(self.q or self.format or self.model or self.flags or self.project is not None)

    @property
    def order(self) -> str:
        """A name for the order, which cursors carry."""
        return f"{self.sort}+" if self.grouped else self.sort

    @property
    def keys(self) -> tuple[Key, ...]:
        """The columns that `narrow` orders by."""
        groups = (Key("project", str), Key("branch", str)) if self.grouped else ()
        return (*groups, SORTS[self.sort].key, Key("id", int, descending=True))


def listed(workspace: int) -> QuerySet[Session]:
    """Sessions that are rows of their own: all but subagents and summarisers whose parent is here."""
    return Session.objects.filter(Q(role="") | Q(parent__isnull=True), workspace_id=workspace)


def narrow(workspace: int, filters: Filters) -> QuerySet[Session]:
    """The listed sessions that the filters let through, with the column `by` to sort by."""
    rows = listed(workspace)
    exact = {"format": filters.format, "model": filters.model}
    rows = rows.filter(**{name: value for name, value in exact.items() if value})
    if filters.project is not None:
        rows = rows.filter(project=filters.project)
    if filters.branch is not None:
        rows = rows.filter(branch=filters.branch)
    for flag in sorted(filters.flags):
        rows = rows.filter(FLAGS[flag][1])
    for word in filters.q[:QUERY_LIMIT].split()[:WORDS_LIMIT]:
        rows = rows.filter(_matches(word))
    return rows.annotate(by=SORTS[filters.sort].column())


def _matches(word: str) -> Q | Exists:
    prompts = TurnRecord.objects.filter(
        session_id=OuterRef("pk"), revision=OuterRef("revision"), title__icontains=word
    )
    names = ("title", "project", "branch", "model", "native_id")
    condition = Q(Exists(prompts))
    for name in names:
        condition |= Q(**{f"{name}__icontains": word})
    return condition
