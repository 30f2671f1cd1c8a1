"""User memories: of one user, by hand and by a model's tools; every address names the user whose they are."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.db import transaction
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from contextlab import tasks
from contextlab.api.base import ApiView, text_in
from contextlab.api.errors import bad_value, not_found
from contextlab.api.memories import object_in, refusals
from contextlab.api.runs import run_values
from contextlab.api.schema import query
from contextlab.core.memory_keeping.user_memories import DEFAULT_USER, TOOL_NAMES
from contextlab.queries import user_memories as reads
from contextlab.services.memories import users
from contextlab.store.models import Run, UserMemoryRecord

USER = query("user", "the user's name; `default` without it")


class UserMemoryList(ApiView):
    """GET and POST /api/user-memories/"""

    @extend_schema(
        responses=OpenApiTypes.OBJECT, parameters=[USER, query("all", "1: also those that do not stand")]
    )
    def get(self, request: Request) -> Response:
        """A user's memories, newest first."""
        found = reads.user_memories(self.workspace.pk, user_in(request), text_in(request, "all") == "1")
        return Response({"results": [line_values(line) for line in found]})

    @extend_schema(request=OpenApiTypes.OBJECT, responses={201: OpenApiTypes.OBJECT})
    def post(self, request: Request) -> Response:
        """Add one: keys user, memory, topics."""
        given = object_in(request)
        with refusals():
            made = users.add(self.workspace, named(given), _text(given, "memory"), topics_in(given) or ())
        return Response(one_values(self, UUID(made.id)), status=201)


class UserMemoryOne(ApiView):
    """GET, PUT and DELETE /api/user-memories/{id}/, POST .../undo/"""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, uid: UUID) -> Response:  # noqa: ARG002
        """One memory with its history."""
        return Response(one_values(self, uid))

    @extend_schema(request=OpenApiTypes.OBJECT, responses=OpenApiTypes.OBJECT)
    def put(self, request: Request, uid: UUID) -> Response:
        """Replace its text (and topics where they are given); the earlier text stays in the history."""
        given, row = object_in(request), self.row(uid)
        with refusals():
            users.edit(row, _text(given, "memory"), topics_in(given))
        return Response(one_values(self, uid))

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def delete(self, request: Request, uid: UUID) -> Response:  # noqa: ARG002
        """Take it away; undo brings it back."""
        with refusals():
            users.delete(self.row(uid))
        return Response(one_values(self, uid))

    def row(self, uid: UUID) -> UserMemoryRecord:
        """One of the workspace's; 404 for others."""
        found = UserMemoryRecord.objects.filter(workspace=self.workspace, uid=uid).first()
        if found is None:
            raise not_found("user memory")
        return found


class UserMemoryUndo(UserMemoryOne):
    """POST /api/user-memories/{id}/undo/"""

    http_method_names = ["post", "options"]  # noqa: RUF012 - Django reads a plain list

    @extend_schema(request=None, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, uid: UUID) -> Response:  # noqa: ARG002
        """Take the last thing back that happened to it; of a merge the memories that it was made of stand again."""
        with refusals():
            users.undo(self.row(uid))
        return Response(one_values(self, uid))


class UserMemoryMerge(UserMemoryList):
    """POST /api/user-memories/merge/"""

    http_method_names = ["post", "options"]  # noqa: RUF012 - Django reads a plain list

    @extend_schema(request=OpenApiTypes.OBJECT, responses={201: OpenApiTypes.OBJECT})
    def post(self, request: Request) -> Response:
        """Make one of several without a model, texts joined: keys user, ids. Undo brings them back."""
        given = object_in(request)
        ids = given.get("ids")
        if not isinstance(ids, list) or not all(isinstance(one, str) for one in ids):
            raise bad_value("body: ids", "ids must be a list of the memories' ids.")
        with refusals():
            made = users.merge(self.workspace, named(given), ids)
        return Response(one_values(self, UUID(made.id)), status=201)


class UserMemoryWork(ApiView):
    """POST /api/user-memories/optimise/ and .../remember/"""

    action = "optimise"

    @extend_schema(request=OpenApiTypes.OBJECT, responses={202: OpenApiTypes.OBJECT})
    def post(self, request: Request) -> Response:
        """Let the model make many into one, or keep what was `said`: keys user, said, confirm. 202: the run."""
        given = object_in(request)
        confirm = given.get("confirm") is True
        with refusals(), transaction.atomic():
            run, new = self._asked(given, confirm)
            if new:
                tasks.ring([run])
        return Response(run_values(self.workspace, run.uid), status=202)

    def _asked(self, given: dict[str, Any], confirm: bool) -> tuple[Run, bool]:
        if self.action == "optimise":
            return users.request_optimising(self.workspace, named(given), confirm)
        return users.request_remembering(self.workspace, named(given), _text(given, "said"), confirm)


class UserMemoryTools(ApiView):
    """GET and POST /api/user-memories/tools/"""

    @extend_schema(responses=OpenApiTypes.OBJECT, parameters=[USER])
    def get(self, request: Request) -> Response:
        """The tools that a model is given for a user's memories, those that are switched on."""
        return Response({"tools": users.manager_of(self.workspace).tools(user_in(request)).schemas})

    @extend_schema(request=OpenApiTypes.OBJECT, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request) -> Response:
        """Carry out a model's call: keys user, tool, arguments. The answer is a text for the model, always."""
        given = object_in(request)
        arguments = given.get("arguments", {})
        if not isinstance(arguments, str | dict):
            raise bad_value("body: arguments", "arguments must be an object, or its JSON text.")
        name = str(given.get("tool", ""))[:80]
        if name not in TOOL_NAMES:
            raise bad_value("body: tool", f"There is no such tool; known: {', '.join(TOOL_NAMES)}.")
        tools = users.manager_of(self.workspace).tools(named(given))
        return Response({"answer": tools.answer(name, arguments), "changed": tools.changed})


def user_in(request: Request) -> str:
    """The user of the address."""
    return text_in(request, "user", 200) or DEFAULT_USER


def named(given: dict[str, Any]) -> str:
    """The user of a body."""
    user = given.get("user", DEFAULT_USER)
    if not isinstance(user, str) or not user.strip() or len(user) > 200 or "\0" in user:
        raise bad_value("body: user", "user must be a name of at most 200 characters.")
    return user.strip()


def topics_in(given: dict[str, Any]) -> list[str] | None:
    """The topics of a body, None where there are none."""
    topics = given.get("topics")
    if topics is None:
        return None
    if not isinstance(topics, list) or not all(isinstance(one, str) and "\0" not in one for one in topics):
        raise bad_value("body: topics", "topics must be a list of texts.")
    return topics


def line_values(line: reads.UserMemoryLine) -> dict[str, Any]:
    """A memory as a row."""
    values = asdict(line)
    values.pop("versions")
    return {"id": values.pop("uid"), **values}


def one_values(view: ApiView, uid: UUID) -> dict[str, Any]:
    """A memory with its history; 404 for those of others."""
    found = reads.user_memory(view.workspace.pk, uid)
    if found is None:
        raise not_found("user memory")
    return line_values(found) | {"versions": [asdict(one) for one in found.versions]}


def _text(given: dict[str, Any], name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str):
        raise bad_value(f"body: {name}", f"{name} must be a text.")
    return value
