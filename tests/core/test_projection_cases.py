"""The projectors against recorded cases of the behaviour that they must have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from contextlab.core import Budget, Item, Kind, project
from contextlab.core.projection import Placeholder, Projection, Projector
from contextlab.core.registry import PROJECTORS

ALL = json.loads((Path(__file__).parent / "cases" / "ai4j_projection.json").read_text("utf-8"))["cases"]
CASES = [case for case in ALL if case["component"] != "runtime"]
REPORT_NAMES = {
    "source_count": "source_entries",
    "projected_count": "projected_entries",
    "dropped_count": "dropped_entries",
    "char_limit_applied": "character_limit_applied",
}
KINDS = {"text": Kind.ASSISTANT}


def case_items(case: dict[str, Any]) -> list[Item]:
    """The items of a case: one listed item is one entry, a call of several ids several items of it."""
    items: list[Item] = []
    for row in case["input"]["items"] or []:
        kind = KINDS.get(row["kind"], row["kind"])
        chars = row.get("chars", len(row["id"]))
        calls = [call if isinstance(call, list) else [call, "t"] for call in row.get("calls", [])]
        for number, (call_id, tool) in enumerate(calls):
            size = chars if number == 0 else 0
            items.append(
                Item(f"{row['id']}/{number}", Kind.TOOL_CALL, "", row["id"], tool, call_id, chars=size)
            )
        if not calls:
            items.append(
                Item(row["id"], Kind(kind), row["id"], row["id"], None, row.get("call_id"), chars=chars)
            )
    return items


def projector_of(case: dict[str, Any], mode: str) -> Projector | None:
    """The projector of a case with its options; None where the case has no budget."""
    if case["options"] is None:
        return None
    kind = "default" if case["component"] == "default_projector" else "type_aware"
    return PROJECTORS.get(kind).from_options(case["options"], mode)


def run(case: dict[str, Any], mode: str) -> tuple[list[Item], Projection]:
    """Project the case's items."""
    items = case_items(case)
    return items, project(items, projector_of(case, mode))


def verdicts_by_entry(items: list[Item], seen: Projection) -> dict[str, str]:
    """The verdict of each entry, whose items must agree."""
    verdicts: dict[str, str] = {}
    for item, fate in zip(items, seen.fates, strict=True):
        assert verdicts.setdefault(item.entry, fate.verdict) == fate.verdict
    return verdicts


def check_report(expected: dict[str, Any], report: Any) -> None:
    """Compare the figures that the case names."""
    for name, value in expected.items():
        if name == "notes_contain":
            assert all(any(part in note for note in report.notes) for part in value)
        else:
            assert getattr(report, REPORT_NAMES.get(name, name)) == value, name


def stand_ins(seen: Projection) -> dict[str, str]:
    """The text of each placeholder by the id of what it stands for."""
    return {item.id: item.text for item in seen.items if isinstance(item, Placeholder)}


def check(case: dict[str, Any], expected: dict[str, Any], mode: str) -> None:
    """Everything the case expects; a key that this runner does not know fails."""
    items, seen = run(case, mode)
    verdicts = verdicts_by_entry(items, seen)
    for key, value in expected.items():
        if key == "verdicts":
            assert {entry: verdicts[entry] for entry in value} == value
        elif key == "report":
            check_report(value, seen.report)
        elif key in ("placeholder", "payload"):
            assert stand_ins(seen).items() >= value.items()
        elif key == "cleared":
            assert [entry for entry, verdict in verdicts.items() if verdict == "cleared"] == value
        elif key == "kept_fields":
            assert all(item.original.id == item.id for item in seen.items if isinstance(item, Placeholder))
        elif key == "source_mutated":
            assert (items != case_items(case)) == value
        elif key == "projected_count_greater_than_default_projector":
            plain = project(
                items, Budget(max_approx_chars=case["options"]["max_approx_chars"], pair_guard=False)
            )
            assert (seen.report.projected_entries > plain.report.projected_entries) == value
        else:
            pytest.fail(f"the runner does not know {key}")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_safe_mode(case: dict[str, Any]) -> None:
    """In safe mode the projectors do what each case expects."""
    check(case, case["expected"], "safe")


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if "expected_reference_mode" in case],
    ids=lambda case: case["id"],
)
def test_reference_mode(case: dict[str, Any]) -> None:
    """In reference mode they do what the original does."""
    check(case, case["expected_reference_mode"], "reference")


def test_budget_alone_projects() -> None:
    """A budget without a projector uses the default projector."""
    (case,) = [case for case in ALL if case["id"] == "A4J-R07"]
    seen = project(case_items(case), Budget(**case["options"]["contextBudget"]))
    assert seen.report.projected_entries == case["expected"]["projected_count"]
