"""Every case of recorded behaviour, in safe mode and, where it says so, in reference mode; and users' own cases."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.conformance.cases import adapter_of, check, modes_of, our_cases, users_cases
from tests.core.conformance.given import Unsupported


def _parameters(cases: list[dict[str, Any]]) -> list[Any]:
    return [
        pytest.param(case, mode, id=f"{case.get('id', number)}-{mode}")
        for number, case in enumerate(cases)
        for mode in modes_of(case)
    ]


@pytest.mark.parametrize(("case", "mode"), _parameters(our_cases()))
def test_case(case: dict[str, Any], mode: str) -> None:
    """The engine gives what the case expects; a case that cannot be run is a failure."""
    try:
        adapter_of(case["system"])
    except Unsupported as missing:
        pytest.skip(str(missing))
    check(case, mode, ours=True)


@pytest.mark.parametrize(("case", "mode"), _parameters(users_cases()))
def test_users_case(case: dict[str, Any], mode: str) -> None:
    """A case of the file that CONFORMANCE_CASES names; what it does not know is reported as unsupported, not passed."""
    try:
        check(case, mode, ours=False)
    except Unsupported as unsupported:
        pytest.skip(f"unsupported: {unsupported}")
