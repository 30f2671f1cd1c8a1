"""Which views a session has, whether they show all of it, and asking for the run that makes one.

open_view(session, name)           the view of that name, and the run that makes it where it is not there yet
follow(session, views)             views of a session that grows, made anew now and then
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from contextlab.services import runs
from contextlab.services.runs import Priority
from contextlab.store.models import Run, Session, View

RECORDED = "recorded"
LITTLE = 200
"""Steps of a session whose views are made anew with each step that comes."""

STEPS_A_SECOND = 200
"""Of a longer one that grows they are made anew after a pause of a second for so many."""

LONGEST_PAUSE = 60.0


def recorded_views(sessions: Sequence[Session]) -> dict[int, View]:
    """The recorded views of sessions by the session's key; made where there are none."""
    views: dict[int, View] = {}
    for start in range(0, len(sessions), 500):
        some = sessions[start : start + 500]
        found = View.objects.filter(session__in=some, name=RECORDED)
        views |= {view.session_id: view for view in found}
        missing = [session for session in some if session.pk not in views]
        if missing:
            kind = View.Kind.RECORDED
            new = [View(session=session, name=RECORDED, kind=kind) for session in missing]
            View.objects.bulk_create(new, ignore_conflicts=True)
            views |= {view.session_id: view for view in found.all()}
    return views


def open_view(session: Session, name: str) -> tuple[View, Run | None]:
    """The view of this name (`recorded`, or a policy of the package or the workspace), and the run that makes it.

    The run is None when the view is complete and as new as its session. Raises UnknownNameError for other names, and
    PolicyError for a policy whose parts are no longer installed.
    """
    if name == RECORDED:
        view = recorded_views([session])[session.pk]
    elif (live := session.views.filter(kind=View.Kind.LIVE, name=name).first()) is not None:
        view = live
    else:
        fields = _fields(session, name)
        view, _ = View.objects.get_or_create(session=session, name=name, defaults=fields)
        if view.policy_hash != fields["policy_hash"]:
            View.objects.filter(pk=view.pk).update(**fields, stale=True)
            view.refresh_from_db()
    if is_current(session, view):
        return view, None
    return view, request(session, view)


def _fields(session: Session, name: str) -> dict[str, Any]:
    """What makes the view of a policy, or of a policy on top of a branch."""
    from contextlab.queries.policies import known_policy
    from contextlab.queries.views import on_top

    found = on_top(session, name)
    policy = found.policy if found else known_policy(session.workspace_id, name)
    fields = {"kind": View.Kind.POLICY, "policy": dict(policy.document), "policy_hash": policy.hash}
    if found is None:
        return fields
    return fields | {"policy_hash": found.hash, "base": found.branch, "base_step": found.branch.base_step}


def view_names() -> list[str]:
    """The names that open_view knows."""
    from contextlab.core.policy import BUILTINS

    return [RECORDED, *BUILTINS]


def is_current(session: Session, view: View) -> bool:
    """Whether the view shows all of the session as it is stored."""
    return not view.stale and view.revision == session.revision and view.steps == session.steps


def incomplete(sessions: QuerySet[Session]) -> list[Session]:
    """Those of the sessions whose recorded view does not show all that is stored."""
    current = View.objects.filter(
        session=OuterRef("pk"),
        name=RECORDED,
        stale=False,
        revision=OuterRef("revision"),
        steps=OuterRef("steps"),
    )
    return list(sessions.exclude(Exists(current)))


def request(session: Session, view: View, priority: Priority = Priority.NOW, pause: float = 0) -> Run:
    """The run that makes a view; `pause` seconds from now, unless somebody asks who will not wait."""
    params = {"session": session.uid.hex, "view": view.name}
    run, new = runs.request(
        session.workspace, Run.Kind.PROJECT, f"project:{view.uid.hex}", target=view.uid.hex, params=params,
        priority=priority, total=session.steps, unit="steps", pause=pause,
    )  # fmt: skip
    if not (new or pause):
        runs.hurry(run)
    return run


def follow(session: Session, views: Iterable[View]) -> list[Run]:
    """Have views of a session made that grows step by step; returns what is to be rung for now.

    Making one takes as long as the session is: of a long one it is done now and then, and whenever somebody looks.
    """
    pause = 0.0 if session.steps <= LITTLE else min(session.steps / STEPS_A_SECOND, LONGEST_PAUSE)
    found = [request(session, view, Priority.GREW, pause) for view in views]
    return [] if pause else found
