"""Memories of branches: back to an earlier one, the one to go on with, and what an agent takes with it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from contextlab.core.committing.compacting import exported
from contextlab.core.committing.transfer import as_markdown
from contextlab.core.protocol import FORMATS as WIRES
from contextlab.core.protocol import SEALED, export
from contextlab.queries.compaction import branch_of
from contextlab.queries.seals import seal
from contextlab.services.compaction.committing import add_version
from contextlab.services.compaction.memory import Held, read_branch, read_memory
from contextlab.services.compaction.planning import open_base
from contextlab.services.compaction.requests import BadRequest
from contextlab.store.models import MemoryVersion, OffloadRecord, Session, View

FORMATS = {
    name: label for name, label in WIRES.items() if name in ("openai_chat", "openai_responses", "anthropic")
} | {"markdown": "Markdown hand-over", "json": "JSON"}
"""Formats of an export by name, with their labels."""
TRIES = 50
_RESUMES = {"claude-code": "claude --resume {}", "codex": "codex resume {}"}


@dataclass(frozen=True, slots=True)
class Exported:
    """A memory to go on with, in a format: an object, or a text (Markdown)."""

    format: str
    document: Any
    repairs: Sequence[str]

    @property
    def text(self) -> str:
        """The document as text."""
        return (
            self.document
            if isinstance(self.document, str)
            else json.dumps(self.document, ensure_ascii=False, indent=2)
        )


def restore(view: View, version: int) -> MemoryVersion:
    """An earlier memory of a branch in force again, as a new version; raises BadRequest. Nothing is deleted."""
    _must_be_branch(view)
    for _ in range(TRIES):
        try:
            with transaction.atomic():
                View.objects.select_for_update().get(pk=view.pk)
                wanted, now = read_branch(view, version), read_branch(view)
                if now.version is None:
                    raise BadRequest("version", "There is no such version of this memory.")
                origin = wanted.version and (wanted.version.restored or wanted.version)
                return add_version(
                    view, now.version, wanted, wanted.snapshot, MemoryVersion.Origin.RESTORE, restored=origin
                )
        except IntegrityError:
            continue
    raise BadRequest("version", "Others are changing this memory all the time; try again.")


def promote(view: View) -> None:
    """Make a branch's memory the one of its session to go on with; raises BadRequest."""
    _must_be_branch(view)
    with transaction.atomic():
        view.session.views.exclude(promoted_at=None).update(promoted_at=None)
        View.objects.filter(pk=view.pk).update(promoted_at=timezone.now())


def memory_of(session: Session, name: str = "", version: int | None = None) -> Held:
    """The memory of a view by name; without one of the promoted branch, else of the newest, else as recorded."""
    if name:
        view = open_base(session, name)
        return (
            read_branch(view, version) if view.kind == View.Kind.BRANCH else read_memory(session, view, None)
        )
    branch = branch_of(session)
    return (
        read_branch(branch, version) if branch else read_memory(session, open_base(session, "recorded"), None)
    )


def export_memory(held: Held, format: str) -> Exported:
    """The memory in one of FORMATS; raises BadRequest. The providers' formats are repaired to be valid."""
    if format not in FORMATS:
        raise BadRequest("format", f"There is no format {format!r}; known: {', '.join(FORMATS)}.")
    if format == "markdown":
        title = held.session.title or held.session.native_id
        return Exported(format, as_markdown(title, held.snapshot), ())
    items = exported(held.snapshot)
    if format in SEALED:
        seal(items, held.positions, held.session.pk, held.revision)
    made = export(items, format)
    return Exported(format, made.document, made.repairs)


def resume_line(session: Session) -> str | None:
    """The command that takes up the agent's session where it was; None for agents without one."""
    line = _RESUMES.get(session.format)
    return None if line is None else line.format(shlex.quote(session.native_id))


def compact_line(held: Held, pins: Sequence[str], instructions: str = "") -> str:
    """What to type into the agent so that its own compaction keeps what is pinned."""
    known = {item.id: item for item in held.snapshot.items}
    texts = [" ".join(known[pin].text.split())[:300] for pin in pins if pin in known]
    wishes = " ".join(
        [
            *([instructions.strip()] if instructions.strip() else []),
            *(f'Keep word for word: "{text}".' for text in texts),
        ]
    )
    return f"/compact {' '.join(wishes.split())}".strip()


def offloads_of(session: Session) -> list[dict[str, Any]]:
    """The originals that compactions of the session put aside."""
    rows = OffloadRecord.objects.filter(session=session).order_by("id")
    return [dict(row) for row in rows.values("offload", "reason", "created_at")]


def _must_be_branch(view: View) -> None:
    if view.kind != View.Kind.BRANCH:
        raise BadRequest(
            "view", "Only the memory of a branch can be changed; what a log says stays as it is."
        )
