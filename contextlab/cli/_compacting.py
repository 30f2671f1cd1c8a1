"""The memory of a session of a file, and what a compaction of it comes to, for the command line."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from contextlab.cli._replaying import Session, item_at, report_answer
from contextlab.core.committing.compacting import compacted, result_answer
from contextlab.core.compaction import Deps, Outcome, Snapshot
from contextlab.core.errors import CompactError
from contextlab.core.items import KINDS, Item, Kind, Reason, Verdict
from contextlab.core.language_model import LanguageModel, ModelError
from contextlab.core.measuring.tokens import TokenCounter
from contextlab.core.policy import Policy
from contextlab.core.projecting.stand_ins import LOG_CLEARED
from contextlab.core.recorded import RecordedReplayer
from contextlab.core.spans import Painted, verdicts_at
from contextlab.core.summarising.summary_budget import WithinBudget
from contextlab.core.timeline import UNKNOWN, Step

WINDOW = 100_000


class NotThere(Exception):  # noqa: N818 - an outcome of looking
    """A session, a step or an item that was asked for does not exist."""


@dataclass(slots=True, frozen=True)
class Asked:
    """How to compact, and where."""

    policy: Policy
    before_step: int | None
    pins: tuple[str, ...]
    counter: TokenCounter | None
    instructions: str = ""


@dataclass(slots=True)
class Memory:
    """The memory before a step, with the place of each item and what had become of the others."""

    snapshot: Snapshot
    positions: dict[str, int]
    fates: list[Painted]
    summary_at: int | None = None


def compact_answer(session: Session, asked: Asked) -> dict[str, Any]:
    """What the contract names; raises NotThere, CompactError."""
    memory = memory_before(session, asked.before_step)
    if missing := [pin for pin in asked.pins if pin not in memory.positions]:
        raise NotThere(f"session {session.name} has no item {missing[0]!r} in this memory")
    count = None if asked.counter is None else asked.counter.count
    deps = Deps(
        model=_model(asked.policy), count=count, pins=frozenset(asked.pins), new_id=_new_id(), force=True,
        instructions=asked.instructions,
    )  # fmt: skip
    done = compacted(asked.policy, memory.snapshot, deps)
    outcome = done.outcome if done.state == "done" else None
    result = outcome.result if outcome else None
    after = outcome.memory if outcome and outcome.memory else memory.snapshot
    places = {item.id: order for order, item in enumerate(after.items)}
    return {
        "session": session.name,
        "compacted": result is not None,
        "reason": done.reason or None,
        "method": result.method if result else None,
        "result": result_answer(result) if result else None,
        "report": report_answer(result.report) if result and result.report else None,
        "verdicts": [_item(session, memory, at, outcome, places) for at in range(len(memory.fates))],
    }


def memory_before(session: Session, before_step: int | None) -> Memory:
    """The memory as the log has it; raises NotThere."""
    timeline = session.assembler.timeline
    steps = len(timeline.steps)
    wanted = steps + 1 if before_step is None else before_step
    if not 1 <= wanted <= steps + 1:
        raise NotThere(f"session {session.name} has {steps} steps, not a step {wanted}")
    if wanted > steps:
        # A step that is yet to come: what the log did after its last one is seen by it.
        timeline.steps.append(Step(wanted, "", len(timeline.turns_list), len(timeline)))
    replayer = RecordedReplayer(timeline)
    upto = next(result.step.upto for result in replayer.run() if result.step.number == wanted)
    fates = verdicts_at(replayer.spans(), wanted, range(upto))
    items = [
        (at, _memory_item(session, at, fates[at])) for at in range(upto) if _stands(session, at, fates[at])
    ]
    positions = {item.id: at for at, item in items}
    summary = next(((at, item) for at, item in reversed(items) if item.kind == Kind.SUMMARY), None)
    kept = tuple(item for at, item in items if summary is None or at != summary[0])
    return Memory(
        Snapshot(kept, summary[1].text if summary else None),
        positions,
        fates,
        summary[0] if summary else None,
    )


def _stands(session: Session, at: int, fate: Painted) -> bool:
    """Whether something of the item is in the memory."""
    left = fate[0] in (Verdict.DROPPED, Verdict.SUMMARISED) or fate[1] == Reason.PROVIDER_STRIPS
    return not left and KINDS[session.assembler.timeline.kinds[at]] is not Kind.UI


def _memory_item(session: Session, at: int, fate: Painted) -> Item:
    item = item_at(session, at)
    if fate[0] != Verdict.CLEARED:
        return item
    return replace(item, text=LOG_CLEARED, chars=len(LOG_CLEARED), tokens=None)


def _item(
    session: Session, memory: Memory, at: int, outcome: Outcome | None, places: Mapping[str, int]
) -> dict[str, Any]:
    """An item as replay tells it, with its fate after the compaction."""
    timeline = session.assembler.timeline
    verdict, reason = memory.fates[at]
    name = session.ids[at]
    if outcome is not None and memory.positions.get(name) == at:
        fate = outcome.fates.get(name)
        if at == memory.summary_at:
            verdict, reason = Verdict.SUMMARISED, Reason.COMPACTED
        elif fate is not None and (fate.verdict != Verdict.KEPT or verdict == Verdict.KEPT):
            verdict, reason = fate.verdict, fate.reason
    counted = timeline.tokens[at]
    is_call = KINDS[timeline.kinds[at]] is Kind.TOOL_CALL
    stands = _stands(session, at, (verdict, reason))
    return {
        "id": name,
        "position": at,
        "entry": session.entries[at],
        "kind": str(KINDS[timeline.kinds[at]]),
        "tool": timeline.tools.get(at if is_call else timeline.pairs[at]),
        "call_id": timeline.call_id(at),
        "verdict": str(verdict),
        "reason": None if reason is None else str(reason),
        "tokens": timeline.estimates[at] if counted == UNKNOWN else counted,
        "chars": timeline.chars[at],
        "in_context": places.get(name) if stands else None,
        "replaced_by": None,
    }


def _new_id() -> Any:
    made = iter(range(1, 1_000_000))
    return lambda what: f"{what}-{next(made)}"


def _model(policy: Policy) -> LanguageModel | None:
    """The environment's model, for a policy that asks one (--allow-model was given)."""
    if not policy.needs_model:
        return None
    address, name = os.environ.get("CONTEXTLAB_MODEL_BASE_URL", ""), os.environ.get("CONTEXTLAB_MODEL", "")
    if not address or not name:
        raise ModelError("no_model", "no model is set (CONTEXTLAB_MODEL_BASE_URL, CONTEXTLAB_MODEL)")
    from contextlab.adapters.openai_model import OpenAIModel

    try:
        model = OpenAIModel(address, name, os.environ.get("CONTEXTLAB_MODEL_KEY") or None)
    except ValueError as error:
        raise CompactError(str(error)) from error
    return WithinBudget(model, WINDOW)
