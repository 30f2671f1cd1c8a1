"""Automatic compaction of a live session: whether it is due before the next step, and what comes of that.

| what      | rule                                                                                            |
|-----------|-------------------------------------------------------------------------------------------------|
| evaluated | once all results are in that the last step called for: memory is what the next step gets        |
| due       | a run is queued, as any compaction is: it commits a version that the agent gets with its next   |
|           | memory; on failure memory is as it was                                                          |
| not tried | while one is under way, until memory has changed (cool_down), and while a breaker is open       |
| a model   | is asked only where whoever opened the session allowed it                                       |

Nothing here reaches the agent: what goes wrong stands in the decision log.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db import DatabaseError, transaction
from django.utils import timezone

from contextlab.core.compaction import Decision, Deps
from contextlab.core.errors import PolicyError
from contextlab.core.items import Item, Kind
from contextlab.core.policy import Policy, parse_policy
from contextlab.core.projection import NONE, is_prompt, last_index, pair_up
from contextlab.core.replaying.decisions import FAILED, NEEDS_MODEL, NOT_DUE, PAUSED, QUEUED
from contextlab.services.compaction.asking import request_compaction
from contextlab.services.compaction.given import count_of
from contextlab.services.compaction.held import Held
from contextlab.services.compaction.models import model_status
from contextlab.services.compaction.requests import BadRequest, CompactRequest
from contextlab.services.live.deciding import note, settle
from contextlab.services.live.history import history_of
from contextlab.services.live.memory import read_live
from contextlab.services.live.told import Told
from contextlab.services.live.versions import lock
from contextlab.store.models import FINISHED, CompactionJob, Run, StepRecord, View

UNDER_WAY = "under_way"
NOT_ALLOWED = "not_allowed"
WAITING = "waiting"
"""Not evaluated yet: results are awaited."""


@dataclass(slots=True)
class Evaluated:
    """The decision before a step."""

    step: int
    outcome: str
    reason: str = ""
    decision: Decision | None = None
    queued: list[Run] = field(default_factory=list)


def evaluate(view: View) -> Evaluated | None:
    """Decide before the session's next step; None for a policy that never compacts. Raises nothing."""
    try:
        policy = parse_policy(view.policy or {})
    except PolicyError as error:
        return _noted(view, Evaluated(view.session.steps + 1, FAILED, f"the policy cannot be used: {error}"))
    if policy.compaction is None:
        return None
    with transaction.atomic():
        asked, view = view.policy_hash, lock(view)
        if view.policy_hash != asked:  # it was changed since the view was read
            return evaluate(view)
        settle(view)
        held = read_live(view)
        if _awaits_results(held):
            return Evaluated(held.at_step, WAITING)
        return _noted(view, _safely_decided(view, policy, held))


def note_told(view: View, told: Sequence[Told]) -> None:
    """Keep the decisions that an agent made itself, of a session whose policy leaves them to it."""
    if not told:
        return
    with transaction.atomic():
        view = lock(view)
        for one in told:
            note(view, one.step, one.decision, one.outcome, one.reason)


def deps_of(held: Held) -> Deps:
    """What a rule may look at."""
    since = held.version.created_at if held.version is not None else None
    age = (timezone.now() - since).total_seconds() if since is not None else None
    return Deps(count=count_of(held), age=age)


def under_way(view: View) -> Run | None:
    """The newest compaction of the view that has not ended."""
    jobs = CompactionJob.objects.filter(base_view=view).exclude(run__state__in=FINISHED)
    job = jobs.select_related("run").order_by("-id").first()
    return job.run if job is not None else None


def _noted(view: View, found: Evaluated) -> Evaluated:
    note(view, found.step, found.decision, found.outcome, found.reason)
    return found


def _safely_decided(view: View, policy: Policy, held: Held) -> Evaluated:
    """A policy or a trigger may be a stranger's, and compaction is not the agent's work."""
    try:
        return _decided(view, policy, held)
    except DatabaseError:
        raise
    except Exception as error:
        return Evaluated(held.at_step, FAILED, f"{type(error).__name__}: {error}")


def _decided(view: View, policy: Policy, held: Held) -> Evaluated:
    deps = deps_of(held)
    decision = policy.decide(held.snapshot, deps)
    found = Evaluated(held.at_step, NOT_DUE, decision=decision)
    if not decision.due:
        return found
    found.outcome = PAUSED
    if under_way(view) is not None:
        found.reason = UNDER_WAY
        return found
    found.reason = history_of(view, policy, deps).pause(held, decision, deps)
    if not found.reason:
        _ask(view, policy, found)
    return found


def _ask(view: View, policy: Policy, found: Evaluated) -> None:
    """Queue the compaction, where it may be made."""
    allowed = view.live.allow_model
    if policy.needs_model and (reason := model_status().reason if allowed else NOT_ALLOWED):
        found.outcome, found.reason = NEEDS_MODEL, reason
        return
    request = CompactRequest(policy, view.name, confirm=allowed and policy.needs_model, trigger="auto")
    try:
        run, _ = request_compaction(view.session, request)
    except BadRequest as error:
        found.outcome, found.reason = FAILED, str(error)
        return
    decision = found.decision or Decision(True, "")
    told = {
        "step": found.step, "rule": decision.rule, "estimate": decision.estimate, "threshold": decision.threshold,
    }  # fmt: skip
    run.params = {**run.params, "decision": told}
    run.save(update_fields=["params"])
    found.outcome, found.queued = QUEUED, [run]


def _awaits_results(held: Held) -> bool:
    """Whether a call of the last step has no result yet: memory is not whole."""
    session = held.session
    rows = StepRecord.objects.filter(session=session, revision=session.revision, number=session.steps)
    last = rows.values_list("upto", flat=True).first() or 0
    items = held.snapshot.items
    pairs, first = pair_up(items), last_index(items, is_prompt) + 1
    return any(
        _is_open(item, pair) and held.positions.get(item.id, -1) >= last
        for item, pair in zip(items[first:], pairs[first:], strict=True)
    )


def _is_open(item: Item, pair: int) -> bool:
    return item.kind == Kind.TOOL_CALL and item.needs_result and pair == NONE
