"""User memories as pages and the API show them: of one user, with their history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, Q

from contextlab.store.models import UserMemoryRecord, UserMemoryVersion

MOST = 200
MOST_VERSIONS = 50


@dataclass(frozen=True, slots=True)
class MemoryVersionLine:
    """What happened to a memory once."""

    version: int
    event: str
    text: str
    topics: Sequence[str]
    happened_at: datetime


@dataclass(frozen=True, slots=True)
class UserMemoryLine:
    """One memory of a user."""

    uid: UUID
    user: str
    memory: str
    topics: Sequence[str]
    agent: str
    team: str
    input: str | None
    state: str
    """stands, deleted, or replaced."""
    replaced_by: UUID | None
    version: int
    created_at: datetime
    updated_at: datetime
    versions: Sequence[MemoryVersionLine] = ()


def users(workspace: int) -> list[tuple[str, int]]:
    """Users with the number of memories that stand."""
    rows = UserMemoryRecord.objects.filter(workspace_id=workspace)
    standing = Q(deleted_at=None, replaced_by=None)
    found = rows.values_list("user_id").annotate(n=Count("id", filter=standing)).order_by("user_id")
    return list(found[:MOST])


def user_memories(workspace: int, user: str, all_states: bool = False) -> list[UserMemoryLine]:
    """A user's memories, newest first; with `all_states` those that do not stand any more too."""
    rows = UserMemoryRecord.objects.filter(workspace_id=workspace, user_id=user)
    if not all_states:
        rows = rows.filter(deleted_at=None, replaced_by=None)
    return [_line(row) for row in rows.select_related("replaced_by").order_by("-id")[:MOST]]


def user_memory(workspace: int, uid: UUID) -> UserMemoryLine | None:
    """One memory with its history, newest first; None for those of others."""
    rows = UserMemoryRecord.objects.filter(workspace_id=workspace, uid=uid)
    row = rows.select_related("replaced_by").first()
    if row is None:
        return None
    versions = UserMemoryVersion.objects.filter(memory=row).order_by("-version")[:MOST_VERSIONS]
    return _line(row, [_version(one) for one in versions])


def _line(row: UserMemoryRecord, versions: Sequence[MemoryVersionLine] = ()) -> UserMemoryLine:
    state = "deleted" if row.deleted_at else "replaced" if row.replaced_by else "stands"
    return UserMemoryLine(
        row.uid, row.user_id, row.memory, row.topics or (), row.agent_id, row.team_id, row.input, state,
        row.replaced_by.uid if row.replaced_by else None, row.version, row.created_at, row.updated_at, versions,
    )  # fmt: skip


def _version(row: UserMemoryVersion) -> MemoryVersionLine:
    return MemoryVersionLine(row.version, row.event, row.text, row.topics or (), row.happened_at)
