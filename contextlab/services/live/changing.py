"""Another policy for a live session, while it goes.

| what                     | becomes                                                                                  |
|--------------------------|------------------------------------------------------------------------------------------|
| steps before             | stay as they went; the first one under the new policy is the next that has no memory yet  |
| memory and its versions  | stay; a compaction that is under way goes on as it was asked for                          |
| decisions                | are made by the new policy, that of the next step at once; breakers are closed            |
| the opt-in for the model | was for the policy that was: it is taken back unless it is given again                    |
| the change itself        | is a row beside the decision log, with its time and step                                  |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import transaction

from contextlab.core.policy import Policy
from contextlab.services import opening
from contextlab.services.compaction.requests import BadRequest
from contextlab.services.live.auto import Evaluated, evaluate
from contextlab.services.live.opening import check_model, read_opt_in, read_policy
from contextlab.services.live.versions import coming_step, lock
from contextlab.store.models import LiveSession, PolicyChange, Run, View

KEYS = ("policy", "allow_model")


@dataclass(frozen=True, slots=True)
class PolicyWish:
    """The policy that a session shall have."""

    policy: Policy
    allow_model: bool = False
    """Its automatic compactions may ask the model."""


@dataclass(frozen=True, slots=True)
class Changed:
    """What came of it."""

    step: int | None
    """The first step under the new policy; None: it is the one that was."""
    decision: Evaluated | None
    """Of the new policy, before the next step; None where it never compacts, or nothing was changed."""
    queued: list[Run]


def read_policy_wish(values: Any, workspace_id: int) -> PolicyWish:
    """A wish from its values; raises BadRequest with the place that is wrong."""
    allow = read_opt_in(values, KEYS)
    if not values.get("policy"):
        raise BadRequest("policy", "Which policy? A name or a policy document.")
    wish = PolicyWish(read_policy(values["policy"], workspace_id), allow)
    check_model(wish.policy, allow)
    return wish


def change_policy(view: View, wish: PolicyWish) -> Changed:
    """Give a live session another policy from its next step on; the same one again changes nothing."""
    with transaction.atomic():
        view = lock(view)
        document = dict(wish.policy.document)
        if (view.policy_hash, (view.policy or {}).get("name")) == (wish.policy.hash, document.get("name")):
            LiveSession.objects.filter(view=view).update(allow_model=wish.allow_model)
            return Changed(None, None, [])
        step = coming_step(view.live, view.session)
        PolicyChange.objects.create(view=view, step=step, before=view.policy or {}, policy=document)
        view.policy, view.policy_hash, view.stale = document, wish.policy.hash, True
        view.version += 1  # whoever is making it under the old policy begins anew
        view.save(update_fields=["policy", "policy_hash", "stale", "version"])
        LiveSession.objects.filter(view=view).update(allow_model=wish.allow_model)
    view.live.refresh_from_db()
    decision = evaluate(view)
    queued = opening.follow(view.session, [view]) if view.session.steps else []
    return Changed(step, decision, [*(decision.queued if decision else []), *queued])
