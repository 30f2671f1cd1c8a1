"""A text over all sessions of a workspace: the newest items that hold it, each with its own bands of steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from contextlab.core.audit.last_seen import SpanIndex
from contextlab.core.audit.search_words import SearchQuery
from contextlab.queries.last_seen import PLACE_COLUMNS, Hit, ItemPlace, hit_of, readings_of
from contextlab.store.models import Session, View
from contextlab.store.search import Candidate, find, items_at, spans_at
from contextlab.store.texts import read_texts_of

Span = tuple[int, int, int, str, int, int | None]

EVERYWHERE = 25
"""Hits that one search shows."""


@dataclass(frozen=True, slots=True)
class Found:
    """A hit of a search over all sessions."""

    session: UUID
    title: str
    hit: Hit


@dataclass(frozen=True, slots=True)
class FoundAnywhere:
    """What a search over all sessions found, newest indexed first."""

    text: str
    found: Sequence[Found]
    complete: bool
    unindexed_sessions: int


class _Session(NamedTuple):
    """What is shown of a session, and how far its recorded view goes. No more is read: rows are wide."""

    uid: UUID
    title: str
    revision: int
    steps: int
    view: int | None
    """The recorded view's key."""


def search_everywhere(workspace_id: int, asked: SearchQuery) -> FoundAnywhere:
    """The newest places of all sessions of a workspace that hold the text."""
    candidates, listed = find(asked, newest_first=True)
    mine = _of_workspace(workspace_id, candidates)
    found: list[Found] = []
    for start in range(0, len(mine), EVERYWHERE):
        found += _found(asked, mine[start : start + EVERYWHERE])
        if len(found) >= EVERYWHERE:
            listed = listed and start + EVERYWHERE >= len(mine) and len(found) == EVERYWHERE
            break
    waiting = Session.objects.filter(workspace_id=workspace_id, items__gt=0, search_state=None).count()
    return FoundAnywhere(asked.text, found[:EVERYWHERE], listed, waiting)


def _of_workspace(workspace_id: int, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Those of the workspace, of sessions as they are stored now."""
    keys = {one.session_id for one in candidates}
    rows = Session.objects.filter(pk__in=keys, workspace_id=workspace_id)
    now = dict(rows.values_list("pk", "revision"))
    return [one for one in candidates if now.get(one.session_id) == one.revision]


def _found(asked: SearchQuery, some: Sequence[Candidate]) -> list[Found]:
    """Those of the candidates that hold the text, in their order; a handful of queries whatever their sessions."""
    places = [(one.session_id, one.revision, one.position) for one in some]
    rows = {(key, row[4]): ItemPlace._make(row) for key, *row in items_at(PLACE_COLUMNS, places)}
    texts = read_texts_of(
        (one.session_id, one.revision, rows[one.session_id, one.position][4:])
        for one in some if (one.session_id, one.position) in rows
    )  # fmt: skip
    holding = [one for one in some if _holds(asked, rows.get((one.session_id, one.position)), texts, one)]
    sessions = _sessions({one.session_id for one in holding})
    spans = _spans(sessions, holding)
    found = []
    for one in holding:
        session, place = sessions[one.session_id], (one.session_id, one.position)
        index = SpanIndex(spans.get(session.view, ()) if session.view else ())
        hit = hit_of(asked, rows[place], texts.get(place, ""), index, session.steps)
        found += [Found(session.uid, session.title, hit)] if hit else []
    return found


def _sessions(keys: set[int]) -> dict[int, _Session]:
    """The sessions of these keys; their steps are those of the recorded view where there is one."""
    recorded = View.objects.filter(session__in=keys, name="recorded")
    views = {key: (view, steps) for key, view, steps in recorded.values_list("session_id", "pk", "steps")}
    rows = Session.objects.filter(pk__in=keys).values_list("pk", "uid", "title", "revision", "steps")
    found = {}
    for key, uid, title, revision, own in rows:
        view, steps = views.get(key, (None, own))
        found[key] = _Session(uid, title, revision, steps, view)
    return found


def _spans(sessions: Mapping[int, _Session], holding: Sequence[Candidate]) -> dict[int, list[Span]]:
    """The spans over the items that hold the text, by view."""
    wanted = [(view, one.position) for one in holding if (view := sessions[one.session_id].view) is not None]
    columns = ("first_item", "last_item", "verdict", "reason", "first_step", "end_step")
    kept: dict[int, list[Span]] = {}
    for key, first, last, verdict, reason, step, end in spans_at(columns, wanted):
        kept.setdefault(key, []).append((first, last, verdict, reason, step, end))
    return kept


def _holds(
    asked: SearchQuery, row: ItemPlace | None, texts: Mapping[tuple[int, int], str], one: Candidate
) -> bool:
    if row is None:
        return False
    return any(
        asked.find(reading) for reading in readings_of(row, texts.get((one.session_id, one.position), ""))
    )
