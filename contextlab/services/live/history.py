"""What automatic compactions of a live session came to, as the breakers of a live agent count it; all from rows.

| what was            | counts as                                                                  |
|---------------------|----------------------------------------------------------------------------|
| failed, conflict    | a failure; three in a row pause it                                          |
| done, still too big | of no use; three in a row pause it, one where what is pinned is too big     |
| no gain             | of no use as well; where there was nothing to summarise nothing was tried   |
| done by hand        | both breakers are closed again                                              |
| cancelled           | nothing: a person stopped it                                                |
| another policy      | both breakers are closed again                                              |
"""

from __future__ import annotations

from dataclasses import dataclass, field

from contextlab.core.agent.auto_compaction import COOL_DOWN, GROWTH, PAUSED, USELESS
from contextlab.core.agent.breaker import Breaker
from contextlab.core.agent.too_big import too_big
from contextlab.core.compaction import Decision, Deps
from contextlab.core.measuring.memory_size import snapshot_tokens
from contextlab.core.policy import Policy
from contextlab.core.session import NO_GAIN
from contextlab.services.compaction.held import Held
from contextlab.services.live.memory import read_live
from contextlab.store.models import CompactionJob, LiveVersion, PolicyChange, RunState, View

LOOKED_AT = 12
"""Newest automatic compactions that count: more than breakers need."""
_FAILED = (RunState.FAILED, RunState.CONFLICT)
_ENDED_WELL = (RunState.DONE, RunState.NOOP)


@dataclass(slots=True)
class History:
    """The breakers as they stand, and what was tried last."""

    failures: Breaker = field(default_factory=Breaker)
    useless: Breaker = field(default_factory=Breaker)
    tried_upto: int | None = None
    """Items that the last attempt which did not fail had seen; None without one."""
    size_then: int = 0
    """Tokens of memory after the last run that was of no use."""

    def pause(self, held: Held, decision: Decision, deps: Deps) -> str:
        """Why nothing is tried now, with the part that is too big; empty where it may be."""
        if self.failures.is_open:
            return PAUSED.format(self.failures.failures)
        if self.tried_upto is not None and held.upto <= self.tried_upto:
            return _with_part(COOL_DOWN, held, decision, deps)
        grown = snapshot_tokens(held.snapshot, deps.count) > GROWTH * self.size_then
        if self.useless.is_open and not grown:
            return _with_part(USELESS, held, decision, deps)
        return ""


def history_of(view: View, policy: Policy, deps: Deps) -> History:
    """What the compactions of a live view came to under its policy, since the last one by hand that made a version."""
    jobs = CompactionJob.objects.filter(base_view=view).select_related("run").order_by("-id")
    by_hand = jobs.filter(trigger=CompactionJob.Trigger.MANUAL, run__state=RunState.DONE).first()
    auto = jobs.filter(trigger=CompactionJob.Trigger.AUTO)
    if by_hand is not None:
        auto = auto.filter(pk__gt=by_hand.pk)
    changed = PolicyChange.objects.filter(view=view).order_by("-id").values_list("at", flat=True).first()
    if changed is not None:
        auto = auto.filter(asked_at__gt=changed)
    history = History()
    for job in list(auto.defer("fates", "result", "raw_reply")[:LOOKED_AT])[::-1]:
        _count(history, view, job, policy, deps)
    return history


def _count(history: History, view: View, job: CompactionJob, policy: Policy, deps: Deps) -> None:
    if job.run.state in _FAILED:
        history.failures.failed(job.run.error)
        return
    if job.run.state not in _ENDED_WELL:
        return
    history.failures.succeeded()
    done = job.run.state == RunState.DONE
    made = (
        LiveVersion.objects.filter(memory__compaction=job).select_related("memory").first() if done else None
    )
    upto = made.upto if made is not None else job.upto or 0
    history.tried_upto = upto
    if not done and job.reason != NO_GAIN:
        return
    after = read_live(view, made.memory.version if made is not None else job.base_version, upto)
    decision = policy.decide(after.snapshot, deps)
    if not (decision.due or not done):
        history.useless.succeeded()
        return
    found = too_big(after.snapshot, decision, deps)
    count = history.useless.give_up if found is not None and found.pins_alone else history.useless.failed
    count()
    history.size_then = snapshot_tokens(after.snapshot, deps.count)


def _with_part(reason: str, held: Held, decision: Decision, deps: Deps) -> str:
    found = too_big(held.snapshot, decision, deps)
    return f"{reason}: {found.words}" if found is not None else reason
