"""What replays a view that has a policy: alone, on top of another view's memory, or as the live memory it was.

An import makes recorded views only and never loads this file, nor what policies are made of.
"""

from __future__ import annotations

from contextlab.core.errors import PolicyError
from contextlab.core.policy import parse_policy
from contextlab.core.projection import TokenCount
from contextlab.core.replayer import Replayer
from contextlab.core.replaying.changed import ChangedReplayer
from contextlab.core.replaying.lived import LiveReplayer
from contextlab.core.timeline import Timeline
from contextlab.services.continuing import beginning_of
from contextlab.services.live.replay import memories_of, policies_of
from contextlab.services.runs import Refused
from contextlab.services.stored import StoredResults
from contextlab.services.texts import SessionTexts
from contextlab.store.models import Session, View


def policy_replayer(
    session: Session, view: View, timeline: Timeline, count: TokenCount | None
) -> Replayer | ChangedReplayer:
    """Under the policy that the view was opened with; raises Refused when it cannot be used any more."""
    if view.kind == View.Kind.LIVE:
        return _live_replayer(session, view, timeline, count)
    try:
        policy = parse_policy(view.policy or {})
    except PolicyError as error:
        raise Refused(f"The policy of this view cannot be used: {error}") from error
    texts = SessionTexts(session)
    if view.base_id is None:
        return Replayer(timeline, policy, count=count, texts=texts, stored=StoredResults(view))
    return Replayer(timeline, policy, count=count, texts=texts, beginning=beginning_of(view))


def _live_replayer(
    session: Session, view: View, timeline: Timeline, count: TokenCount | None
) -> ChangedReplayer:
    """Each step with the memory and under the policy that were in force there."""
    try:
        policies = policies_of(view)
    except PolicyError as error:
        raise Refused(f"A policy of this session cannot be used: {error}") from error
    texts, memories = SessionTexts(session), memories_of(view)
    replayers = [
        (step, LiveReplayer(timeline, policy, memories, count=count, texts=texts))
        for step, policy in policies
    ]
    return ChangedReplayer(replayers)
