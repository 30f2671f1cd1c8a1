"""The store of user memories in the database: every query names workspace and owner, every change is a version."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from contextlab.core.memory_keeping.user_memories import UserMemory
from contextlab.store.bulk import clean_text
from contextlab.store.models import UserMemoryRecord, UserMemoryVersion, Workspace

LONGEST_NAME = 200
Event = UserMemoryVersion.Event


class DjangoUserMemories:
    """The memories of one workspace's users."""

    def __init__(self, workspace: Workspace) -> None:
        """Nothing of another workspace is ever seen."""
        self._workspace = workspace

    def rows(self, user_id: str) -> QuerySet[UserMemoryRecord]:
        """The rows of a user, those that do not stand any more too."""
        return UserMemoryRecord.objects.filter(workspace=self._workspace, user_id=user_id)

    def standing(self, user_id: str) -> QuerySet[UserMemoryRecord]:
        """The rows that stand, oldest first."""
        return self.rows(user_id).filter(deleted_at=None, replaced_by=None).order_by("id")

    def of(self, user_id: str) -> list[UserMemory]:
        """The memories of a user that stand, oldest first."""
        return [memory_of(row) for row in self.standing(user_id)]

    def add(self, memory: UserMemory) -> None:
        """Store a new one."""
        with transaction.atomic():
            self._add(memory, Event.ADDED)

    def update(self, memory: UserMemory) -> bool:
        """Replace text and topics of the one with its id and owner; False where there is none."""
        row = self._row(memory.user_id or "", memory.id)
        if row is None:
            return False
        changes = {
            "memory": clean_text(memory.memory),
            "topics": _topics(memory),
            "agent_id": clean_text(memory.agent_id or "", LONGEST_NAME),
            "team_id": clean_text(memory.team_id or "", LONGEST_NAME),
            "updated_at": timezone.now(),
        }
        return change(row, Event.UPDATED, **changes)

    def delete(self, user_id: str, memory_id: str) -> bool:
        """Take one away; False where this user has none of that id."""
        row = self._row(user_id, memory_id)
        return row is not None and change(row, Event.DELETED, deleted_at=timezone.now())

    def clear(self, user_id: str) -> int:
        """Take all of a user away, in one transaction; how many there were."""
        with transaction.atomic():
            rows = list(self.standing(user_id))
            return sum(change(row, Event.DELETED, deleted_at=timezone.now()) for row in rows)

    def replace(self, user_id: str, memory_ids: Sequence[str], new: Sequence[UserMemory]) -> None:
        """The new ones instead of those, new rows first, all or nothing."""
        with transaction.atomic():
            made = [self._add(memory, Event.MERGED) for memory in new if memory.user_id == user_id]
            for row in self.standing(user_id).filter(uid__in=[UUID(name) for name in memory_ids]):
                if made:
                    change(row, Event.REPLACED, replaced_by=made[0])
                else:
                    change(row, Event.DELETED, deleted_at=timezone.now())

    def _row(self, user_id: str, memory_id: str) -> UserMemoryRecord | None:
        try:
            uid = UUID(memory_id)
        except ValueError:
            return None
        return self.standing(user_id).filter(uid=uid).first()

    def _add(self, memory: UserMemory, event: str) -> UserMemoryRecord:
        now = timezone.now()
        row = UserMemoryRecord.objects.create(
            uid=UUID(memory.id),
            workspace=self._workspace,
            user_id=clean_text(memory.user_id or "", LONGEST_NAME),
            agent_id=clean_text(memory.agent_id or "", LONGEST_NAME),
            team_id=clean_text(memory.team_id or "", LONGEST_NAME),
            memory=clean_text(memory.memory),
            topics=_topics(memory),
            input=None if memory.input is None else clean_text(memory.input),
            created_at=now,
            updated_at=now,
        )
        _note(row, event)
        return row


def change(row: UserMemoryRecord, event: str, **values: object) -> bool:
    """Change a row and note it as a version; False where somebody else changed it at the same moment."""
    with transaction.atomic():
        same = UserMemoryRecord.objects.filter(pk=row.pk, version=row.version)
        if not same.update(version=F("version") + 1, **values):
            return False
        row.refresh_from_db()
        _note(row, event)
    return True


def memory_of(row: UserMemoryRecord) -> UserMemory:
    """The core's memory of a row."""
    return UserMemory(
        str(row.uid), row.memory, row.user_id, None if row.topics is None else tuple(row.topics), row.input,
        row.agent_id or None, row.team_id or None, row.created_at.isoformat(), row.updated_at.isoformat(),
    )  # fmt: skip


def _topics(memory: UserMemory) -> list[str] | None:
    return None if memory.topics is None else [clean_text(topic, LONGEST_NAME) for topic in memory.topics]


def _note(row: UserMemoryRecord, event: str) -> None:
    UserMemoryVersion.objects.create(
        memory=row, version=row.version, event=event, text=row.memory, topics=row.topics
    )
