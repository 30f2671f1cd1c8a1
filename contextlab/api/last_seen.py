"""A text over a session and over all sessions: where it stands, and when the model had it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import CharField, IntegerField

from contextlab.api.base import ApiView, Opened, number_in, text_in
from contextlab.api.errors import bad_value, not_found
from contextlab.api.schema import VIEW, query
from contextlab.api.shapes import Number, Shape, Text, Yes
from contextlab.core.audit.last_seen import Seen
from contextlab.core.audit.search_words import QUERY_CHARS, SearchQuery
from contextlab.core.audit.search_words import query as parsed
from contextlab.queries.last_seen import knowledge, search_session
from contextlab.queries.search import search_everywhere
from contextlab.store.models import View

Q = query("q", "the text: whole words, any case; a * at its end lets the last word go on")
STATES = ", ".join(Seen)


class BandShape(Shape):
    """A stretch of steps, `end` exclusive, and how the model had the text there."""

    first = IntegerField()
    end = IntegerField()
    seen = CharField(help_text=STATES)
    position = Number(allow_null=True, help_text="the item that tells")
    verdict = Text(allow_null=True)
    reason = Text()


class SnippetShape(Shape):
    """The text around a find."""

    before = Text()
    found = Text()
    after = Text()


class HitShape(Shape):
    """An item that holds the text."""

    id = Text(source="native_id")
    position = Number()
    kind = Text()
    tool = Text()
    first_step = Number()
    places = Number(help_text="how often it stands there, counted up to 100")
    snippet = SnippetShape()
    bands = BandShape(many=True)


class KnowledgeShape(Shape):
    """Whether the model could know the text at a step."""

    step = Number()
    answer = Text(help_text="yes, no, unknown")
    seen = Text(help_text=STATES)
    why = Text()
    last_step = Number(allow_null=True, help_text="the last step up to there at which the model had it")
    band = BandShape(allow_null=True)
    hit = HitShape(allow_null=True)


class LastSeenShape(Shape):
    """A text over one session."""

    text = Text()
    view = Text()
    steps = Number()
    complete = Yes(
        help_text="false: not every item was looked at, so that nothing is promised about the rest"
    )
    unindexed = Number(help_text="items that were neither indexed nor read")
    hits_total = Number()
    hits = HitShape(many=True)
    bands = BandShape(many=True)
    last_step = Number(allow_null=True)
    changed = Text(allow_null=True, help_text="what a summary says in its place")
    at_step = KnowledgeShape(allow_null=True)


class FoundShape(Shape):
    """A hit with its session."""

    session = Text()
    title = Text()
    hit = HitShape()


class SearchShape(Shape):
    """A text over all sessions."""

    text = Text()
    complete = Yes()
    unindexed_sessions = Number()
    results = FoundShape(many=True, source="found")


class LastSeenOne(ApiView):
    """GET /api/sessions/{id}/last-seen/"""

    @extend_schema(
        responses=LastSeenShape,
        parameters=[Q, VIEW, query("step", "answer whether the model could know it at this step", int)],
    )
    def get(self, request: Request, uid: UUID) -> Response:
        """Where a text stands in a session, and the bands of steps at which the model had it."""
        opened = self.open_view(request, uid)
        step = number_in(request, "step", 1)
        found = search_session(opened.session, _asked(request), _view_of(opened))
        if step is not None and step > found.steps:
            raise not_found("step", "query: step")
        values: dict[str, Any] = {name: getattr(found, name) for name in found.__slots__}
        values["at_step"] = knowledge(found, step) if step is not None else None
        return Response(LastSeenShape(values).data)


class Search(ApiView):
    """GET /api/search/"""

    @extend_schema(responses=SearchShape, parameters=[Q])
    def get(self, request: Request) -> Response:
        """The newest items of all sessions that hold a text, each with the bands of steps at which the model had it."""
        return Response(SearchShape(search_everywhere(self.workspace.pk, _asked(request))).data)


def _asked(request: Request) -> SearchQuery:
    text = text_in(request, "q", QUERY_CHARS)
    try:
        return parsed(text)
    except ValueError as error:
        raise bad_value("query: q", f"q: {error}.") from error


def _view_of(opened: Opened) -> View | None:
    view = View.objects.filter(pk=opened.view_id).first()
    if view is not None and view.kind == View.Kind.BRANCH:
        raise bad_value(
            "query: view", "A branch has no life of its items; name the view it left, or a policy."
        )
    return view
