"""What only the person saw costs nothing: it makes no compaction due, goes into no summary, and stays in memory."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from contextlab.core import Item, Kind, Verdict
from contextlab.core.compaction import Deps, Snapshot
from contextlab.core.registry import POLICIES, TRIGGERS
from contextlab.core.session import AgentSession
from contextlab.core.testing import ScriptedModel

SMALL: Mapping[str, Mapping[str, object]] = {
    "llm_summary": {"max_items": 4},
    "rule_based": {"max_items": 4, "keep_recent": 4},
    "structured_summary": {"max_items": 4},
    "coding_checkpoint": {
        "window_tokens": 200,
        "reserve_tokens": 0,
        "keep_recent_tokens": 50,
        "micro": False,
    },
    "incremental_window": {"keep_recent_turns": 2, "max_pending_turns": 2},
    "auto_context": {"msg_threshold": 5, "last_keep": 2},
}


def shown(number: int) -> list[Item]:
    """So many cards of an interface."""
    return [Item(f"x{place}", Kind.UI, "shown " * 50) for place in range(number)]


def talk(turns: int) -> list[Item]:
    """Questions and answers."""
    kinds = (Kind.USER, Kind.ASSISTANT)
    return [Item(f"m{place}", kinds[place % 2], f"{place} ".ljust(120, ".")) for place in range(2 * turns)]


@pytest.mark.parametrize("kind", SMALL)
def test_what_only_the_person_saw_makes_nothing_due(kind: str) -> None:
    """Ten cards before two short turns are no reason to compact."""
    memory = Snapshot((*shown(10), *talk(2)))
    assert not POLICIES.get(kind).from_options(SMALL[kind], "safe").should_compact(memory).due


@pytest.mark.parametrize(
    ("kind", "options"),
    [("items", {"max_items": 4}), ("messages", {"min_messages": 5}), ("tokens", {"min_tokens": 200})],
)
def test_no_trigger_counts_it(kind: str, options: Mapping[str, object]) -> None:
    """Entries and tokens are those of what a model may be sent."""
    memory = Snapshot((*shown(10), *talk(2)))
    assert not TRIGGERS.get(kind).from_options(options, "safe").decide(memory, Deps()).due


@pytest.mark.parametrize("kind", ["llm_summary", "rule_based", "coding_checkpoint", "incremental_window"])
def test_nothing_is_paid_for_it(kind: str) -> None:
    """Where nothing else stands before the cut no model is asked, and nothing is made up."""
    model = ScriptedModel()
    memory = Snapshot((*shown(10), *talk(1), Item("q", Kind.USER, "now")))
    policy = POLICIES.get(kind).from_options(
        {**SMALL[kind], **({"keep_recent_tokens": 999} if kind == "coding_checkpoint" else {})}, "safe"
    )
    outcome = policy.compact(memory, Deps(model=model))
    assert (model.calls, outcome.result) == ([], None)


@pytest.mark.parametrize("kind", sorted({*SMALL} - {"auto_context"}))
def test_it_stays_where_the_talk_around_it_goes(kind: str) -> None:
    """Cards in the middle are kept in their places, and the newest entries are counted without them."""
    items = talk(6)
    policy = POLICIES.get(kind).from_options(SMALL[kind], "safe")
    session = AgentSession(policy=policy, deps=Deps(model=ScriptedModel()))
    for item in (*items[:2], *shown(3), *items[2:10], Item("last", Kind.UI, "card"), *items[10:]):
        session.add(item)
    done = session.compact(policy)
    names = [item.id for item in session.memory.items]
    assert done.compacted
    assert [name for name in names if name[0] == "x"] == ["x0", "x1", "x2"]
    assert names.index("last") == names.index("m10") - 1
    assert "m1" not in names
    assert done.outcome is not None
    assert done.outcome.fates["x1"].verdict == Verdict.KEPT
