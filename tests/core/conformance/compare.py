"""How what a case expects is held against what came out.

| expected        | holds when                                                                                  |
|-----------------|---------------------------------------------------------------------------------------------|
| dict            | every key of it is there and its value holds (a subset)                                     |
| list            | as long, and each element holds                                                             |
| `x_contain(s)`  | each part is in the text `x`, or is a member of the list `x` or part of one                 |
| `x_lacks`       | none of the parts is                                                                        |
| `raises`        | a name: the error or one of its bases is named so; true: there was one; null: there was none |
| anything else   | equal, and true is not 1                                                                    |

A key that the adapter does not give, at the top or inside a report, is Unsupported: never a match, never a mismatch.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.core.conformance.given import Unsupported

NAMED = frozenset({"report"})
"""Dicts whose keys are names of ours, so that a missing one is unknown; others have ids as keys."""


class Raised:
    """An error that came out, to be compared by name."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def matches(self, name: object) -> bool:
        """Whether the error or one of its bases has the name (or any name will do)."""
        return name is True or name in [base.__name__ for base in type(self.error).__mro__]

    def __repr__(self) -> str:
        return f"raised {self.error!r}"


def hold(expected: Mapping[str, Any], actual: Mapping[str, Any]) -> None:
    """Raise AssertionError at the first mismatch, Unsupported at the first key that is not known."""
    if not expected:
        raise Unsupported("the case expects nothing")
    for key, value in expected.items():
        _hold_key(key, value, actual, known=True, place="")


def _hold_key(key: str, value: Any, actual: Mapping[str, Any], *, known: bool, place: str) -> None:
    where = f"{place}.{key}" if place else key
    base, test = _split(key)
    if base not in actual:
        if known:
            raise Unsupported(f"nothing here gives {where}")
        raise AssertionError(f"{where} is missing; there is {sorted(actual)}")
    if test is not None:
        parts = value if isinstance(value, list) else [value]
        found = [part for part in parts if _contains(actual[base], part)]
        assert found == (parts if test == "contain" else []), f"{where}: {parts!r} and {actual[base]!r}"
    else:
        _hold_value(value, actual[base], where, known=key in NAMED)


def _split(key: str) -> tuple[str, str | None]:
    for ending, test in (("_contains", "contain"), ("_contain", "contain"), ("_lacks", "lacks")):
        if key.endswith(ending):
            return key.removesuffix(ending), test
    return key, None


def _contains(whole: Any, part: Any) -> bool:
    if isinstance(whole, str):
        return str(part) in whole
    return any(part == one or (isinstance(one, str) and str(part) in one) for one in whole or ())


def _hold_value(expected: Any, actual: Any, where: str, *, known: bool = False) -> None:
    if isinstance(actual, Raised):
        assert actual.matches(expected), f"{where}: expected {expected!r}, {actual!r}"
    elif isinstance(expected, dict) and isinstance(actual, Mapping):
        for key, value in expected.items():
            _hold_key(key, value, actual, known=known, place=where)
    elif isinstance(expected, list) and isinstance(actual, list | tuple):
        assert len(expected) == len(actual), f"{where}: expected {expected!r}, got {actual!r}"
        for number, (one, other) in enumerate(zip(expected, actual, strict=True)):
            _hold_value(one, other, f"{where}[{number}]")
    else:
        same = expected == actual and isinstance(expected, bool) == isinstance(actual, bool)
        assert same, f"{where}: expected {expected!r}, got {actual!r}"
