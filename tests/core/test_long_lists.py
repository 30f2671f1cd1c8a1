"""Lists of thousands in one log: their lines are gone through a few times, not each of them for each of the others."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlab.core.compaction import Deps, Line, Snapshot
from contextlab.core.evidence.questions import ASSISTANT, USER, open_questions
from contextlab.core.evidence.record import Record
from contextlab.core.policies.rule_based import RuleBased
from tests.core.plugins import examples
from tests.core.talk import Talk

MANY = 2_000


def todos() -> Talk:
    """One list of an agent's plan tool."""
    return (
        Talk()
        .user("Go.")
        .call("TodoWrite", todos=[{"content": f"{n}", "status": "pending"} for n in range(MANY)])
    )


def files() -> Talk:
    """One patch."""
    changes = "".join(f"*** Update File: src/{number}.py\n+x\n" for number in range(MANY))
    return Talk().user("Go.").raw("apply_patch", f"*** Begin Patch\n{changes}*** End Patch")


def failures() -> Talk:
    """A command after the other that fails."""
    talk = Talk().user("Go.")
    for number in range(MANY):
        talk.shell(f"make {number}", "Exit code: 2\nerror: bad", True)
    return talk


@pytest.mark.parametrize("make", [todos, files, failures])
def test_a_long_list_does_not_hold_up_a_summary(
    make: Callable[[], Talk], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One uploaded line with thousands of tasks, or thousands of failures, do not hold a worker for hours."""
    talk, compared = make(), 0

    def compare(line: Line, other: object) -> bool:
        nonlocal compared
        compared += 1
        return line is other

    monkeypatch.setattr(Line, "__eq__", compare)
    snapshot = Snapshot(tuple(talk.says("Done.").user("And now?").says("Nothing.").items))
    result = RuleBased(keep_recent=2).compact(snapshot, Deps()).result
    assert result is not None
    assert "Left out for length: " in result.summary
    assert compared <= MANY


def slowly(said: list[tuple[bool, bool]], earlier: list[str]) -> list[str]:
    """What is open after a talk (by the person or not, a question or not), looked at sentence by sentence."""
    open_ = list(earlier)
    for number, (mine, asks) in enumerate(said):
        open_ = [text for text in open_ if not text.startswith(ASSISTANT if mine else USER)]
        goes_on = number + 1 < len(said) and said[number + 1][0] != mine
        if asks and not goes_on:
            open_.append((USER if mine else ASSISTANT) + f"{number}?")
    return open_


@examples(100)
@given(
    st.lists(st.tuples(st.booleans(), st.booleans()), max_size=8),
    st.lists(st.sampled_from([f"{ASSISTANT}this?", f"{USER}that?", "of a model?"]), max_size=3, unique=True),
)
def test_only_what_nobody_answered_is_open(said: list[tuple[bool, bool]], earlier: list[str]) -> None:
    """A question is told as open until the other side has said something, whoever asked, however often."""
    talk = Talk()
    for number, (mine, asks) in enumerate(said):
        words = f"{number}?" if asks else f"{number}."
        talk.user(words) if mine else talk.says(words)
    lines = open_questions(Record(talk.items), [Line(text) for text in earlier])
    assert [line.text for line in lines] == slowly(said, earlier)
