"""The search index of sessions: made behind imports by a run of its own, extended when sessions grow.

    missing()          the runs that are needed now, for the periodic work
    perform(work)      the run: everything of a workspace that is not indexed, newest first

A session that changed otherwise has a new revision: its old pieces go, the new ones are made from the start. Imports
know nothing of all this: they are not slowed down.
"""

from __future__ import annotations

from collections.abc import Iterator

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from contextlab.core.audit.search_words import pieces, variants, words
from contextlab.core.items import KIND_CODE, Kind
from contextlab.services import runs
from contextlab.services.runs import Priority
from contextlab.services.work import Outcome, Work
from contextlab.store.items import session_items
from contextlab.store.models import Run, RunState, SearchPiece, SearchState, Session, Workspace
from contextlab.store.search import Piece, write_pieces
from contextlab.store.texts import TEXT_COLUMNS, read_texts

ITEMS = 500
"""Items whose texts are read at once."""

BATCH = 1_000
"""Pieces of one transaction: others who write wait for no longer than that takes."""

SESSIONS = 50
"""Sessions that are looked up at a time."""

_CALL = KIND_CODE[Kind.TOOL_CALL]


def unindexed(sessions: QuerySet[Session]) -> QuerySet[Session]:
    """Those of the sessions that have items which are not indexed."""
    done = SearchState.objects.filter(
        session=OuterRef("pk"), revision=OuterRef("revision"), items__gte=OuterRef("items")
    )
    return sessions.filter(items__gt=0).exclude(Exists(done))


def missing() -> list[Run]:
    """One run for each workspace that has sessions which are not indexed."""
    waiting = unindexed(Session.objects.all()).order_by().values("workspace").distinct()
    return [request(workspace) for workspace in Workspace.objects.filter(pk__in=waiting)]


def request(workspace: Workspace) -> Run:
    """The run that indexes what is not indexed; everything that a person waits for goes first."""
    run, _ = runs.request(
        workspace, Run.Kind.INDEX, f"index:{workspace.pk}", priority=Priority.LATER, unit="items"
    )
    return run


def perform(work: Work) -> Outcome:
    """Index what is new of the workspace's sessions, newest first."""
    indexed, tried = 0, set[int]()
    while True:
        rows = unindexed(Session.objects.filter(workspace=work.run.workspace)).exclude(pk__in=tried)
        some = list(rows.order_by("-sort_at", "-pk")[:SESSIONS])
        for session in some:
            tried.add(session.pk)
            indexed += index_session(work, session, indexed)
        if not some or len(tried) > SESSIONS * 10:
            # What is left, or grew meanwhile, is the next run's.
            return Outcome(RunState.DONE if indexed else RunState.NOOP, {"items": indexed})


def index_session(work: Work, session: Session, before: int = 0) -> int:
    """Index the items of a session that are not indexed yet; returns how many those were."""
    state, _ = SearchState.objects.get_or_create(session=session)
    if state.revision != session.revision:
        with transaction.atomic():
            work.check_in(before, None, "indexing")
            SearchPiece.objects.filter(session=session).exclude(revision=session.revision).delete()
            SearchState.objects.filter(pk=state.pk).update(revision=session.revision, items=0)
        state.revision, state.items = session.revision, 0
    first = upto = state.items
    for upto, batch in _batches(session, first):
        with transaction.atomic():
            work.check_in(before + upto - first, None, "indexing")
            if not Session.objects.filter(pk=session.pk, revision=session.revision).exists():
                break  # deleted, or read anew: its new revision is indexed by itself
            write_pieces(session.pk, session.revision, batch)
            SearchState.objects.filter(pk=state.pk, revision=session.revision).update(items=upto)
    return upto - first


def _batches(session: Session, first: int) -> Iterator[tuple[int, list[Piece]]]:
    """Pieces in the order of their items, and up to which item they go."""
    batch: list[Piece] = []
    rows = session_items(session).order_by("position")
    while True:
        some = list(rows.filter(position__gte=first).values_list("kind", "tool", *TEXT_COLUMNS)[:ITEMS])
        if not some:
            if batch:
                yield first, batch
            return
        texts = read_texts(session.pk, session.revision, [row[2:] for row in some])
        for kind, tool, position, *_ in some:
            text = texts.get(position, "")
            for reading in variants(f"{tool} {text}" if kind == _CALL and tool else text):
                batch.extend((position, piece) for piece in pieces(words(reading)))
            first = position + 1
            if len(batch) >= BATCH:
                yield first, batch
                batch = []
