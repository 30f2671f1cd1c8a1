"""Opening a live session: the session with its `live` view and an empty memory, before its first event."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from django.db import IntegrityError, transaction
from django.utils import timezone

from contextlab.core.errors import ContextLabError
from contextlab.core.policy import Policy, builtin, parse_policy
from contextlab.queries.policies import known_policy
from contextlab.services.compaction.models import model_status
from contextlab.services.compaction.requests import BadRequest, check_keys
from contextlab.services.compaction.stored import pack
from contextlab.services.live.log import new_file
from contextlab.services.live.memory import empty
from contextlab.store.models import (
    LiveSession,
    LiveVersion,
    LogFile,
    MemoryVersion,
    Session,
    View,
    Workspace,
)

LIVE = "live"
FORMAT = "contextlab-events"
KEEP_ALL = "keep-all"
LENGTHS = {"id": 200, "name": 300, "project": 400, "model": 120}
KEYS = (*LENGTHS, "policy", "allow_model")


@dataclass(frozen=True, slots=True)
class LiveWish:
    """What an agent wants of its session."""

    policy: Policy
    id: str = ""
    """The agent's own name of it: the same one again is the same session."""
    name: str = ""
    project: str = ""
    model: str = ""
    allow_model: bool = False
    """Automatic compactions may ask the model: an explicit opt-in, never a default."""


def read_wish(values: Any, workspace_id: int) -> LiveWish:
    """A wish from its values; raises BadRequest. `policy` is a name or a document; without one all is kept."""
    allow = read_opt_in(values, KEYS)
    texts = {name: _text(values, name) for name in LENGTHS}
    policy = read_policy(values.get("policy"), workspace_id)
    check_model(policy, allow)
    return LiveWish(policy, allow_model=allow, **texts)


def read_opt_in(values: Any, keys: Collection[str]) -> bool:
    """Whether a request allows the model (`allow_model`); raises BadRequest unless it is an object of these keys."""
    check_keys(values, keys)
    allow = values.get("allow_model", False)
    if not isinstance(allow, bool):
        raise BadRequest("allow_model", "allow_model must be true or false.")
    return allow


def read_policy(given: object, workspace_id: int) -> Policy:
    """The policy of a name or a document; raises BadRequest."""
    try:
        if given in (None, ""):
            return builtin(KEEP_ALL)
        if isinstance(given, str):
            return known_policy(workspace_id, given)
        if isinstance(given, Mapping):
            return parse_policy(given)
    except ContextLabError as error:
        raise BadRequest("policy", f"{error}.") from error
    raise BadRequest("policy", "The policy must be a name or a policy document.")


def check_model(policy: Policy, allowed: bool) -> None:
    """Refuse an opt-in that nothing can come of: raises BadRequest where no model can be asked."""
    if allowed and policy.needs_model and (reason := model_status().reason):
        raise BadRequest("allow_model", f"{reason} The policy rule-based needs no model.")


def open_live(workspace: Workspace, wish: LiveWish) -> tuple[View, bool]:
    """The live view, and whether it is new; raises BadRequest where another session has that id."""
    native = wish.id or f"live-{uuid4().hex}"
    if (known := _known(workspace, native)) is not None:
        return known, False
    try:
        with transaction.atomic():
            return _made(workspace, native, wish), True
    except IntegrityError:
        known = _known(workspace, native)
        if known is None:
            raise
        return known, False


def _known(workspace: Workspace, native: str) -> View | None:
    session = Session.objects.filter(workspace=workspace, format=FORMAT, native_id=native).first()
    if session is None:
        return None
    view = session.views.filter(kind=View.Kind.LIVE).first()
    if view is None:
        raise BadRequest("id", f"{native!r} is a session that was imported; a live one needs another id.")
    return view


def _made(workspace: Workspace, native: str, wish: LiveWish) -> View:
    uid = uuid4()
    file: LogFile = new_file(uid.hex, wish.name)
    file.workspace = workspace
    file.save()
    session = Session.objects.create(
        uid=uid, workspace=workspace, file=file, native_id=native, format=FORMAT, title=wish.name,
        title_origin="record" if wish.name else "", project=wish.project, model=wish.model, counted=True,
        sort_at=timezone.now(), started_at=timezone.now(),
    )  # fmt: skip
    view = View.objects.create(
        session=session, kind=View.Kind.LIVE, name=LIVE, policy=dict(wish.policy.document),
        policy_hash=wish.policy.hash, revision=session.revision, stale=False, counted=True,
    )  # fmt: skip
    LiveSession.objects.create(view=view, allow_model=wish.allow_model)
    held = empty(view)
    first = MemoryVersion.objects.create(
        view=view,
        version=1,
        created_by=MemoryVersion.Origin.BASE,
        tokens=0,
        token_source="counted",  # noqa: S106 - no password
        payload=pack(held, ()),
    )
    LiveVersion.objects.create(memory=first, step=1, upto=0)
    return view


def _text(values: Mapping[str, Any], name: str) -> str:
    value = values.get(name)
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > LENGTHS[name] or (value and not value.isprintable()):
        raise BadRequest(name, f"{name} must be a text of at most {LENGTHS[name]} characters on one line.")
    return value.strip()
