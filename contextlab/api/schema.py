"""Words for the OpenAPI description that several views use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from drf_spectacular.utils import OpenApiParameter, inline_serializer
from rest_framework import serializers

from contextlab.api.shapes import RunShape, Shape


def query(
    name: str, words: str, kind: type = str, enum: Sequence[str] | None = None, many: bool = False
) -> OpenApiParameter:
    """A parameter of the query."""
    return OpenApiParameter(name, kind, OpenApiParameter.QUERY, description=words, enum=enum, many=many)


CURSOR = query("cursor", "the place to go on from, taken from `next` or `previous`")
LIMIT = query("limit", "rows of a page, 1 to 1,000; 100 without it", kind=int)
VIEW = query("view", "name of a view; `recorded` without it")


def paged(shape: type[Shape]) -> Any:
    """A page of rows with the addresses of its neighbours."""
    fields = {
        "results": shape(many=True),
        "next": serializers.URLField(allow_null=True),
        "previous": serializers.URLField(allow_null=True),
    }
    return inline_serializer(f"{shape.__name__.removesuffix('Shape')}Page", fields)


QUEUED = inline_serializer("Queued", {"runs": RunShape(many=True)})
"""What sending a log answers."""
