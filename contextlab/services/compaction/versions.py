"""Memories of branches: back to an earlier one, the one to go on with, and what an agent takes with it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from contextlab.core.auto_context.tags import offload_ids
from contextlab.core.committing.compacting import exported
from contextlab.core.committing.transfer import as_markdown
from contextlab.core.protocol import FORMATS as WIRES
from contextlab.core.protocol import SEALED, export
from contextlab.queries.compaction import branch_of
from contextlab.queries.seals import seal
from contextlab.services.compaction.committing import add_version
from contextlab.services.compaction.held import Held
from contextlab.services.compaction.memory import read_branch, read_memory
from contextlab.services.compaction.planning import open_base
from contextlab.services.compaction.requests import MOST_PINS, BadRequest
from contextlab.services.compaction.shown import show
from contextlab.services.live.memory import read_live
from contextlab.services.live.versions import restore_live
from contextlab.store.items import load_items, session_items
from contextlab.store.models import MemoryVersion, OffloadRecord, Session, View

FORMATS = {
    name: label for name, label in WIRES.items() if name in ("openai_chat", "openai_responses", "anthropic")
} | {"markdown": "Markdown hand-over", "json": "JSON"}
"""Formats of an export by name, with their labels."""
TRIES = 50
QUOTED = 300
"""Characters of a pinned text that a line for the agent repeats."""
MOST_NAMED = 1_000
"""Marks of originals that are looked up in one memory."""
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


def restore(view: View, version: int) -> tuple[MemoryVersion, bool]:
    """An earlier memory of a branch in force again, as a new version; raises BadRequest. Nothing is deleted.

    Nothing is made (False) where the version in force is that memory already. Of a live session it is in force from
    the agent's next step on, with all that came since.
    """
    if view.kind == View.Kind.LIVE:
        return restore_live(view, version)
    _must_be_branch(view)
    for _ in range(TRIES):
        try:
            with transaction.atomic():
                View.objects.select_for_update().get(pk=view.pk)
                return _restored(view, version)
        except IntegrityError:
            continue
    raise BadRequest("version", "Others are changing this memory all the time; try again.")


def _restored(view: View, number: int) -> tuple[MemoryVersion, bool]:
    """The same, while nobody else changes the branch."""
    wanted, now = read_branch(view, number), read_branch(view)
    if now.version is None or wanted.version is None:
        raise BadRequest("version", "There is no such version of this memory.")
    if wanted.version.same_as == now.version.same_as:
        return now.version, False
    origin = wanted.version.same_as
    made = add_version(
        view, now.version, wanted, wanted.snapshot, MemoryVersion.Origin.RESTORE, restored=origin
    )
    show(view, made)
    return made, True


def promote(view: View) -> None:
    """Make a branch's memory the one of its session to go on with; raises BadRequest."""
    _must_be_branch(view)
    with transaction.atomic():
        view.session.views.exclude(promoted_at=None).update(promoted_at=None)
        View.objects.filter(pk=view.pk).update(promoted_at=timezone.now())


def memory_of(session: Session, name: str = "", version: int | None = None) -> Held:
    """The memory of a view by name; without one that of the promoted branch, else the live one, else of the newest
    branch, else as recorded. Raises BadRequest, also for a version of what has none."""
    view = open_base(session, name) if name else branch_of(session) or open_base(session, "recorded")
    if version is not None and not view.keeps_memory:
        raise BadRequest(
            "version", f"The memory of {view.name} is not kept in versions; leave the version out."
        )
    if view.kind == View.Kind.LIVE and version is not None:
        return read_live(view, version)
    return read_branch(view, version) if view.kind == View.Kind.BRANCH else read_memory(session, view, None)


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
    """What to type into the agent so that its own compaction keeps what is pinned: in this memory, or only in its log.

    What a placeholder stands for is quoted as the log has it.
    """
    known = {item.id: item.text for item in held.snapshot.items if item.id not in held.changed}
    known |= _texts_of(held.session, [pin for pin in pins if pin not in known])
    texts = [" ".join(known[pin].split()) for pin in pins if pin in known]
    wishes = " ".join(
        [
            *([instructions.strip()] if instructions.strip() else []),
            *map(_keep, texts),
        ]
    )
    return f"/compact {' '.join(wishes.split())}".strip()


def refuse_unknown_pins(session: Session, pins: Sequence[str]) -> None:
    """Raises BadRequest where one of the pins is no item of the session."""
    if len(pins) > MOST_PINS:
        raise BadRequest("pin", f"{len(pins):,} items are pinned; at most {MOST_PINS} are taken.")
    # No database holds such an id, and PostgreSQL refuses to look for it.
    sound = [pin for pin in pins if pin.isprintable()]
    known = set(session_items(session).filter(native_id__in=sound).values_list("native_id", flat=True))
    if unknown := [pin for pin in pins if pin not in known]:
        raise BadRequest("pin", f"{unknown[0][:80]!r} is no item of this session.")


def _texts_of(session: Session, names: Sequence[str]) -> dict[str, str]:
    if not names:
        return {}
    rows = session_items(session).filter(native_id__in=names[:MOST_PINS])
    return {item.id: item.text for _, item in load_items(session, rows)}


def _keep(text: str) -> str:
    if len(text) <= QUOTED:
        return f'Keep word for word: "{text}".'
    return f'Keep word for word the text that begins with "{text[:QUOTED]}".'


def wishes_of(held: Held) -> tuple[list[str], str]:
    """The pins and the instructions of the compaction that made a memory; none where nobody asked for one."""
    job = held.version.same_as.compaction if held.version is not None else None
    return ([], "") if job is None else (list(job.pins), job.instructions)


def offloads_in(held: Held) -> list[str]:
    """Ids of the originals that the memory points to and that are kept here, in their order."""
    texts = [held.snapshot.summary or "", *(item.text for item in held.snapshot.items)]
    named = list(dict.fromkeys(name for text in texts for name in offload_ids(text)))
    workspace = held.session.workspace_id
    kept = OffloadRecord.objects.filter(workspace_id=workspace, offload__in=named[:MOST_NAMED])
    known = set(kept.values_list("offload", flat=True))
    return [name for name in named if name in known]


def _must_be_branch(view: View) -> None:
    if view.kind != View.Kind.BRANCH:
        raise BadRequest(
            "view", "Only the memory of a branch can be changed; what a log says stays as it is."
        )
