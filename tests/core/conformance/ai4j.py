"""AI4J: projectors, policies, memory and the runtime's order of events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contextlab.core import Budget, project
from contextlab.core.compaction import CompactPolicy, CompactResult, Deps, Outcome, Snapshot
from contextlab.core.errors import ContextLabError
from contextlab.core.items import Item, Kind
from contextlab.core.memory import SUMMARY_ID, AgentMemory, WindowedMemoryCompressor
from contextlab.core.policies.structured_summary import CLOSING, MARKER
from contextlab.core.projection import Placeholder, Projection
from contextlab.core.registry import POLICIES, PROJECTORS
from contextlab.core.summarising.cut import Entries, turn_boundary
from contextlab.core.summarising.file_tracking import cumulative, files_of
from contextlab.core.testing import ScriptedModel
from tests.core.conformance import ai4j_runtime
from tests.core.conformance.compare import Raised
from tests.core.conformance.given import Given, Unsupported, entries, items_of, model_output

LIMITS = ("max_items", "max_approx_chars", "pinned_prefix_items", "pair_guard")
TIERS = ("max_recent_tool_results", "trim_old_reasoning")
REPORT = {
    "source_count": "source_entries",
    "projected_count": "projected_entries",
    "dropped_count": "dropped_entries",
    "char_limit_applied": "character_limit_applied",
}


def run(case: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """What the unit that the case names gives."""
    units = {
        "default_projector": _projection,
        "type_aware_projector": _projection,
        "structured_policy": _structured,
        "llm_policy": _llm,
        "memory": _memory,
        "runtime": _runtime,
    }
    if case["component"] not in units:
        raise Unsupported(f"unknown component {case['component']!r}")
    return units[case["component"]](case, mode)


def _projection(case: Mapping[str, Any], mode: str) -> dict[str, Any]:
    kind = case["component"].removesuffix("_projector")
    names = LIMITS + (TIERS if kind == "type_aware" else ())
    options = case["options"]
    given = {} if options is None else _known(options, LIMITS + TIERS, names)
    items, again = items_of(case["input"]["items"]), items_of(case["input"]["items"])
    projector = None if options is None else PROJECTORS.get(kind).from_options(given, mode)
    seen = project(items, projector)
    limits = {name: value for name, value in given.items() if name not in TIERS}
    plain = project(items, Budget(**{**limits, "pair_guard": False}))
    verdicts = verdicts_of(items, seen)
    stand_ins = {item.entry: item for item in seen.items if isinstance(item, Placeholder)}
    return {
        "verdicts": verdicts,
        "report": report_of(seen.report),
        "placeholder": {entry: item.text for entry, item in stand_ins.items()},
        "payload": {entry: item.text for entry, item in stand_ins.items()},
        "cleared": [entry for entry, verdict in verdicts.items() if verdict == "cleared"],
        "kept_fields": {entry: _same_fields(item) for entry, item in stand_ins.items()},
        "source_mutated": items != again,
        "projected_count_greater_than_default_projector": (
            seen.report.projected_entries > plain.report.projected_entries
        ),
    }


def _known(options: Given, read: tuple[str, ...], used: tuple[str, ...]) -> dict[str, Any]:
    """The options of a projector; the default one reads past those of the tiers."""
    given = options.only(*read)
    return {name: value for name, value in given.items() if name in used}


def _same_fields(item: Placeholder) -> list[str]:
    pairs = {"type": "kind", "id": "id", "call_id": "call_id"}
    return [
        name
        for name, ours in pairs.items()
        if name != "call_id" or item.call_id
        if getattr(item, ours) == getattr(item.original, ours)
    ]


def verdicts_of(items: list[Item], seen: Projection) -> dict[str, str]:
    """The verdict of each entry, whose items must agree."""
    verdicts: dict[str, str] = {}
    for item, fate in zip(items, seen.fates, strict=True):
        assert verdicts.setdefault(item.entry, str(fate.verdict)) == str(fate.verdict)
    return verdicts


def report_of(report: Any) -> dict[str, Any]:
    """A report under the names of the cases and under its own."""
    named = {name: getattr(report, name) for name in type(report).__slots__}
    return named | {theirs: named[ours] for theirs, ours in REPORT.items()}


def _structured(case: Mapping[str, Any], mode: str) -> dict[str, Any]:
    policy = POLICIES.get("structured_summary").from_options(case["options"].only(*LIMITS), mode)
    snapshot = Snapshot(tuple(items_of(case["input"]["items"])), case["input"].get("summary"))
    return structured_outcome(policy, snapshot)


def structured_outcome(policy: CompactPolicy, snapshot: Snapshot | None) -> dict[str, Any]:
    """What the policy without a model gives, whether it is due or not."""
    outcome = policy.compact(snapshot, Deps(force=True))
    assert outcome.result is not None
    assert outcome.memory is not None
    summary = outcome.result.summary
    kept = entries(outcome.memory.items)
    sections = _sections(outcome.result)
    return {
        "should_compact": policy.should_compact(snapshot).due,
        "kept": kept,
        "kept_if_forced": kept,
        "summary": summary,
        "summary_lines": [line for line in summary.splitlines() if line != CLOSING],
        "marker_count": summary.count(MARKER),
        "report": report_of(outcome.result.report),
        "sections_empty": [name for name in EMPTY_ORDER if not sections[name]],
    }


EMPTY_ORDER = "completed pending decisions failed_commands test_results open_questions".split()
"""The sections that a model can fill."""


def _sections(result: CompactResult) -> dict[str, list[str]]:
    names = [*EMPTY_ORDER, "changed_artifacts", "user_confirmations", "sandbox_state"]
    return {name: [line.text for line in getattr(result.sections, name)] for name in names}


def _llm(case: Mapping[str, Any], mode: str) -> dict[str, Any]:
    given = case["input"]
    items = tuple(items_of(given["items"]))
    if "naive_cut" in given:
        return {"cut": turn_boundary(Entries(items), given["naive_cut"], any_user=mode == "reference")}
    earlier = given.get("previous_result")
    if not _says_something(given) and items:
        before = None if earlier is None else CompactResult(**earlier)
        files = files_of(items, mode)
        files = files if mode == "reference" else cumulative(before, files)
        return {"read_files": files.read, "modified_files": files.modified}
    policy = POLICIES.get("llm_summary").from_options(case["options"].only("max_items"), mode)
    if case["options"].get("path", "manual") not in ("auto", "manual"):
        raise Unsupported("unknown path")
    snapshot = Snapshot(items, given.get("summary"))
    model = _model(given)
    deps = Deps(model=model, force=case["options"].get("path") != "auto")
    return _llm_outcome(policy, snapshot, deps, model, case["options"].get("path"))


def _says_something(given: Given) -> bool:
    return any(name in given for name in ("model_output", "model_output_text", "model_error", "summary"))


def _model(given: Given) -> ScriptedModel:
    if "model_error" in given:
        return ScriptedModel([RuntimeError(given["model_error"])])
    output = model_output(given)
    return ScriptedModel([] if output is None else [output])


def _llm_outcome(
    policy: CompactPolicy, snapshot: Snapshot, deps: Deps, model: ScriptedModel, path: str | None
) -> dict[str, Any]:
    before = (snapshot.items, snapshot.summary)
    failed: ContextLabError | None = None
    outcome = Outcome()
    try:
        outcome = policy.compact(snapshot, deps)
    except ContextLabError as error:
        failed = error
    after = outcome.memory or snapshot
    result = outcome.result or CompactResult()
    return {
        "should_compact": policy.should_compact(snapshot).due,
        "should_compact_again": policy.should_compact(after).due,
        "kept": entries(after.items),
        "compacted": bool(outcome.covered),
        "reason": outcome.reason,
        "summary": result.summary or None,
        "summary_after": after.summary,
        "memory_unchanged": outcome.memory is None and (snapshot.items, snapshot.summary) == before,
        "model_calls": len(model.calls),
        "prompt": "\n".join(message.content for call in model.calls for message in call),
        "raises": Raised(failed) if failed is not None and path != "auto" else None,
        "error": None if failed is None else str(failed),
        "event": None if failed is None or path != "auto" else "compact_failed",
        **_sections(result),
        "read_files": result.read_files,
        "modified_files": result.modified_files,
    }


def _memory(case: Mapping[str, Any], mode: str) -> dict[str, Any]:
    memory = AgentMemory(items_of(case["input"]["items"]), case["input"].get("summary"))
    if "max_items" in case["options"]:
        return _windowed(memory, case["options"]["max_items"])
    snapshot = memory.snapshot()
    return {
        "prompt_items": [SUMMARY_ID if item.id == SUMMARY_ID else item.id for item in memory.prompt_items()],
        "snapshot_items": [item.id for item in snapshot.items],
        "snapshot_summary": snapshot.summary,
    }


def _windowed(memory: AgentMemory, max_items: int) -> dict[str, Any]:
    try:
        after = WindowedMemoryCompressor(max_items).compress(memory.snapshot())
    except ValueError as error:
        return {"raises": Raised(error)}
    return {"kept": entries(after.items), "summary": after.summary, "raises": None}


def _runtime(case: Mapping[str, Any], mode: str) -> dict[str, Any]:
    return ai4j_runtime.projecting(case, mode)


def _restored(mode: str) -> dict[str, Any]:
    """A4J-M03: two restores, the second without a summary."""
    memory = AgentMemory()
    memory.restore(Snapshot((Item("a", Kind.USER, "a"),), "old summary"))
    memory.restore(Snapshot((Item("b", Kind.USER, "b"),), None))
    return {"items": [item.id for item in memory.items], "summary": memory.summary}


def _no_snapshot(mode: str) -> dict[str, Any]:
    """A4J-S05: the policy without a model is given nothing at all."""
    return structured_outcome(POLICIES.get("structured_summary").from_options({"max_items": 2}, mode), None)


PROSE = {
    "A4J-M03": _restored,
    "A4J-S05": _no_snapshot,
    "A4J-R01": ai4j_runtime.order_in_a_step,
    "A4J-R03": ai4j_runtime.automatic_failure,
    "A4J-R04": ai4j_runtime.manual_failure,
    "A4J-R05": ai4j_runtime.nothing_returned,
    "A4J-R06": ai4j_runtime.no_policy,
    "A4J-R08": ai4j_runtime.result_survives,
    "A4J-R09": ai4j_runtime.raising_hook,
}
