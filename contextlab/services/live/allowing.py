"""The opt-in of a live session: whether its automatic compactions may ask the model, once its cost was seen."""

from __future__ import annotations

from dataclasses import replace

from contextlab.core.errors import PolicyError
from contextlab.core.policy import Policy, parse_policy
from contextlab.services.compaction.planning import preview
from contextlab.services.compaction.requests import BadRequest, CompactRequest
from contextlab.services.compaction.values import Preview
from contextlab.services.live.opening import check_model
from contextlab.store.models import LiveSession, View


def foreseen_cost(view: View) -> Preview:
    """What a compaction of the memory as it is now would read, write and cost; asks nobody. Raises BadRequest."""
    told = preview(view.session, CompactRequest(_policy(view), view.name))
    return replace(told, items=())


def allow_model(view: View, allowed: bool) -> None:
    """Allow it, or take that back; raises BadRequest where no model can be asked."""
    check_model(_policy(view), allowed)
    LiveSession.objects.filter(view=view).update(allow_model=allowed)


def _policy(view: View) -> Policy:
    try:
        return parse_policy(view.policy or {})
    except PolicyError as error:
        raise BadRequest("policy", f"The policy of this session cannot be used: {error}.") from error
