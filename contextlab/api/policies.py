"""Policies: those of the package and the workspace's own, kept in versions; checking a document; its JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from contextlab.api.base import ApiView, number_in
from contextlab.api.errors import ApiError, not_found
from contextlab.api.schema import query
from contextlab.core.documents.policy_schema import policy_schema
from contextlab.core.documents.policy_text import PolicyTextError, parse_policy_text
from contextlab.core.errors import PolicyError
from contextlab.core.policy import parse_policy
from contextlab.queries import policies as reads
from contextlab.services import policies as service
from contextlab.store.models import PolicyDocument

TEXT = "text"
"""Key of a body that holds a document as text (JSON or TOML, comments are kept) instead of being one."""


class PolicyList(ApiView):
    """GET and POST /api/policies/"""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request) -> Response:  # noqa: ARG002
        """All policies: the workspace's own, those that come with the package, the presets; and the parts that
        documents are made of, plug-ins of others among them."""
        lines = [*reads.own_policies(self.workspace.pk), *reads.package_policies()]
        parts = [asdict(part) for part in reads.installed_parts()]
        return Response({"results": [line_values(line) for line in lines], "parts": parts})

    @extend_schema(request=OpenApiTypes.OBJECT, responses={201: OpenApiTypes.OBJECT})
    def post(self, request: Request) -> Response:
        """Keep a policy: the body is the document, or `{"text": ...}` with it as JSON or TOML text."""
        with refusals():
            made = service.create(self.workspace, text_of(request.data))
        return Response(self.values(made), status=201)

    def values(self, policy: PolicyDocument) -> dict[str, Any]:
        """A policy with its document and versions."""
        return page_values(self, policy.uid)


class PolicyOne(ApiView):
    """GET, PUT and DELETE /api/policies/{id}/"""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, uid: UUID) -> Response:  # noqa: ARG002
        """One of the workspace's policies with its document and versions."""
        return Response(page_values(self, uid))

    @extend_schema(
        request=OpenApiTypes.OBJECT,
        responses=OpenApiTypes.OBJECT,
        parameters=[query("version", "the version that was read; 409 where another is in force", kind=int)],
    )
    def put(self, request: Request, uid: UUID) -> Response:
        """Save a new version; the same text again is none."""
        found = self.find(uid)
        version = number_in(request, "version", 1)
        try:
            with refusals():
                service.save(found, text_of(request.data), found.version if version is None else version)
        except service.Stale as error:
            words = f"Version {found.version} is in force; nothing was written."
            raise ApiError(409, words, place="query: version") from error
        return Response(page_values(self, uid))

    @extend_schema(responses={200: OpenApiTypes.OBJECT})
    def delete(self, request: Request, uid: UUID) -> Response:  # noqa: ARG002
        """Remove a policy with its versions and views."""
        found = self.find(uid)
        service.delete(found)
        return Response({"deleted": str(uid)})

    def find(self, uid: UUID) -> PolicyDocument:
        """One of the workspace's policies; 404 for others."""
        found = service.find(self.workspace, uid)
        if found is None:
            raise not_found("policy")
        return found


class PolicyCheck(ApiView):
    """POST /api/policies/validate/"""

    @extend_schema(request=OpenApiTypes.OBJECT, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request) -> Response:
        """Whether a document can be used here; nothing is kept. What is wrong is told with its key and line."""
        try:
            policy = _parsed(request.data)
        except PolicyError as error:
            line = getattr(error, "line", None)
            return Response(
                {"valid": False, "error": {"message": _message(error), "place": error.place, "line": line}}
            )
        told = {"name": policy.name, "hash": policy.hash, "does": reads.in_words(policy.document)}
        compacts = policy.compaction is not None
        return Response({"valid": True, **told, "compacts": compacts, "needs_model": policy.needs_model})


class PolicySchema(ApiView):
    """GET /api/policies/schema/"""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request) -> Response:  # noqa: ARG002
        """The JSON Schema of policy documents, with the plug-ins that are installed here."""
        return Response(policy_schema())


def page_values(view: ApiView, uid: UUID) -> dict[str, Any]:
    """A policy with its document and versions; 404 for those of others."""
    page = reads.policy_page(view.workspace.pk, uid)
    if page is None:
        raise not_found("policy")
    versions = [
        {"version": one.version, "name": one.name, "hash": one.policy_hash, "created_at": one.created_at}
        for one in page.versions
    ]
    return line_values(page.line) | {
        "document": page.document, "text": page.text, "hash": page.policy_hash, "created_at": page.created_at,
        "versions": versions,
    }  # fmt: skip


def line_values(line: reads.PolicyLine) -> dict[str, Any]:
    """A policy as a row of the list; id and version are null for those of the package."""
    values = asdict(line)
    return {"id": values.pop("uid"), **values}


def text_of(data: Any) -> str:
    """The document of a body as text; raises PolicyTextError."""
    if isinstance(data, Mapping) and isinstance(data.get(TEXT), str) and len(data) == 1:
        return str(data[TEXT])
    if not isinstance(data, Mapping):
        raise PolicyTextError(f"a policy is an object with keys, not {type(data).__name__}")
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


@contextmanager
def refusals() -> Iterator[None]:
    """What is wrong with a document, as an answer with its place."""
    try:
        yield
    except PolicyError as error:
        place = f"body: {error.place}" if error.place else "body"
        raise ApiError(400, _message(error), code="bad_policy", place=place) from error
    except service.TooMany as error:
        raise ApiError(400, str(error), code="too_many") from error


def _parsed(data: Any) -> Any:
    # A document that is an object is not written as text first: its places have no lines.
    if isinstance(data, Mapping) and TEXT not in data:
        return parse_policy(data)
    return parse_policy_text(text_of(data))


def _message(error: PolicyError) -> str:
    return str(error).removeprefix(f"{error.place}: ")
