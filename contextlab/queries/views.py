"""Views by their names, and which view's rows show a step.

| name                  | view                                                                                       |
|-----------------------|--------------------------------------------------------------------------------------------|
| recorded              | the session as its log says it went                                                        |
| a policy's name       | the session under that policy                                                              |
| branch-1              | a compaction made by hand: it ends in one memory, before the step at which it left          |
| branch-1:policy       | the rest of the log on top of that memory, under a policy                                  |
| live                  | what the agent of a live session got at each step                                          |

A branch and what goes on from it share all steps before the one at which they left with the view that they left.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from contextlab.core.policy import Policy
from contextlab.queries import policies
from contextlab.queries.session import ViewLine, find_view
from contextlab.store.models import MemoryVersion, Session, View

RECORDED = "recorded"
BETWEEN = ":"
MOST_LAYERS = 8
MOST_VIEWS = 200


@dataclass(frozen=True, slots=True)
class OnTop:
    """A branch with the policy that its view goes on under."""

    branch: View
    policy: Policy

    @property
    def hash(self) -> str:
        """Of the policy and of the memory that is in force: another one is another view."""
        versions = MemoryVersion.objects.filter(view=self.branch).order_by("-version")
        version = versions.values_list("version", flat=True).first() or 0
        return hashlib.sha256(f"{self.policy.hash} {self.branch.uid} {version}".encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class ViewName:
    """A view of a session that is there."""

    name: str
    kind: str
    base: str | None
    base_step: int | None
    """It has steps of its own from this one on; those before are its base's."""
    steps: int
    current: bool
    """Whether it shows all of the session as it is stored."""


def on_top(session: Session, name: str) -> OnTop | None:
    """What `branch-1:policy` names; None for any other name. Raises UnknownNameError, PolicyError for the policy."""
    branch, between, policy = name.partition(BETWEEN)
    if not between or policies.is_known(session.workspace_id, name):
        return None
    found = session.views.filter(kind=View.Kind.BRANCH, name=branch).first()
    return None if found is None else OnTop(found, policies.known_policy(session.workspace_id, policy))


def can_open(session: Session, name: str) -> bool:
    """Whether a session can be seen under this name, made or not; a branch only with a policy behind it."""
    if "\x00" in name:  # PostgreSQL refuses to look for it
        return False
    if name == RECORDED or policies.is_known(session.workspace_id, name):
        return True
    if is_live(session, name):
        return True
    branch, between, policy = name.partition(BETWEEN)
    known = bool(between) and policies.is_known(session.workspace_id, policy)
    return known and session.views.filter(kind=View.Kind.BRANCH, name=branch).exists()


def is_live(session: Session, name: str) -> bool:
    """Whether this name is that of the view which the session's own agent lives in."""
    return session.views.filter(kind=View.Kind.LIVE, name=name).exists()


def hash_of(session: Session, name: str) -> str:
    """Hash of what makes the view of this name; empty for views that no policy makes."""
    if name == RECORDED or not can_open(session, name):
        return ""
    live = session.views.filter(kind=View.Kind.LIVE, name=name).values_list("policy_hash", flat=True).first()
    if live is not None:
        return live
    found = on_top(session, name)
    return found.hash if found else policies.hash_of(session.workspace_id, name)


def views_of(session: Session) -> list[ViewName]:
    """The views that there are, in the order in which they were first opened."""
    rows = View.objects.filter(session=session).select_related("base").order_by("id")[:MOST_VIEWS]
    return [
        ViewName(
            row.name, row.kind, row.base.name if row.base else None, row.base_step, row.steps,
            not row.stale and row.revision == session.revision
            and (row.kind == View.Kind.BRANCH or row.steps == session.steps),
        )
        for row in rows
    ]  # fmt: skip


def layers(view_id: int) -> Sequence[tuple[int, int]]:
    """Keys of the views that show the steps of a view, each with the first step that is its own; that view first."""
    found: list[tuple[int, int]] = []
    key: int | None = view_id
    while key is not None and len(found) < MOST_LAYERS:
        row = View.objects.filter(pk=key).values_list(
            "base_id", "base_step", "kind", "base__kind", "base__base_id"
        )
        base, first, kind, base_kind, beneath = row.first() or (None, None, "", "", None)
        found.append((key, first or 1))
        # A view on top of a branch goes on where the branch is left; before that both are what the branch left.
        on_branch = kind == View.Kind.POLICY and base_kind == View.Kind.BRANCH
        key = beneath if on_branch else base
    return found


def layer_at(view_id: int, step: int) -> int:
    """Key of the view whose rows show a step of a view."""
    return next((key for key, first in layers(view_id) if step >= first), view_id)


def find_layer(session: Session, view: ViewLine, step: int) -> ViewLine:
    """The view whose rows show a step of a view."""
    key = layer_at(view.id, step)
    if key == view.id:
        return view
    name = View.objects.filter(pk=key).values_list("name", flat=True).first()
    return find_view(session, name or "") or view
