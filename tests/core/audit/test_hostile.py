"""Hostile texts: bounded, with their limits counted. Speed itself is measured in bench/ledger.py."""

from __future__ import annotations

import pytest

from tests.core.audit.talks import agent, bash, changes, ledger, user, verdicts

BOMBS = {
    "figures": "1" * 1_000_000,
    "dotted": "1." * 300_000,
    "letters": "a" * 1_000_000,
    "slashes": "a/" * 300_000,
    "underscores": "a_" * 300_000,
    "equals": "a=" * 300_000,
    "brackets": "(" * 500_000,
    "backticks": "`a" * 300_000,
    "rules": "Never edit a/b.py. " * 30_000,
    "leave": "leave " * 100_000,
    "errors": "Error: x failed\n" * 40_000,
    "numerals": "三次" * 200_000,
    "blank lines": "\n" * 1_000_000,
    "pairs": "from 1 to 2 " * 60_000,
    "hashes": "a@" * 250_000,
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_does_no_harm_anywhere(name):
    """As words of a person, of the agent, as an output and as the summary; the planted change is still found."""
    bomb = BOMBS[name]
    done = ledger(
        user("The port is 8443."), user(bomb), agent(bomb), bash("run", bomb), agent("Go on."),
        summary=f"The port is 8433.\n{bomb[:200_000]}",
    )  # fmt: skip
    assert ("port 8443", "8433") in changes(done)
    assert len(done.entries) < 400


def test_limits_are_counted_and_told():
    """What was not read is said: words too long, texts cut, facts over the bound."""
    done = ledger(agent("x" * 5_000 + " " + "1" * 600 + " ok"), bash("run", "y " * 5_000), summary="ok")
    assert done.limits.long_tokens == 2
    assert done.limits.cut_texts == 1
    assert done.limits.cut_characters == 10_000 - 1_000
    many = ledger(user(" ".join(f"src/file_{at}.py" for at in range(2_000))), summary="ok")
    assert many.limits.facts_over == 1_600


def test_a_hundred_thousand_paths_in_one_result():
    """No list of them, and what the agent said about one is judged."""
    listing = "\n".join(f"src/pack_{at % 97}/file_{at}.py" for at in range(100_000))
    done = ledger(
        bash("find src -name '*.py'", listing),
        agent("I look at src/pack_3/file_100.py."),
        summary="Looked at file_100.py.",
    )
    assert verdicts(done, "src/pack_3/file_100.py") == {"kept"}
    assert len(done.entries) < 100


def test_nothing_at_all():
    """Empty items, empty summary: an empty ledger."""
    done = ledger(user(""), agent(""), summary="")
    assert done.entries == ()
    assert ledger(summary="A summary of nothing.").entries == ()
