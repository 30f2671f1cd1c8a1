"""What the pages of a session have in common: the session and the view that an address names, and numbers in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode
from uuid import UUID

from django.http import Http404, HttpRequest
from django.urls import register_converter, reverse
from django.urls.converters import IntConverter

from contextlab.core.policy import BUILTINS
from contextlab.queries import policies, views
from contextlab.queries.live import live_name
from contextlab.queries.runs import RunView, run_view
from contextlab.queries.session import ViewLine, find_session, find_view
from contextlab.queries.step import Seen
from contextlab.services.opening import open_view
from contextlab.store.models import Session
from contextlab.tasks import ring
from contextlab.web.workspace import workspace_of

RECORDED = "recorded"
LARGEST = 2**31 - 1
"""Positions and step numbers are 32-bit columns; PostgreSQL refuses to compare them with more."""

VIEW_WORDS = {RECORDED: "the session as its own log says it went", **policies.WORDS}
ON_TOP = "the rest of the log on top of a branch's memory, or a policy of yours"
LIVED = "what the agent was given at each step"
OWN_SHOWN = 6
"""Policies of the workspace in the view switch; all of them stand on the policies page."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A session seen under one view. `view` is None while it has never been projected."""

    session: Session
    name: str
    view: ViewLine | None
    live: bool = False
    """It is the view that the session's own agent lives in."""
    run: RunView | None = None
    """The run that makes the view or brings it up to date, on pages that ask for that."""

    @property
    def view_id(self) -> int | None:
        """Key of the view, None while there is none."""
        return self.view.id if self.view else None

    @property
    def seen(self) -> Seen:
        """The same for queries."""
        return Seen(self.session.pk, self.session.revision, self.view_id, self.name == RECORDED)

    def at(self, step: int) -> Opened:
        """The same for a step: what it shares with the view below it is read from there."""
        return (
            self if self.view is None else replace(self, view=views.find_layer(self.session, self.view, step))
        )

    @property
    def query(self) -> str:
        """`?view=...` for links to other pages of the session; empty for the recorded view."""
        return "" if self.name == RECORDED else "?" + urlencode({"view": self.name})

    @property
    def more(self) -> str:
        """`&view=...` for addresses that have a query already."""
        return self.query.replace("?", "&", 1)


@dataclass(frozen=True, slots=True)
class ViewLink:
    """A view to switch to."""

    label: str
    words: str
    address: str
    on: bool


def open_session(request: HttpRequest, uid: UUID) -> Opened:
    """The session and the view that the request names; 404 for others, and for views that do not exist."""
    session = find_session(workspace_of(request).pk, uid)
    if session is None:
        raise Http404("There is no such session.")
    name = request.GET.get("view") or RECORDED
    if not views.can_open(session, name):
        raise Http404("There is no such view: " + ", ".join(VIEW_WORDS) + " are known.")
    return Opened(session, name, find_view(session, name), views.is_live(session, name))


def open_beside(request: HttpRequest, uid: UUID) -> Opened:
    """The session, for a page that has a field called `view`: a memory to read, which may be one that no page can be
    seen in, as a branch is. Its links lead to the view of that name where there is one, else to the recorded one."""
    session = find_session(workspace_of(request).pk, uid)
    if session is None:
        raise Http404("There is no such session.")
    name = request.GET.get("view") or RECORDED
    shown = name if views.can_open(session, name) else RECORDED
    return Opened(session, shown, find_view(session, shown), views.is_live(session, shown))


def open_page(request: HttpRequest, uid: UUID) -> Opened:
    """The same, and whatever is missing of the view is asked for: a view is made when somebody looks at it."""
    opened = open_session(request, uid)
    session = opened.session
    wanted = views.hash_of(session, opened.name)
    if not session.steps or (opened.view and opened.view.is_current(session, wanted)):
        return opened
    _, run = open_view(session, opened.name)
    if run is None:
        return replace(opened, view=find_view(session, opened.name))
    ring([run])
    return replace(opened, run=run_view(session.workspace_id, run.uid))


def view_links(opened: Opened, page: str, *place: int) -> Sequence[ViewLink]:
    """The views that this page can be seen in; the place in it stays."""
    address = reverse(page, args=[opened.session.uid, *place])
    own = policies.own_names(opened.session.workspace_id, OWN_SHOWN)
    lived = live_name(opened.session)
    return [
        ViewLink(
            "as recorded" if name == RECORDED else name,
            _words(name, lived),
            address if name == RECORDED else f"{address}?{urlencode({'view': name})}",
            name == opened.name,
        )
        for name in dict.fromkeys([RECORDED, *([lived] if lived else []), *BUILTINS, *own, opened.name])
    ]


def _words(name: str, lived: str | None) -> str:
    """What a view is, in words."""
    if name == lived:
        return LIVED
    return VIEW_WORDS.get(name) or (ON_TOP if views.BETWEEN in name else "a policy of yours, or a preset")


class PlaceConverter(IntConverter):
    """A step, turn or position in an address: more digits than a column holds lead nowhere."""

    regex = "[0-9]{1,9}"


register_converter(PlaceConverter, "place")


def number_in(request: HttpRequest, name: str) -> int | None:
    """A whole number of the query, None when it is missing or nonsense; never beyond what a column holds."""
    value = request.GET.get(name, "")
    return min(int(value), LARGEST) if value.isascii() and value.isdigit() and len(value) < 20 else None
