"""What differs between two contexts of a session."""

from __future__ import annotations

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from contextlab.api.base import ApiView, number_in, text_in
from contextlab.api.errors import bad_value, not_found
from contextlab.api.schema import VIEW, query
from contextlab.api.shapes import Number, Shape, Text, Yes
from contextlab.queries.diff import diff
from contextlab.store.models import View


class SideShape(Shape):
    """One of the two contexts."""

    view = Text()
    step = Number()
    upto = Number(help_text="items that stood before the step")
    projected_tokens = Number(allow_null=True)
    token_source = Text(source="source", help_text="counted or estimated")


class DiffItem(Shape):
    """An item of a line."""

    id = Text(source="native_id")
    position = Number()
    kind = Text()
    tool = Text()
    preview = Text()


class DiffLine(Shape):
    """A run of items with one change."""

    kind = Text(help_text="entered, left, or changed (another fate)")
    first = Number()
    last = Number()
    count = Number()
    tokens = Number(help_text="of the run, counted or estimated")
    before = Text(allow_null=True, help_text="verdict before; null = not there")
    before_reason = Text()
    after = Text()
    after_reason = Text()
    items = DiffItem(many=True, help_text="the first of them")


class PieceShape(Shape):
    """A stretch of two texts."""

    kind = Text(help_text="same, gone or new")
    text = Text()


class RewrittenShape(Shape):
    """An item that left and one that entered as a new text of it."""

    old = Number()
    new = Number()
    truncated = Yes()
    pieces = PieceShape(many=True)


class DiffShape(Shape):
    """Everything that differs."""

    one = SideShape()
    other = SideShape()
    entered = Number()
    left = Number()
    changed = Number()
    unchanged = Number()
    complete = Yes()
    lines = DiffLine(many=True)
    rewritten = RewrittenShape(many=True)


class DiffOne(ApiView):
    """GET /api/sessions/{id}/diff/"""

    @extend_schema(
        responses=DiffShape,
        parameters=[
            query("step", "a step", int),
            VIEW,
            query("to_step", "the other step; the same without it", int),
            query("to_view", "the other view; the same without it"),
        ],
    )
    def get(self, request: Request, uid: UUID) -> Response:
        """Two steps of a view, or one step in two views: what entered, left, has another fate, another text."""
        opened = self.open_view(request, uid)
        step = number_in(request, "step", 1)
        if step is None:
            raise bad_value("query: step", "step is missing.")
        names = (opened.name, text_in(request, "to_view", 80) or opened.name)
        steps = (step, number_in(request, "to_step", 1) or step)
        views = {view.name: view for view in View.objects.filter(session=opened.session, name__in=names)}
        for place, name in zip(("view", "to_view"), names, strict=True):
            if name not in views:
                raise not_found("view of this session", f"query: {place}")
            if views[name].kind == View.Kind.BRANCH:
                raise bad_value(
                    f"query: {place}", "A branch is compared with the view it left on its own page."
                )
        found = diff(opened.session, (views[names[0]], steps[0]), (views[names[1]], steps[1]))
        if found is None:
            raise not_found("step", "query: step")
        return Response(DiffShape(found).data)
