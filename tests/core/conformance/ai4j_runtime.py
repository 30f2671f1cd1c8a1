"""AI4J's runtime, on AgentSession: what happens in a step, in which order, and what a failure leaves behind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from contextlab.core import Budget, Item, Kind
from contextlab.core.agent.live import Compaction, Context
from contextlab.core.agent.session_events import EventKind, SessionEvent
from contextlab.core.budget import Mode
from contextlab.core.compaction import CompactPolicy, CompactResult, Decision, Deps, Outcome, Snapshot
from contextlab.core.errors import CompactError
from contextlab.core.memory import AgentMemory
from contextlab.core.policies.structured_summary import StructuredSummary
from contextlab.core.projectors.default import DefaultProjector
from contextlab.core.report import Report
from contextlab.core.session import AgentSession
from tests.core.conformance.compare import Raised
from tests.core.conformance.given import items_of

LIMITS = ("max_items", "max_approx_chars", "pinned_prefix_items", "pair_guard")


class Policy:
    """A policy that is always due and gives, or raises, what it is told to."""

    kind = "scripted"
    needs_model = False

    def __init__(self, answer: Callable[[Snapshot], Outcome | None]) -> None:
        self.answer = answer
        self.calls = 0

    def should_compact(self, snapshot: Snapshot) -> Decision:
        return Decision(True, "always")

    def compact(self, snapshot: Snapshot, deps: Deps) -> Outcome | None:
        self.calls += 1
        return self.answer(snapshot)


class Ear:
    """A hook that writes down what it is told."""

    def __init__(self) -> None:
        self.events: list[SessionEvent] = []

    def __call__(self, event: SessionEvent) -> None:
        self.events.append(event)

    def names(self) -> list[str]:
        """Names of the events; a compressed memory says by what."""
        return [event.kind.name + _by(event.payload) for event in self.events]


def _by(payload: object) -> str:
    if isinstance(payload, CompactResult):
        return "(compact result)" if payload.strategy == "shown" else ""
    return "(context report)" if isinstance(payload, Report) else ""


def projecting(case: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Cases that only project: a budget, alone or with the default projector, and the events of it."""
    options = case["options"]
    alone = "contextBudget" in options
    limits = options["contextBudget"] if alone else options.only(*LIMITS)
    budget = Budget(**limits, mode=cast(Mode, mode))
    projector = budget if alone and options["projector"] is None else DefaultProjector(budget)
    ear = Ear()
    session = AgentSession(projector, hooks=[ear], mode=cast(Mode, mode))
    for item in items_of(case["input"]["items"]):
        session.add(item)
    report = session.next_context().report
    told = [event for event in ear.events if event.kind == EventKind.MEMORY_COMPRESS]
    return {
        "events": [event.kind.name for event in told],
        "event": told[0].kind.name if told else None,
        "payload": "context_report" if told and told[0].payload is report else None,
        "projected_count": report.projected_entries,
        "dropped_count": report.dropped_entries,
    }


def _session(policy: Policy | None, mode: str, *hooks: Any) -> AgentSession:
    memory = AgentMemory(
        [Item("u", Kind.USER, "do it"), Item("a", Kind.ASSISTANT, "done " * 50)], mode=cast(Mode, mode)
    )
    projector = DefaultProjector(Budget(max_items=9, mode=cast(Mode, mode)))
    return AgentSession(
        projector, cast(CompactPolicy, policy), memory=memory, hooks=hooks, mode=cast(Mode, mode)
    )


def _shrunk(snapshot: Snapshot) -> Outcome:
    result = CompactResult(summary="S", strategy="shown")
    after = Snapshot(snapshot.items[1:], "S", result)
    return Outcome(result, memory=after, covered=(snapshot.items[0].id,))


def _raising(snapshot: Snapshot) -> Outcome:
    raise RuntimeError("boom")


def order_in_a_step(mode: str) -> dict[str, Any]:
    """A4J-R01: the policy is due, the projector the default one."""
    ear = Ear()
    _session(Policy(_shrunk), mode, ear).next_context()
    names = [name.replace("ON_COMPACT(compact result)", "ON_COMPACT") for name in ear.names()]
    return {"event_order": names}


def automatic_failure(mode: str) -> dict[str, Any]:
    """A4J-R03: the policy raises on the automatic path."""
    ear = Ear()
    session = _session(Policy(_raising), mode, ear)
    before = session.snapshot()
    context: Context = session.next_context()
    assert context.compaction is not None
    assert context.compaction.state == "failed"
    return {
        "raises": None,
        "memory_unchanged": session.snapshot() == before,
        "model_called": EventKind.MODEL_REQUEST in [event.kind for event in ear.events],
    }


def manual_failure(mode: str) -> dict[str, Any]:
    """A4J-R04: the policy raises when a person asks."""
    session = _session(None, mode)
    before, raised = session.snapshot(), None
    try:
        session.compact(cast(CompactPolicy, Policy(_raising)))
    except CompactError as error:
        raised = Raised(error)
    return {
        "raises": raised,
        "memory_unchanged": session.snapshot() == before,
        "last_compact_result_unchanged": session.last_result is before.last_result,
    }


def nothing_returned(mode: str) -> dict[str, Any]:
    """A4J-R05: the policy answers with nothing."""
    session = _session(Policy(lambda snapshot: None), mode)
    before = session.snapshot()
    compaction: Compaction | None = session.next_context().compaction
    assert compaction is not None
    assert not compaction.compacted
    return {"memory_unchanged": session.snapshot() == before}


def no_policy(mode: str) -> dict[str, Any]:
    """A4J-R06: without a policy nothing compacts, by itself or by hand."""
    ear = Ear()
    session = _session(None, mode, ear)
    session.next_context()
    session.compact(None)
    return {"compact_calls": sum(event.kind == EventKind.BEFORE_COMPACT for event in ear.events)}


def result_survives(mode: str) -> dict[str, Any]:
    """A4J-R08: goal, old, recent; compacted to two with one pinned; saved, and taken up again."""
    session = AgentSession(mode=cast(Mode, mode))
    for name in ("goal", "old", "recent"):
        session.add(Item(name, Kind.ASSISTANT, name))
    policy = StructuredSummary(Budget(max_items=2, pinned_prefix_items=1, mode=cast(Mode, mode)))
    session.compact(policy, require_gain=False)
    resumed = AgentSession(mode=cast(Mode, mode))
    resumed.restore(session.snapshot())
    assert resumed.last_result is not None
    assert resumed.last_result.report is not None
    return {
        "items_after_resume": [item.id for item in resumed.memory.items],
        "last_result_dropped": resumed.last_result.report.dropped_entries,
    }


def raising_hook(mode: str) -> dict[str, Any]:
    """A4J-R09: one hook raises, the next is told all the same."""

    def raises(event: SessionEvent) -> None:
        if event.kind == EventKind.STEP_START:
            raise ValueError("a hook's own fault")

    ear = Ear()
    _session(None, mode, raises, ear).next_context()
    return {
        "events": [event.kind.name for event in ear.events if event.kind == EventKind.ERROR],
        "second_hook_called": EventKind.STEP_START in [event.kind for event in ear.events],
    }
