"""Originals that compactions put aside: listed, read, and reloaded by a model through its own tool."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from contextlab.api.base import ApiView
from contextlab.api.errors import not_found
from contextlab.api.paging import page
from contextlab.api.schema import CURSOR, LIMIT
from contextlab.core.agent.reload_tool import ReloadTool
from contextlab.queries.keyset import Key
from contextlab.queries.offloads import OffloadLine, offload_lines
from contextlab.services.compaction import OriginalsOf
from contextlab.store.models import OffloadRecord
from contextlab.store.offloads import DjangoOffloadStore

COLUMNS = ("offload",)


class OffloadList(ApiView):
    """GET /api/sessions/{id}/offloads/"""

    @extend_schema(responses=OpenApiTypes.OBJECT, parameters=[CURSOR, LIMIT])
    def get(self, request: Request, uid: UUID) -> Response:
        """The originals that compactions of the session put aside, oldest first; a compaction lists its own.

        `positions` are runs of items of the log, first and last; `words` is how the first one begins. null is unknown.
        """
        session = self.open_session(uid)
        found = page(request, OffloadRecord.objects.filter(session=session), [Key("id", int)], COLUMNS, dict)
        lines = offload_lines(session, [row["id"] for row in found["results"]])
        return Response(found | {"results": [_line(line) for line in lines]})


class OffloadOne(ApiView):
    """GET /api/offloads/{id}/"""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, name: str) -> Response:  # noqa: ARG002
        """The originals under an id, as items and as the text that the model's own reload tool gives."""
        store = DjangoOffloadStore(self.workspace)
        items = () if "\x00" in name else store.get(name)
        if not items:
            raise not_found("offloaded original")
        rows = [
            {"id": item.id, "kind": str(item.kind), "tool": item.tool, "text": item.text} for item in items
        ]
        return Response({"id": name, "items": rows, "text": ReloadTool(store).call(name)})


class Reload(ApiView):
    """GET and POST /api/sessions/{id}/reload/"""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, uid: UUID) -> Response:  # noqa: ARG002
        """The tool to offer to a model: name, description and the JSON Schema of its arguments."""
        self.open_session(uid)
        return Response(ReloadTool(None).schema)

    @extend_schema(request=OpenApiTypes.OBJECT, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, uid: UUID) -> Response:
        """The answer to a call of the tool, its arguments as the body: a text, also where there is nothing to give.

        It gives what the session or a relative put aside, and what the session's memory points to.
        """
        session = self.open_session(uid)
        arguments = request.data if isinstance(request.data, dict) else {}
        return Response({"text": ReloadTool(OriginalsOf(session)).answer(arguments)})


def _line(line: OffloadLine) -> dict[str, Any]:
    return {
        "id": line.id,
        "reason": line.reason,
        "created_at": line.at,
        "compaction": line.run,
        "items": line.items,
        "positions": line.places,
        "chars": line.chars,
        "tokens": line.tokens,
        "token_source": None if line.tokens is None else "counted",
        "words": line.words or None,
    }
