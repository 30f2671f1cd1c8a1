"""The reports that people filed against tools like this one, each with its input and what would be right."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any


@cache
def _reports() -> dict[str, dict[str, Any]]:
    lines = (Path(__file__).parent / "cases.jsonl").read_text().splitlines()
    return {report["id"]: report for report in map(json.loads, lines)}


def given(name: str) -> dict[str, Any]:
    """The input of a report."""
    return _reports()[name]["input"]


def expected(name: str) -> dict[str, Any]:
    """The checks of a report, by what they check."""
    checks: dict[str, Any] = {}
    for check in _reports()[name]["expect"]["checks"]:
        checks |= check
    return checks
