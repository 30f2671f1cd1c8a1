"""Where the newest entries that stay begin: at a turn's start, or inside of a turn that is all that memory holds."""

from __future__ import annotations

import pytest

from contextlab.core.agent.live import Compaction
from contextlab.core.compaction import Deps
from contextlab.core.memory import AgentMemory
from contextlab.core.policies.rule_based import RuleBased
from contextlab.core.session import AgentSession
from tests.core.talk import Talk


def after_a_long_turn(talk: Talk, calls: int = 100, pins: frozenset[str] = frozenset()) -> Compaction:
    """What a compaction comes to that keeps ten entries, when a prompt with so many calls stands behind the talk."""
    talk.user("Do the big task.")
    for number in range(calls):
        talk.shell(f"step {number}", "out " * 50)
    policy = RuleBased(keep_recent=10)
    return AgentSession(policy=policy, memory=AgentMemory(talk.items), deps=Deps(pins=pins)).compact(policy)


def left(done: Compaction) -> list[str]:
    """Ids of the items that are left in memory."""
    assert done.state == "done", done.reason
    assert done.outcome is not None
    assert done.outcome.memory is not None
    return [item.id for item in done.outcome.memory.items]


NEWEST = [f"{kind}{number}" for number in range(96, 101) for kind in "cr"]


def test_a_greeting_before_a_huge_turn_does_not_keep_memory_large() -> None:
    """A short first turn and the calls of a turn that fills memory leave together; the prompt of the turn stays."""
    assert left(after_a_long_turn(Talk().user("Hi").says("Hello"))) == ["u2", *NEWEST]


@pytest.mark.parametrize("pins", [{"u1", "a1"}, {"u1", "a1", "u2"}])
def test_a_pinned_turn_before_a_huge_one_does_not_keep_memory_large(pins: set[str]) -> None:
    """Where all that stands before the turn is pinned, it stays, and the turn itself is summarised."""
    done = after_a_long_turn(Talk().user("The rules. " * 500).says("Noted."), pins=frozenset(pins))
    assert left(done) == ["u1", "a1", "u2", *NEWEST]


def test_a_turn_stays_whole_where_enough_stands_before_it() -> None:
    """Work that is not much more than what stands before it is not cut in two."""
    talk = Talk()
    for number in range(20):
        talk.user(f"Do part {number}.").shell(f"part {number}", "out " * 100).says("Done.")
    done = after_a_long_turn(talk, calls=20)
    assert left(done) == ["u21", *(f"{kind}{number}" for number in range(21, 41) for kind in "cr")]
