"""The conformance runner: a wrong expectation fails, an unknown one is unsupported, and nothing passes unseen."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from tests.core.conformance.cases import case_by_id, check, modes_of, our_cases, users_cases
from tests.core.conformance.given import Unsupported
from tests.core.conformance.overlay import contradicted, laid_over

CASE = case_by_id("A4J-L01")


def changed(*path: str, value: Any) -> dict[str, Any]:
    """The case with one value changed."""
    case = copy.deepcopy(CASE)
    part = case
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    return case


@pytest.mark.parametrize("key", sorted(CASE["expected"]))
def test_every_expectation_is_looked_at(key: str) -> None:
    """Another value in any key of what is expected is a mismatch."""
    value = CASE["expected"][key]
    other = (not value) if isinstance(value, bool) else value + 1 if isinstance(value, int) else [*value, "~"]
    with pytest.raises(AssertionError):
        check(changed("expected", key, value=other), "safe", ours=False)


@pytest.mark.parametrize("path", [("x",), ("input", "x"), ("options", "x"), ("expected", "x")])
def test_a_key_that_nobody_knows_is_unsupported(path: tuple[str, ...]) -> None:
    """A key that the runner does not understand is never passed over."""
    with pytest.raises(Unsupported):
        check(changed(*path, value=1), "safe", ours=False)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("system",), "moon"),
        (("component",), "moon"),
        (("prose",), True),
        (("expected",), {}),
        (("input", "items"), [{"id": "u", "kind": "moon"}]),
        (("input", "items"), [{"id": "u", "kind": "user", "x": 1}]),
    ],
)
def test_a_case_that_cannot_be_run_is_unsupported(path: tuple[str, ...], value: Any) -> None:
    """Prose, strange systems and strange rows in a user's file are reported, not guessed at."""
    with pytest.raises(Unsupported):
        check(changed(*path, value=value), "safe", ours=False)


def test_reference_expectations_are_laid_over() -> None:
    """What the reference mode names replaces, the rest is carried over, but not a failure that it does not have."""
    assert set(laid_over(case_by_id("A4J-L13"))) == {"kept", "summary"}
    assert laid_over(case_by_id("A4J-F05")) == {"read_files": ["/x.txt"], "modified_files": []}
    assert laid_over(case_by_id("AGS-37"))["events"] == []
    assert modes_of(case_by_id("A4J-L13")) == ["safe", "reference"]


def test_nothing_is_left_out_unseen() -> None:
    """In these cases the reference result contradicts the safe one under another name, and in no others."""
    both = [case for case in our_cases() if "expected_reference_mode" in case]
    merged = {case["id"]: {**case["expected"], **case["expected_reference_mode"]} for case in both}
    found = {case["id"]: sorted(contradicted(case)) for case in both if contradicted(case)}
    assert found == {
        "A4J-L13": [
            "memory_unchanged",
            "raises",
            "summary_after",
        ],  # a stub replaces items and the earlier summary
        "A4J-L14": ["event", "memory_unchanged", "summary_after"],
        "AGF-I03": ["raises"],  # the original begins anew
        "AGNO-04": ["raises"],  # texts of two users are merged
        "AGNO-05": ["raises"],
        "AGS-08": ["returned"],  # compressed, to a memory with an orphan
        "AGS-14": ["returned"],  # its strategy 6 rewrites a finished answer
        "AGS-29": ["returned"],
        "AGS-38": ["events"],  # of a round that was undone
    }
    guarded = {case["id"] for case in both if laid_over(case) != merged[case["id"]]} - set(found)
    assert guarded == {"A4J-P25", "A4J-P26"}


def test_users_bring_a_file_of_cases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file that CONFORMANCE_CASES names is read, a list or an object with cases."""
    path = tmp_path / "cases.json"
    path.write_text(json.dumps([CASE]))
    monkeypatch.setenv("CONFORMANCE_CASES", str(path))
    assert users_cases() == [CASE]
    monkeypatch.delenv("CONFORMANCE_CASES")
    assert users_cases() == []
