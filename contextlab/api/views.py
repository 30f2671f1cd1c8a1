"""The views of a session: those that there are, and asking for one that is not there yet."""

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
from contextlab.api.base import ApiView
from contextlab.api.errors import bad_value
from contextlab.core.errors import PolicyError
from contextlab.queries.views import BETWEEN, can_open, views_of
from contextlab.services.opening import open_view

LONGEST = 120
KEYS = ("policy", "branch")


class ViewList(ApiView):
    """GET and POST /api/sessions/{id}/views/"""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, uid: UUID) -> Response:  # noqa: ARG002
        """The views that there are; those with a `base` share the steps before `base_step` with it."""
        return Response({"results": [asdict(one) for one in views_of(self.open_session(uid))]})

    @extend_schema(
        request=OpenApiTypes.OBJECT, responses={200: OpenApiTypes.OBJECT, 202: OpenApiTypes.OBJECT}
    )
    def post(self, request: Request, uid: UUID) -> Response:
        """Have a view made: of a `policy`, or with a `branch` of the rest of the log on top of that branch's memory.

        `run` is the run that makes it; null where it is there and as new as its session.
        """
        session = self.open_session(uid)
        name = _name(request.data)
        if not can_open(session, name):
            raise bad_value("body", f"The session has no such branch, or there is no such policy: {name!r}.")
        try:
            with transaction.atomic():
                view, run = open_view(session, name)
                if run is not None:
                    tasks.ring([run])
        except PolicyError as error:
            raise bad_value("body: policy", f"The policy cannot be used: {error}.") from error
        answer = {"name": view.name, "run": run.uid if run else None}
        return Response(answer, status=202 if run else 200)


def _name(body: Any) -> str:
    """The view's name, of a body."""
    if not isinstance(body, dict):
        raise bad_value("body", "The body must be an object.")
    if unknown := [str(key) for key in body if key not in KEYS]:
        raise bad_value(f"body: {unknown[0][:80]}", f"There is no such key; known: {', '.join(KEYS)}.")
    for key in KEYS:
        value = body.get(key)
        wrong = value is not None and not (isinstance(value, str) and value.isprintable())
        if wrong or len(value or "") > LONGEST or (key == "policy" and not value):
            raise bad_value(f"body: {key}", f"{key} must be a name of at most {LONGEST} characters.")
    return BETWEEN.join(filter(None, (body.get("branch"), body["policy"])))
