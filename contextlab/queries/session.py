"""The session page: its head from columns, its relatives, and how far the window is filled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from uuid import UUID

from contextlab.core.measuring.window import GROWTH_STEPS, steps_left
from contextlab.queries.step import Around, Seen, read_around
from contextlab.store.models import Session, View

RELATIVES = 30
_BARS = ("sparkline", "parent__sparkline", "forked_from__sparkline")


@dataclass(frozen=True, slots=True)
class ViewLine:
    """A view of a session as far as it has been projected."""

    id: int
    name: str
    revision: int
    steps: int
    counted: bool
    stale: bool
    policy_hash: str
    updated_at: datetime

    def is_current(self, session: Session, policy_hash: str) -> bool:
        """Whether it shows all of the session as it is stored, under the policy as it is now."""
        same = self.revision == session.revision and self.steps == session.steps
        return same and not self.stale and self.policy_hash == policy_hash


@dataclass(frozen=True, slots=True)
class Relative:
    """A session linked to this one."""

    uid: UUID
    title: str
    agent: str
    steps: int
    peak_tokens: int | None


@dataclass(frozen=True, slots=True)
class SessionPage:
    """What stands beside a session's own columns."""

    children: Sequence[Relative]
    compaction_runs: Sequence[Relative]
    """Sessions of role `compaction`: the summariser's own request and reply."""
    forks: Sequence[Relative]
    hidden_tokens: int | None
    """Of the last step: reported input minus what the log shows; None where that is not known."""
    last_tokens: int | None
    last_source: str
    steps_left: int | None
    """Steps until the window is full at the pace of the last ones; None when that cannot be told."""


def find_session(workspace_id: int, uid: UUID) -> Session | None:
    """A session of the workspace, with the rows that its pages name."""
    mine = Session.objects.filter(workspace_id=workspace_id, uid=uid)
    # An import report may be long, and no page here shows it.
    return mine.select_related("file", "parent", "forked_from").defer("file__report", *_BARS).first()


def session_title(workspace_id: int, uid: UUID) -> str | None:
    """How a session is called; None when the workspace has no such one."""
    found = Session.objects.filter(workspace_id=workspace_id, uid=uid).values_list("title", flat=True).first()
    return found if found is None else found or "Untitled session"


def find_view(session: Session, name: str) -> ViewLine | None:
    """A view of the session; None while it has never been projected."""
    columns = [field.name for field in fields(ViewLine)]
    # A view without a revision is a row only: nothing has been written for it yet.
    views = View.objects.filter(session=session, name=name, revision=session.revision)
    found = views.values_list(*columns).first()
    return ViewLine(*found) if found else None


def session_page(session: Session, seen: Seen) -> SessionPage:
    """Everything of bounded size that the page shows of a session."""
    family = list(_relatives(parent=session))
    children = [relative for role, relative in family if role != "compaction"]
    runs = [relative for role, relative in family if role == "compaction"]
    forks = [relative for _, relative in _relatives(forked_from=session)]
    if seen.view_id is None or not session.steps:
        return SessionPage(children, runs, forks, None, None, "", None)
    near = read_around(seen, max(1, session.steps - GROWTH_STEPS), session.steps)
    report = near.reports.get(session.steps)
    return SessionPage(
        children, runs, forks, report.hidden_tokens if report else None, *_filling(session, seen, near)
    )


def _relatives(**where: object) -> list[tuple[str, Relative]]:
    columns = ("role", "uid", "title", "agent", "steps", "peak_tokens")
    rows = Session.objects.filter(**where).order_by("started_at", "id").values_list(*columns)[:RELATIVES]
    return [(role, Relative(*rest)) for role, *rest in rows]


def _filling(session: Session, seen: Seen, near: Around) -> tuple[int | None, str, int | None]:
    """Size of the last context, its source, and the steps that are left; all of one kind of figure."""
    lines = near.lines()
    reported = seen.recorded and any(line.reported is not None for line in lines)
    sizes = [line.reported if reported else line.projected_tokens for line in lines]
    head, report = near.heads.get(session.steps), near.reports.get(session.steps)
    source = "reported" if reported else report.token_source if report else ""
    return (sizes[-1] if sizes else None), source, steps_left(sizes, head.limit if head else None)
