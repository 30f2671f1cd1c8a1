"""AI4J's coding layer: micro-compaction, checkpoints, their fallbacks and the breaker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from contextlab.core import Item, Kind
from contextlab.core.budget import Mode
from contextlab.core.compaction import CompactPolicy, Deps, Snapshot
from contextlab.core.errors import CompactError
from contextlab.core.language_model import ModelError
from contextlab.core.memory import AgentMemory
from contextlab.core.policies.coding_checkpoint import CodingCheckpoint
from contextlab.core.projecting.stand_ins import MICRO_PREFIX
from contextlab.core.registry import POLICIES
from contextlab.core.session import AgentSession
from contextlab.core.summarising.checkpoint import plan
from contextlab.core.summarising.micro_compaction import MicroCompaction, micro_compact
from contextlab.core.testing import ScriptedModel
from tests.core.conformance.compare import Raised
from tests.core.conformance.given import Given, Unsupported, entries, items_of, model_output

SIZES = ("window_tokens", "reserve_tokens", "keep_recent_tokens")


def run(case: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Micro-compaction where the case gives a target, a checkpoint where it gives a window."""
    if case["component"] != "coding_compact":
        raise Unsupported(f"unknown component {case['component']!r}")
    items = tuple(items_of(case["input"]["items"]))
    if "target_tokens" in case["input"]:
        return _micro(items, case["input"]["target_tokens"], case["options"])
    return _checkpoint(items, case["input"], case["options"], mode)


def _micro(items: tuple[Item, ...], target: int, options: Given) -> dict[str, Any]:
    done: MicroCompaction | None = micro_compact(
        items, keep=options["keep_recent"], max_tokens=options["max_result_tokens"], target=target
    )
    if done is None:
        return {"result": None}
    shorter = [item for item in done.items if item.id in done.compacted]
    return {
        "result": "micro",
        "compacted": list(done.compacted),
        "kept": [item.id for item in done.items if item.id not in done.compacted],
        "tokens_before": done.tokens_before,
        "tokens_after": done.tokens_after,
        "prefix": shorter[0].text[: len(MICRO_PREFIX)],
    }


def _checkpoint(items: tuple[Item, ...], given: Given, options: Given, mode: str) -> dict[str, Any]:
    policy = POLICIES.get("coding_checkpoint").from_options({**options.only(*SIZES), "micro": False}, mode)
    output = model_output(given)
    script = [_error(text) for text in given.get("model_errors", [])]
    model = ScriptedModel([*script, *([] if output is None else [output])])
    force = given.get("force", False)
    snapshot = Snapshot(items, given.get("summary"))
    try:
        outcome = policy.compact(snapshot, Deps(model=model, force=force))
    except CompactError as error:
        return {"raises": Raised(error), "model_calls": len(model.calls)}
    if outcome.result is None or outcome.memory is None or outcome.result.report is None:
        return {"result": None, "raises": None, "model_calls": len(model.calls)}
    planned = plan(items, cast(CodingCheckpoint, policy).keep_recent_tokens, mode)
    notes = " ".join(outcome.result.report.notes)
    return {
        "result": outcome.result.strategy,
        "raises": None,
        "strategy": outcome.result.strategy,
        "automatic": not force,
        "before": len(entries(items)),
        "after": len(entries(outcome.memory.items)),
        "delta": len(entries(items)) - len(entries(outcome.memory.items)),
        "model_calls": len(model.calls),
        "fallback": "no model wrote" in notes,
        "reused": outcome.result.strategy.endswith("-delta"),
        "to_summarise": entries(planned.history),
        "turn_prefix": entries(planned.turn_prefix),
        "split_turn": planned.split_turn,
        "kept": entries(planned.kept),
        "summary": outcome.result.summary,
    }


def _error(text: str) -> ModelError:
    """The model's error; the core tells from its kind or its words that a prompt was too long."""
    return ModelError("bad_answer", text)


def breaker(mode: str) -> dict[str, Any]:
    """A4J-K16: four automatic runs on a model that is down, then one by hand that works."""
    model = ScriptedModel([ModelError("unreachable", "down")] * 3)
    policy = cast(
        CompactPolicy, CodingCheckpoint(window_tokens=100, reserve_tokens=20, keep_recent_tokens=30)
    )
    rows = [
        Item(f"{kind}{n}", kind, f"{kind} {n} ".ljust(200, "."))
        for n in range(3)
        for kind in (Kind.USER, Kind.ASSISTANT)
    ]
    session = AgentSession(
        policy=policy, deps=Deps(model=model), memory=AgentMemory(rows), mode=cast(Mode, mode), max_failures=3
    )
    runs = [session.next_context().compaction for _ in range(4)]
    calls, was_open = len(model.calls), session.auto.failures.is_open
    assert session.compact(policy).compacted
    assert not session.auto.failures.is_open
    assert runs[3] is not None
    return {"summary_calls": calls, "breaker_open": was_open, "fourth_error": runs[3].reason}


PROSE = {"A4J-K16": breaker}
