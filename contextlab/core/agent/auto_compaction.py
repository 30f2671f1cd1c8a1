"""The automatic path: whether a compaction is due before a step, what pauses it, and what is told of it.

| pause     | after                                                   | ends with                                     |
|-----------|---------------------------------------------------------|-----------------------------------------------|
| cool-down | any attempt that did not fail                           | a change of memory                            |
| failures  | three failures in a row                                 | a compaction by hand                          |
| no use    | three runs in a row that left memory over the threshold | memory below it, or half as large again as it |
|           |                                                         | was, or above the hard limit; or by hand      |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from contextlab.core.agent.breaker import Breaker
from contextlab.core.agent.live import Compaction
from contextlab.core.agent.session_events import EventKind
from contextlab.core.agent.too_big import TooBig, too_big
from contextlab.core.compaction import Decision
from contextlab.core.errors import CompactError, ConcurrentCompression
from contextlab.core.measuring.memory_size import snapshot_tokens

if TYPE_CHECKING:
    from contextlab.core.session import AgentSession

COOL_DOWN = "cool_down"
USELESS = "no_use"
PINS_ALONE = "pinned_over_budget"
PAUSED = "automatic compaction is paused after {} consecutive failures"
GROWTH = 1.5
"""How many times its size memory must have before a pause for no use ends."""


class AutoCompaction:
    """Compacts a session's memory by itself. Nothing that goes wrong here reaches the agent."""

    def __init__(
        self,
        session: AgentSession,
        max_failures: int = 3,
        max_useless: int = 3,
        hard_limit: int | None = None,
    ) -> None:
        """Both breakers closed."""
        self.session = session
        self.failures = Breaker(max_failures)
        self.useless = Breaker(max_useless)
        self.hard_limit = hard_limit
        self.decided: Decision | None = None
        """The last decision, whether anything was due or not; None where it could not be made."""
        self.paused = False
        """Whether it was due then, and nothing was tried."""
        self._too_big: TooBig | None = None
        self._tried: int | None = None
        """Version of memory after the last attempt that did not fail."""
        self._size_then = 0
        """Tokens of memory after the last run that was of no use."""

    def close(self) -> None:
        """Start anew: somebody compacted by hand."""
        self.failures.succeeded()
        self.useless.succeeded()
        self._tried = None

    def run(self) -> Compaction | None:
        """Compact if due. None where there is no policy or nothing is due."""
        session = self.session
        if session.policy is None:
            return None
        decision: Decision | None = None
        self.decided, self.paused = None, False
        try:
            decision = self.decided = self.decide()
            if not decision.due:
                self.useless.succeeded()
                return None
            self.paused = True
            if session.memory.version == self._tried:
                return Compaction("noop", COOL_DOWN, decision=decision)
            if paused := self._paused():
                return Compaction("noop", paused, decision=decision)
            self.paused = False
            # A trigger overrules the policy's own thresholds.
            done = session.run(session.policy, force=session.trigger is not None)
        except (
            Exception
        ) as error:  # a policy or a trigger may be a stranger's, and compaction is not the agent's work
            return self._failed(error, decision)
        done.decision = decision
        try:
            self._account(done)
        except Exception as error:  # memory is replaced, and nobody can say whether that was of use
            self._not_accounted(error)
        return done

    def decide(self) -> Decision:
        """What the trigger says, the policy itself without one."""
        session = self.session
        snapshot = session.snapshot()
        if session.trigger is not None:
            return session.trigger.decide(snapshot, session.deps)
        if session.policy is None:
            return Decision(False, "no policy")
        return session.policy.should_compact(snapshot)

    def notes(self, compaction: Compaction | None) -> list[str]:
        """What a report says of a compaction."""
        if compaction is None or compaction.state == "done":
            return []
        if compaction.state in ("failed", "conflict"):
            return [f"compaction {compaction.state}: {compaction.reason}"]
        part = self.part
        if compaction.decision and self._too_big and self._too_big.pins_alone:
            return [f"compaction: {compaction.reason}", f"{PINS_ALONE}: {part}"]
        if compaction.reason == USELESS:
            why = f"the last {self.useless.failures} were of too little use{self.useless.note}"
            return [f"compaction paused: {why}" + (f"; {part}" if part else "")]
        return [f"compaction: {compaction.reason}"]

    @property
    def part(self) -> str:
        """The part of memory that keeps it over the threshold, with its size; empty where the last run was of use."""
        return self._too_big.words if self._too_big else ""

    def _paused(self) -> str | None:
        """Why nothing is tried: raises where that is a failure by itself."""
        if self.failures.is_open:
            raise _PausedError(PAUSED.format(self.failures.failures))
        if self.useless.is_open and not self._worth_another_try():
            return USELESS
        return None

    def _failed(self, error: Exception, decision: Decision | None) -> Compaction:
        if not isinstance(error, _PausedError):
            self.failures.failed(str(error))
        self.session.hooks.tell(EventKind.COMPACT_FAILED, str(error))
        state = "conflict" if isinstance(error, ConcurrentCompression) else "failed"
        failure = error if isinstance(error, CompactError) else CompactError(str(error))
        return Compaction(state, str(error), decision=decision, error=failure)

    def _account(self, done: Compaction) -> None:
        self.failures.succeeded()
        self._tried = self.session.memory.version
        decision = self.decide()
        due = decision.due or done.state == "noop"
        self._too_big = too_big(self.session.snapshot(), decision, self.session.deps) if due else None
        if done.state == "noop" and done.tokens_before is None:
            return  # nothing was tried, nothing was paid
        if due:
            # What is pinned stays, whatever is tried: one attempt is enough.
            alone = self._too_big is not None and self._too_big.pins_alone
            count = self.useless.give_up if alone else self.useless.failed
            count(_gain(done))
            self._size_then = self._size()
        else:
            self.useless.succeeded()

    def _not_accounted(self, error: Exception) -> None:
        """Told, and counted as of no use: else each step would pay for one more."""
        self._too_big = None
        self.useless.failed(f" ({error})")
        self._size_then = snapshot_tokens(self.session.snapshot())
        self.session.hooks.tell(EventKind.ERROR, f"the figures after a compaction: {error!r}")

    def _worth_another_try(self) -> bool:
        size = self._size()
        return size > GROWTH * self._size_then or (self.hard_limit is not None and size > self.hard_limit)

    def _size(self) -> int:
        return snapshot_tokens(self.session.snapshot(), self.session.deps.count)


class _PausedError(Exception):
    """Nothing was tried."""


def _gain(done: Compaction) -> str:
    if not done.tokens_before or done.tokens_after is None:
        return ""
    return f" (the last gained {100 * (done.tokens_before - done.tokens_after) / done.tokens_before:.1f} %)"
