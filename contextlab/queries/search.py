"""A text over all sessions of a workspace: the newest items that hold it, each with its own bands of steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q

from contextlab.core.audit.last_seen import SpanIndex
from contextlab.core.audit.search_words import SearchQuery
from contextlab.queries.last_seen import PLACE_COLUMNS, Hit, ItemPlace, hit_of, readings_of
from contextlab.store.models import ItemRecord, Session, SpanRecord, View
from contextlab.store.search import Candidate, find
from contextlab.store.texts import read_texts_of

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


def search_everywhere(workspace_id: int, asked: SearchQuery) -> FoundAnywhere:
    """The newest places of all sessions of a workspace that hold the text."""
    candidates, listed = find(asked, newest_first=True)
    keys = {one.session_id for one in candidates}
    known = {one.pk: one for one in Session.objects.filter(pk__in=keys, workspace_id=workspace_id)}
    mine = [
        one
        for one in candidates
        if one.session_id in known and one.revision == known[one.session_id].revision
    ]
    found: list[Found] = []
    for start in range(0, len(mine), EVERYWHERE):
        found += _found(asked, mine[start : start + EVERYWHERE], known)
        if len(found) >= EVERYWHERE:
            listed = listed and start + EVERYWHERE >= len(mine) and len(found) == EVERYWHERE
            break
    waiting = Session.objects.filter(workspace_id=workspace_id, items__gt=0, search_state=None).count()
    return FoundAnywhere(asked.text, found[:EVERYWHERE], listed, waiting)


def _found(asked: SearchQuery, some: Sequence[Candidate], known: Mapping[int, Session]) -> list[Found]:
    """Those of the candidates that hold the text, in their order; a handful of queries whatever their sessions."""
    places = Q()
    for one in some:
        places |= Q(session_id=one.session_id, revision=one.revision, position=one.position)
    items = ItemRecord.objects.filter(places).values_list("session_id", *PLACE_COLUMNS)
    rows = {(key, row[4]): ItemPlace._make(row) for key, *row in items}
    texts = read_texts_of(
        (one.session_id, one.revision, rows[one.session_id, one.position][4:])
        for one in some if (one.session_id, one.position) in rows
    )  # fmt: skip
    recorded = View.objects.filter(session__in={one.session_id for one in some}, name="recorded")
    views = {view.session_id: view for view in recorded}
    holding = [one for one in some if _holds(asked, rows.get((one.session_id, one.position)), texts, one)]
    spans = Q()
    for one in holding:
        if (view := views.get(one.session_id)) is not None:
            spans |= Q(view=view, first_item__lte=one.position, last_item__gte=one.position)
    columns = ("first_item", "last_item", "verdict", "reason", "first_step", "end_step")
    kept: dict[int, list[tuple[int, int, int, str, int, int | None]]] = {}
    for key, *span in SpanRecord.objects.filter(spans).values_list("view_id", *columns) if spans else ():
        kept.setdefault(key, []).append(tuple(span))
    found = []
    for one in holding:
        session, view = known[one.session_id], views.get(one.session_id)
        index = SpanIndex(kept.get(view.pk, ()) if view else ())
        text = texts.get((one.session_id, one.position), "")
        hit = hit_of(
            asked, rows[one.session_id, one.position], text, index, view.steps if view else session.steps
        )
        found += [Found(session.uid, session.title, hit)] if hit else []
    return found


def _holds(
    asked: SearchQuery, row: ItemPlace | None, texts: Mapping[tuple[int, int], str], one: Candidate
) -> bool:
    if row is None:
        return False
    return any(
        asked.find(reading) for reading in readings_of(row, texts.get((one.session_id, one.position), ""))
    )
