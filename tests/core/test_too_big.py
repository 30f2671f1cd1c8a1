"""Why compactions do not help: the part of memory that is too large is named, with its size."""

from __future__ import annotations

import pytest

from contextlab.core.agent.too_big import too_big
from contextlab.core.compaction import Decision, Deps, Outcome, Snapshot
from contextlab.core.items import Item, Kind
from contextlab.core.registry import POLICIES, TRIGGERS
from contextlab.core.session import AgentSession
from tests.core.test_session import Made, chat

TOKENS = Decision(True, "tokens >= 40,000", 50_000, 40_000)


def item(name: str, kind: Kind, tokens: int, pinned: bool = False) -> Item:
    return Item(name, kind, name, pinned=pinned, tokens=tokens)


PINS = item("p", Kind.USER, 41_000, pinned=True)
OLD = [item("u1", Kind.USER, 10), item("a1", Kind.ASSISTANT, 9_000)]
TURN = [item("u2", Kind.USER, 10), item("r2", Kind.TOOL_RESULT, 9_990)]


@pytest.mark.parametrize(
    ("items", "summary", "words"),
    [
        ([PINS, *OLD, *TURN], None, "the pinned items alone are 41,000 of 40,000 tokens"),
        ([*OLD, item("u2", Kind.USER, 45_000)], None, "the current turn alone is 45,000 of 40,000 tokens"),
        (TURN, "x" * 200_000, "the summary alone is 50,000 of 40,000 tokens"),
        (
            [item("p", Kind.SYSTEM, 35_000), *TURN],
            None,
            "the pinned items (35,000) and the current turn (10,000) are 45,000 of 40,000 tokens",
        ),
        ([item("a", Kind.ASSISTANT, 39_000), *TURN], None, None),
    ],
)
def test_the_part_is_named_with_its_size(items: list[Item], summary: str | None, words: str | None) -> None:
    """A part alone, two together, else the largest one."""
    found = too_big(Snapshot(tuple(items), summary), TOKENS, Deps())
    assert found is not None
    assert found.words == (words or "the largest part is the earlier turns: 39,000 of 40,000 tokens")


def test_entries_are_counted_where_the_rule_counts_them() -> None:
    """A rule in items is told in entries."""
    memory = Snapshot(tuple(item(f"p{n}", Kind.USER, 1, pinned=True) for n in range(41)))
    found = too_big(memory, Decision(True, "items > 40", 41, 40), Deps())
    assert found is not None
    assert found.words == "the pinned items alone are 41 of 40 entries"


def test_a_rule_without_parts_names_none() -> None:
    """Seconds and turns have no parts that could be too large."""
    assert too_big(Snapshot((PINS,)), Decision(True, "age >= 5 s", 6, 5), Deps()) is None


def test_the_breaker_names_the_part() -> None:
    """After three runs that were of no use the pause says what is too large and how large it is."""
    trigger = TRIGGERS.get("tokens").from_options({"min_tokens": 2_000}, "safe")
    policy = POLICIES.get("rule_based").from_options({"keep_recent": 2}, "safe")
    session = AgentSession(policy=policy, trigger=trigger)
    session.add(item("big", Kind.SYSTEM, 1_900))
    chat(session, 9)
    session.add(Kind.USER, "and now?", tokens=900)
    notes: list[str] = []
    for number in range(5):
        session.add(Kind.ASSISTANT, f"more {number}", tokens=40)
        notes = session.next_context().report.notes
    assert any(
        "compaction paused: the last 3 were of too little use" in note
        and "the pinned items (1,900) and the current turn (9" in note
        for note in notes
    ), notes


def test_pins_alone_pause_at_once_with_their_size() -> None:
    """No second attempt, and the report tells both figures."""
    policy = Made(lambda snapshot: Outcome(reason="nothing_to_summarise"))
    trigger = TRIGGERS.get("tokens").from_options({"min_tokens": 40_000}, "safe")
    session = AgentSession(policy=policy, trigger=trigger)
    session.add(PINS)
    notes = session.next_context().report.notes
    assert "pinned_over_budget: the pinned items alone are 41,000 of 40,000 tokens" in notes
