"""What all views of the API share: the workspace, the session and view that an address names, numbers in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.views import APIView

from contextlab.api.errors import bad_value, handle, not_found
from contextlab.api.parsing import TextParser
from contextlab.queries.session import ViewLine, find_session, find_view
from contextlab.queries.views import find_layer
from contextlab.services.workspaces import local_workspace
from contextlab.store.models import Session, Workspace

RECORDED = "recorded"
LARGEST = 2**31 - 1
"""Positions and numbers are 32-bit columns: PostgreSQL refuses to compare them with more."""
PAGE = 100
MOST = 1000


class JsonOnly(DefaultContentNegotiation):
    """JSON whatever is asked for: `?format=` is a filter here, not a renderer."""

    def select_renderer(
        self,
        request: Any,  # noqa: ARG002
        renderers: Any,
        format_suffix: str | None = None,  # noqa: ARG002
    ) -> tuple[BaseRenderer, str]:
        """The first renderer, which is the only one."""
        return renderers[0], renderers[0].media_type


class ApiView(APIView):
    """A view that answers every error in the API's own shape."""

    content_negotiation_class = JsonOnly
    parser_classes: Sequence[type[BaseParser]] = (TextParser,)

    def get_exception_handler(self) -> Callable[..., Any]:
        """Ours, whatever the settings say."""
        return handle

    @property
    def workspace(self) -> Workspace:
        """Whose data the request is about: everything that is read or written passes through it."""
        return local_workspace()

    def open_session(self, uid: UUID) -> Session:
        """The session of the address; 404 for those of others."""
        session = find_session(self.workspace.pk, uid)
        if session is None:
            raise not_found("session")
        return session

    def open_view(self, request: Request, uid: UUID) -> Opened:
        """The session, under the view that `?view=` names (the recorded one without it)."""
        session = self.open_session(uid)
        name = text_in(request, "view", 80) or RECORDED
        view = find_view(session, name)
        if view is None and name != RECORDED:
            raise not_found("view of this session", "query: view")
        return Opened(session, name, view)


@dataclass(frozen=True, slots=True)
class Opened:
    """A session under a view; `view` is None while the recorded one has not been made yet."""

    session: Session
    name: str
    view: ViewLine | None

    @property
    def view_id(self) -> int:
        """Key of the view; -1, which no row has, while there is none."""
        return -1 if self.view is None else self.view.id

    def at(self, step: int) -> Opened:
        """The same for a step: what it shares with the view below it is read from there."""
        return self if self.view is None else replace(self, view=find_layer(self.session, self.view, step))

    @property
    def rows(self) -> dict[str, int]:
        """What narrows a table of session rows to this session as it is now."""
        return {"session_id": self.session.pk, "revision": self.session.revision}


def text_in(request: Request, name: str, most: int = 400) -> str:
    """A text of the query, empty when it is missing; 400 for what no database takes."""
    value = request.query_params.get(name, "")
    if len(value) > most:
        raise bad_value(f"query: {name}", f"{name} is longer than {most} characters.")
    if "\x00" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise bad_value(f"query: {name}", f"{name} holds a character that no text can have.")
    return value


def number_in(request: Request, name: str, least: int = 0, most: int = LARGEST) -> int | None:
    """A whole number of the query, None when it is missing; 400 for anything else."""
    value = request.query_params.get(name)
    if value is None:
        return None
    if not (value.isascii() and value.isdigit() and len(value) < 20 and least <= int(value) <= most):
        raise bad_value(f"query: {name}", f"{name} must be a whole number from {least} to {most}.")
    return int(value)


def number_of(value: int, what: str) -> int:
    """A number of the path; 404 for what no column can hold."""
    if value > LARGEST:
        raise not_found(what)
    return value
