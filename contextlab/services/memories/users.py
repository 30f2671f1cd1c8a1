"""User memories by hand and by a model: add, edit, take away, make one of many, undo, remember what was said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from django.db import transaction
from django.utils import timezone

from contextlab.core.items import KIND_CODE, Kind
from contextlab.core.language_model import ModelError
from contextlab.core.memory_keeping.manager import MemoryManager, said_by_user
from contextlab.core.memory_keeping.user_memories import DEFAULT_USER, LONGEST, UserMemory
from contextlab.services import runs
from contextlab.services.compaction.models import model_status, open_model
from contextlab.services.memories.asking import ALLOW_FIRST, BadRequest
from contextlab.services.memories.settings import settings_of, switches_of
from contextlab.services.runs import Refused, TryAgain
from contextlab.services.work import Outcome, Work
from contextlab.store.items import load_items, session_items
from contextlab.store.models import (
    Run,
    RunState,
    Session,
    UserMemoryRecord,
    UserMemoryVersion,
    Workspace,
)
from contextlab.store.user_memories import DjangoUserMemories, change

MOST_SAID = 200_000
MOST_TOPICS = 20
MOST_PROMPTS = 200
LONGEST_NAME = 200
Event = UserMemoryVersion.Event


def manager_of(workspace: Workspace, model: Any = None) -> MemoryManager:
    """The manager of a workspace, with its switches and instructions."""
    found = settings_of(workspace)
    return MemoryManager(
        DjangoUserMemories(workspace),
        model,
        switches_of(workspace),
        capture_instructions=found.capture_instructions or None,
        additional_instructions=found.additional_instructions or None,
        new_id=lambda _: str(uuid4()),
        now=lambda: timezone.now().isoformat(),
    )


def add(workspace: Workspace, user_id: str, text: str, topics: Sequence[str] = ()) -> UserMemory:
    """Add one by hand; raises BadRequest."""
    made = UserMemory(str(uuid4()), _checked(text), _owner(user_id), tuple(_topics(topics)) or None, None)
    DjangoUserMemories(workspace).add(made)
    return made


def edit(row: UserMemoryRecord, text: str, topics: Sequence[str] | None = None) -> None:
    """Replace a memory's text; the earlier one stays in its history. Raises BadRequest."""
    values: dict[str, Any] = {"memory": _checked(text), "updated_at": timezone.now()}
    if topics is not None:
        values["topics"] = _topics(topics)
    if not change(row, Event.UPDATED, **values):
        raise BadRequest("memory", "Somebody changed this memory meanwhile; look at it again.")


def delete(row: UserMemoryRecord) -> None:
    """Take a memory away; undo brings it back."""
    if not change(row, Event.DELETED, deleted_at=timezone.now()):
        raise BadRequest("memory", "Somebody changed this memory meanwhile; look at it again.")


def merge(workspace: Workspace, user_id: str, memory_ids: Sequence[str]) -> UserMemory:
    """Make one of the chosen memories without a model: texts joined, topics united; undo brings them back."""
    store, owner = DjangoUserMemories(workspace), _owner(user_id)
    chosen = [memory for memory in store.of(owner) if memory.id in set(memory_ids)]
    if len(chosen) < 2:
        raise BadRequest("memories", "Choose at least two memories of this user.")
    topics = list(dict.fromkeys(topic for memory in chosen for topic in memory.topics or ()))
    text = _checked(" ".join(memory.memory.strip() for memory in chosen))
    made = UserMemory(str(uuid4()), text, owner, tuple(topics) or None)
    store.replace(owner, [memory.id for memory in chosen], [made])
    return made


def undo(row: UserMemoryRecord) -> None:
    """Take the last thing back that happened to a memory; what is undone stays in the history."""
    last = row.versions.order_by("-version").first()
    if last is None or last.event == Event.ADDED:
        raise BadRequest("memory", "Nothing has happened to this memory that could be undone.")
    with transaction.atomic():
        if last.event == Event.MERGED:
            for old in row.replaces.all():
                change(old, Event.RESTORED, replaced_by=None)
            change(row, Event.DELETED, deleted_at=timezone.now())
        elif last.event == Event.REPLACED:
            change(row, Event.RESTORED, replaced_by=None)
        elif last.event == Event.DELETED:
            change(row, Event.RESTORED, deleted_at=None)
        else:
            earlier = row.versions.filter(version=last.version - 1).first()
            if earlier is not None:
                change(row, Event.RESTORED, memory=earlier.text, topics=earlier.topics)


def request_optimising(workspace: Workspace, user_id: str, confirm: bool) -> tuple[Run, bool]:
    """The run that makes a user's memories into one; raises BadRequest."""
    return _request(workspace, user_id, {"do": "optimise"}, confirm)


def request_remembering(workspace: Workspace, user_id: str, said: str, confirm: bool) -> tuple[Run, bool]:
    """The run in which the model keeps what was said; raises BadRequest."""
    if not said.strip() or len(said) > MOST_SAID:
        raise BadRequest("said", f"What was said must be a text of at most {MOST_SAID:,} characters.")
    return _request(workspace, user_id, {"do": "remember", "said": said.replace("\0", "")}, confirm)


def request_remembering_session(session: Session, user_id: str, confirm: bool) -> tuple[Run, bool]:
    """The run in which the model keeps what the user said in a session, its newest words; raises BadRequest."""
    rows = session_items(session).filter(kind=KIND_CODE[Kind.USER], injected="")
    talk, size = [], 0
    newest = list(rows.order_by("-position").values_list("position", flat=True)[:MOST_PROMPTS])
    for _, item in reversed(load_items(session, rows.filter(position__in=newest))):
        text = item.text.strip()[:LONGEST]
        size += len(text)
        if size > MOST_SAID:
            break
        talk.append(("user", text))
    return request_remembering(session.workspace, user_id, said_by_user(talk[::-1])[:MOST_SAID], confirm)


def perform(work: Work) -> Outcome:
    """Do the run."""
    workspace, params = work.run.workspace, work.run.params
    if not settings_of(workspace).allow_model:
        raise Refused(ALLOW_FIRST)
    try:
        manager = manager_of(workspace, open_model())
        work.check_in(0, 1, "asking the model")
        if params.get("do") == "optimise":
            return _optimised(work, manager, str(params["user_id"]))
        keep = manager.asked(str(params["user_id"]), str(params["said"]))
    except ModelError as error:
        raise (TryAgain(str(error), error.retry_after) if error.retryable else Refused(str(error))) from error
    with transaction.atomic():
        work.still_ours("writing")
        if not (answers := keep()):
            return Outcome(RunState.NOOP, {"answers": []})
        # Kept and ended as one: a worker that dies behind it would have it kept a second time.
        work.end({"answers": answers})
    return Outcome(result={"answers": answers})


def _optimised(work: Work, manager: MemoryManager, user_id: str) -> Outcome:
    """Asked outside of any transaction; written only while the run is still ours."""
    store = manager.store
    stored = store.of(user_id)
    made = manager.optimise(user_id, apply=False)
    if len(stored) < 2:
        return Outcome(RunState.NOOP, {"memories": len(stored)})
    with transaction.atomic():
        work.still_ours("writing")
        store.replace(user_id, [memory.id for memory in stored], made)
        result = {"before": len(stored), "after": len(made)}
        work.end(result)
    return Outcome(result=result)


def _request(workspace: Workspace, user_id: str, params: dict[str, Any], confirm: bool) -> tuple[Run, bool]:
    owner = _owner(user_id)
    status = model_status()
    if not status.allowed:
        raise BadRequest("model", status.reason)
    if not settings_of(workspace).allow_model:
        raise BadRequest("model", ALLOW_FIRST)
    if not confirm:
        raise BadRequest("confirm", "A model would be asked: look at tokens and cost, then confirm.")
    key = f"remember:{workspace.pk}:{params['do']}:{uuid4().hex if 'said' in params else owner[:60]}"
    return runs.request(
        workspace, Run.Kind.REMEMBER, key, params={**params, "user_id": owner}, total=1, unit="requests"
    )


def _owner(user_id: str) -> str:
    owner = user_id.strip() or DEFAULT_USER
    if len(owner) > LONGEST_NAME or "\0" in owner:
        raise BadRequest("user", f"A user's name may have {LONGEST_NAME} characters.")
    return owner


def _checked(text: str) -> str:
    trimmed = text.replace("\0", "").strip()
    if not trimmed:
        raise BadRequest("memory", "The memory is empty.")
    if len(trimmed) > LONGEST:
        raise BadRequest(
            "memory", f"A memory may have {LONGEST:,} characters, this one has {len(trimmed):,}."
        )
    return trimmed


def _topics(topics: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(one for topic in topics if (one := topic.strip()[:LONGEST_NAME])))[:MOST_TOPICS]
