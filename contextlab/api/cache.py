"""The prompt cache and the waste of a session."""

from __future__ import annotations

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import DictField, FloatField, IntegerField, ListField

from contextlab.api.base import MOST, PAGE, ApiView, number_in
from contextlab.api.errors import not_found
from contextlab.api.schema import query
from contextlab.api.shapes import Number, Shape, Text, Yes
from contextlab.core.audit.cache import CacheState, Cause
from contextlab.queries.cache import session_cache
from contextlab.queries.waste import waste


class CacheStepShape(Shape):
    """A step's cache: tokens as reported, US dollars by the price list; null = unknown."""

    step = Number()
    turn = Number()
    state = Text(help_text=", ".join(CacheState))
    cause = Text(allow_null=True, help_text=", ".join(Cause))
    breaks_at = Number(allow_null=True, help_text="position of the first item that is otherwise than before")
    prompt = Number(allow_null=True)
    read = Number(allow_null=True)
    written = Number(allow_null=True)
    fresh = Number(allow_null=True, help_text="neither read nor written")
    expected = Number(allow_null=True, help_text="what could have been read")
    gap = FloatField(allow_null=True, help_text="seconds since the step before")
    cost = FloatField(allow_null=True)
    without_cache = FloatField(allow_null=True)
    at_least = Yes(help_text="an output figure is missing")


class CacheTotals(Shape):
    """Sums of the session, or of the turn."""

    steps = Number()
    read = Number(allow_null=True)
    written = Number(allow_null=True)
    fresh = Number(allow_null=True)
    cost = FloatField(allow_null=True)
    without_cache = FloatField(allow_null=True)
    at_least = Yes()
    states = DictField(child=IntegerField())
    causes = DictField(child=IntegerField())


class EconomicsShape(Shape):
    """What a compaction cost and saved."""

    at_step = Number()
    before = Number()
    after = Number()
    steps_since = Number()
    break_even = Number(allow_null=True, help_text="steps until it pays; null = never")
    paid = FloatField(allow_null=True)
    saved = FloatField(allow_null=True)


class CacheShape(Shape):
    """The cache of a session."""

    totals = CacheTotals()
    compactions = EconomicsShape(many=True)
    prices = DictField(help_text="by model: list, names, unit prices; null = not listed")
    results = CacheStepShape(many=True, source="steps")


class WasteItem(Shape):
    """An item with what it took."""

    id = Text(source="item.native_id")
    position = Number(source="item.position")
    kind = Text(source="item.kind")
    tool = Text(source="item.tool")
    preview = Text(source="item.preview")
    tokens = Number()
    steps = Number()
    token_steps = Number()
    share = FloatField(help_text="of the token-steps of all items")
    used_again = Yes(
        allow_null=True, help_text="results: whether their words come up later; null = not looked for"
    )


class RepeatShape(Shape):
    """Content that came again while it still stood there."""

    id = Text(source="item.native_id")
    position = Number(source="item.position")
    tool = Text(source="item.tool")
    preview = Text(source="item.preview")
    again = ListField(child=IntegerField(), help_text="positions of the repeats, 20 at most")
    tokens = Number()
    token_steps = Number()


class WasteShape(Shape):
    """A session's waste, largest first."""

    token_steps = Number()
    largest = WasteItem(many=True)
    unused = WasteItem(many=True)
    unused_known = Yes()
    repeated = RepeatShape(many=True)
    reread = RepeatShape(many=True)


class CacheOne(ApiView):
    """GET /api/sessions/{id}/cache/"""

    @extend_schema(
        responses=CacheShape,
        parameters=[
            query("first", "first step; 1 without it", int),
            query("limit", "steps, at most 1,000", int),
            query("turn", "only steps of this turn; the totals are the turn's then", int),
        ],
    )
    def get(self, request: Request, uid: UUID) -> Response:
        """What the prompt cache did at each step, why it missed, what it cost, and what compactions cost and saved."""
        first, most = number_in(request, "first", 1) or 1, number_in(request, "limit", 1, MOST) or PAGE
        found = session_cache(self.open_session(uid), first, most, number_in(request, "turn"))
        return Response(CacheShape(found).data)


class WasteOne(ApiView):
    """GET /api/sessions/{id}/waste/"""

    @extend_schema(responses=WasteShape)
    def get(self, request: Request, uid: UUID) -> Response:  # noqa: ARG002 - what DRF calls
        """What took most of all windows together, repeats, calls made again, results that nothing came back to."""
        found = waste(self.open_session(uid))
        if found is None:
            raise not_found("recorded view of this session yet")
        return Response(WasteShape(found).data)
