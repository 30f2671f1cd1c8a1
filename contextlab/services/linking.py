"""Sessions that belong together: subagents under the calls that started them, forks behind what they share.

Files arrive in any order, so each import links both ways: what is known already, and what has waited for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Count, Q, Sum

from contextlab.core.items import KIND_CODE, Kind
from contextlab.store.bulk import Changes, update_changed
from contextlab.store.items import session_items
from contextlab.store.models import LinkRecord, Session, StepRecord

SHARED_IDS = frozenset({"claude-code"})
"""Formats whose item ids are unique in the world: only there two sessions that begin with the same items are forks."""

FAMILY = 50
"""Sessions that begin alike and are compared with each other at most."""

CHUNK = 1000
USAGE = ("input", "cache_read", "cache_write", "output")


def link_sessions(sessions: Sequence[Session]) -> None:
    """Link sessions that were imported with their parents, children and forks, in the caller's transaction."""
    if not sessions:
        return
    workspace, format_ = sessions[0].workspace_id, sessions[0].format
    rows = Session.objects.filter(workspace=workspace, format=format_)
    natives = [session.native_id for session in sessions]
    parents = {*_set_parents(rows, sessions), *_adopt_waiting(rows, natives), *_follow_links(rows, sessions)}
    count_children(parents)
    for first in {session.first_item for session in sessions if session.first_item and not session.role}:
        _link_forks(rows, format_, first)
    _resolve_named_forks(rows, sessions)


# Subagents ------------------------------------------------------------------------------------------------


def _set_parents(rows: Any, sessions: Sequence[Session]) -> set[int]:
    """Sessions that name their parent get it, if it is here."""
    named = {session.parent_native_id for session in sessions if session.parent_native_id}
    known = _by_native(rows, named)
    touched, changes = set(), Changes()
    for session in sessions:
        parent = known.get(session.parent_native_id)
        if parent is not None and parent != session.pk:
            touched.add(parent)
            changes.note(session, {"parent_id": parent})
    changes.write()
    return touched


def _adopt_waiting(rows: Any, natives: Sequence[str]) -> set[int]:
    """Children that came before their parent."""
    known = _by_native(rows, natives)
    touched = set()
    for start in range(0, len(natives), 500):
        waiting = rows.filter(parent=None, parent_native_id__in=natives[start : start + 500])
        for child in waiting:
            parent = known.get(child.parent_native_id)
            if parent is not None and parent != child.pk:
                update_changed(child, {"parent_id": parent})
                touched.add(parent)
    return touched


def _follow_links(rows: Any, sessions: Sequence[Session]) -> set[int]:
    """Links that calls of a parent hold: those of these sessions, and those that waited for these sessions."""
    keys = [session.pk for session in sessions]
    natives = [session.native_id for session in sessions]
    links: list[LinkRecord] = []
    for start in range(0, len(keys), 400):
        ours = Q(session__in=keys[start : start + 400]) | Q(child_native_id__in=natives[start : start + 400])
        links += LinkRecord.objects.filter(ours, session__in=rows.values("pk"))
    children = _rows_by_native(rows, {link.child_native_id for link in links})
    touched = set()
    for link in links:
        child = children.get(link.child_native_id)
        if child is None or child.pk == link.session_id:
            continue
        fields = {"parent_id": link.session_id, "parent_call_id": link.call_id}
        if link.agent and not child.agent:
            fields["agent"] = link.agent
        update_changed(child, fields)
        touched.add(link.session_id)
    return touched


def count_children(parents: Iterable[int]) -> None:
    """Keep the number of subagents of these sessions."""
    keys = list(parents)
    for start in range(0, len(keys), 500):
        some = Session.objects.filter(pk__in=keys[start : start + 500])
        found = some.annotate(n=Count("children", filter=Q(children__role="subagent")))
        for key, known, count in found.values_list("pk", "subagents", "n"):
            if known != count:
                Session.objects.filter(pk=key).update(subagents=count)


def _by_native(rows: Any, natives: Iterable[str]) -> dict[str, int]:
    wanted = [native for native in natives if native]
    found: dict[str, int] = {}
    for start in range(0, len(wanted), 500):
        some = rows.filter(native_id__in=wanted[start : start + 500])
        found |= dict(some.values_list("native_id", "pk"))
    return found


def _rows_by_native(rows: Any, natives: Iterable[str]) -> dict[str, Session]:
    wanted = [native for native in natives if native]
    found: dict[str, Session] = {}
    for start in range(0, len(wanted), 500):
        some = rows.filter(native_id__in=wanted[start : start + 500])
        found |= {session.native_id: session for session in some}
    return found


# Forks ----------------------------------------------------------------------------------------------------


def _link_forks(rows: Any, format_: str, first_item: str) -> None:
    """Sessions that begin with the same item: the oldest is the origin, each later one a fork of what it shares most.

    Oldest is whose first item of its own comes first; one that has none of its own came before all others.
    """
    if format_ not in SHARED_IDS:
        return
    family = list(rows.filter(first_item=first_item, role="").order_by("id")[:FAMILY])
    if len(family) < 2:
        return
    shared = {
        (one.pk, other.pk): _common(_items(one), _items(other), "position")
        for place, one in enumerate(family)
        for other in family[:place]
    }
    shared |= {(other, one): count for (one, other), count in shared.items()}
    longest = {
        one.pk: max(shared[one.pk, other.pk] for other in family if other is not one) for one in family
    }
    order = sorted(family, key=lambda one: (*_own_beginning(one, longest[one.pk]), one.native_id))
    for place, session in enumerate(order):
        earlier = order[:place]
        origin = max(earlier, key=lambda other: shared[session.pk, other.pk], default=None)
        steps = _common(_steps(session), _steps(origin), "number") if origin is not None else 0
        fields = {"forked_from_id": origin.pk if origin is not None else None, "shared_steps": steps}
        if steps != session.shared_steps:
            fields |= _usage_behind(session, steps)
        update_changed(session, fields)


def _common(one: Any, other: Any, order: str) -> int:
    """Length of the common beginning of two lists of native ids."""
    start = 0
    while True:
        a, b = (
            list(rows.order_by(order).values_list("native_id", flat=True)[start : start + CHUNK])
            for rows in (one, other)
        )
        same = next(
            (at for at, pair in enumerate(zip(a, b, strict=False)) if pair[0] != pair[1]), min(len(a), len(b))
        )
        start += same
        if same < CHUNK:
            return start


def _own_beginning(session: Session, shared: int) -> tuple[bool, Any]:
    """When the session's first item of its own was written; sorts before all where it has none."""
    at = _items(session).order_by("position").values_list("ts", flat=True)[shared : shared + 1].first()
    return (False, session.created_at) if at is None else (True, at)


def _usage_behind(session: Session, steps: int) -> dict[str, int | None]:
    sums = (
        _steps(session).filter(number__gt=steps).aggregate(**{f"{name}_tokens": Sum(name) for name in USAGE})
    )
    return dict(sums)


def _items(session: Session) -> Any:
    rows = session_items(session)
    return rows.exclude(kind=KIND_CODE[Kind.UI])


def _steps(session: Session) -> Any:
    return StepRecord.objects.filter(session=session, revision=session.revision)


def _resolve_named_forks(rows: Any, sessions: Sequence[Session]) -> None:
    """Logs that name the session they were forked from, in either order of arrival."""
    known = _by_native(rows, {one.forked_native_id for one in sessions if one.forked_native_id})
    for session in sessions:
        origin = known.get(session.forked_native_id)
        if origin is not None and session.forked_from_id is None and origin != session.pk:
            update_changed(session, {"forked_from_id": origin})
    ours = {session.native_id: session.pk for session in sessions if not session.role}
    for start in range(0, len(ours), 500):
        some = list(ours)[start : start + 500]
        for waiting in rows.filter(forked_native_id__in=some, forked_from=None):
            if waiting.pk != ours[waiting.forked_native_id]:
                update_changed(waiting, {"forked_from_id": ours[waiting.forked_native_id]})
