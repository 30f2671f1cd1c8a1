"""The cases: ours in tests/core/cases, those of users in the file that CONFORMANCE_CASES names.

An adapter is a module beside this one, named for its system, that offers

    run(case, mode) -> dict      what came out, under the names of the case's `expected`; errors as Raised
    PROSE                        by case id: function(mode) -> dict, for cases that describe their input in words

`case["input"]` and `case["options"]` are Given: a key that the adapter does not read makes the case unsupported.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.core.conformance.compare import hold
from tests.core.conformance.given import Given, Unsupported
from tests.core.conformance.overlay import laid_over

OURS = Path(__file__).parent.parent / "cases" / "conformance.json"
VARIABLE = "CONFORMANCE_CASES"
SYSTEMS = {
    "ai4j": "ai4j",
    "ai4j-coding": "ai4j_coding",
    "agents-flex": "agents_flex",
    "agentscope": "agentscope",
    "claude-mem": "claude_mem",
    "agno": "agno",
}
"""Adapter modules by system."""
CASE_KEYS = frozenset(
    "id system component name input notation options expected expected_reference_mode follow evidence source note"
    " prose".split()
)
MODES = ("safe", "reference")


def load(path: Path) -> list[dict[str, Any]]:
    """The cases of a file: a list, or an object with the list as `cases`."""
    document = json.loads(path.read_text("utf-8"))
    return list(document["cases"] if isinstance(document, dict) else document)


def our_cases() -> list[dict[str, Any]]:
    """The cases of the systems that have an adapter."""
    return [case for case in load(OURS) if case["system"] in SYSTEMS]


def users_cases() -> list[dict[str, Any]]:
    """The cases of the file that the environment names, none without one."""
    path = os.environ.get(VARIABLE)
    return load(Path(path)) if path else []


def case_by_id(name: str) -> dict[str, Any]:
    """One of our cases, to be run before one that goes on from it."""
    return next(case for case in load(OURS) if case["id"] == name)


def modes_of(case: Mapping[str, Any]) -> list[str]:
    """Safe mode always, reference mode where the case says what it gives."""
    return [mode for mode in MODES if mode == "safe" or "expected_reference_mode" in case]


def adapter_of(system: object) -> ModuleType:
    """The adapter of a system; Unsupported where there is none."""
    name = f"tests.core.conformance.{SYSTEMS.get(str(system))}"
    if system not in SYSTEMS or importlib.util.find_spec(name) is None:
        raise Unsupported(f"there is no adapter for the system {system!r}")
    return importlib.import_module(name)


def check(case: Mapping[str, Any], mode: str, *, ours: bool) -> None:
    """Run one case in one mode; AssertionError or Unsupported where it does not hold."""
    if rest := sorted(set(case) - CASE_KEYS):
        raise Unsupported(f"unknown keys of the case: {', '.join(rest)}")
    adapter = adapter_of(case.get("system"))
    expected = case["expected"] if mode == "safe" else laid_over(case)
    if case.get("prose"):
        hold(expected, _by_hand(adapter, case["id"], mode, ours))
        return
    parts = [Given(case[part] or {}, part) for part in ("input", "options") if case.get(part) is not None]
    given = {**case, **{part.where: part for part in parts}}
    actual = adapter.run(given, mode)
    for part in parts:
        part.refuse_rest()
    hold(expected, actual)


def _by_hand(adapter: ModuleType, name: str, mode: str, ours: bool) -> dict[str, Any]:
    prose = getattr(adapter, "PROSE", {})
    if not ours or name not in prose:
        raise Unsupported("the case describes its input in words")
    result: dict[str, Any] = prose[name](mode)
    return result
