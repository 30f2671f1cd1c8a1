"""A memory that was stored is the memory that was written: items with their class, summary, result, version."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlab.core import AgentSession, Item, Kind, LiveItem, Snapshot, parse_policy
from contextlab.core.codec import UnreadableRecord, dump_snapshot, load_snapshot
from contextlab.core.compaction import CompactResult, Deps, Line, Sections
from contextlab.core.items import Injected, Media
from contextlab.core.language_model import ModelUsage
from contextlab.core.projection import Placeholder
from contextlab.core.report import Report
from contextlab.core.testing import CountingIds, ScriptedModel
from tests.core.memories import random_memory
from tests.core.plugins import examples

text = st.text(st.characters(), max_size=12)  # lone surrogates and NUL among them
maybe = st.none() | text
common = {
    "id": st.text(min_size=1, max_size=6), "kind": st.sampled_from(Kind), "text": text, "entry": text, "tool": maybe,
    "call_id": maybe, "chars": st.integers(-1, 2**40), "tokens": st.none() | st.integers(0, 2**40),
    "pinned": st.booleans(), "injected": st.none() | st.sampled_from(Injected), "opens_turn": st.booleans(),
    "media": st.lists(st.builds(Media, text, maybe, st.none() | st.integers(0, 2**40)), max_size=2).map(tuple),
    "needs_result": st.booleans(), "error": st.none() | st.booleans(),
}  # fmt: skip
plain = st.builds(Item, **common)
live = st.builds(LiveItem, **common, provider_id=maybe, secret=maybe)
stand_in = st.builds(Placeholder, **common, original=st.none() | plain | live)
lines = st.lists(st.builds(Line, text, st.lists(text, max_size=2).map(tuple)), max_size=2)
sections = st.builds(
    Sections, goal=maybe, **{name: lines for name in Sections.__dataclass_fields__ if name != "goal"}
)
number = st.none() | st.integers(0, 2**50)
reports = st.builds(
    Report, source_items=st.integers(0, 99), source_tokens=number, band=st.none() | st.floats(0, 1),
    notes=st.lists(text, max_size=2), composition=st.lists(st.integers(0, 9), max_size=7).map(tuple),
    finding=maybe, over_budget=st.booleans(),
)  # fmt: skip
usages = st.builds(ModelUsage, number, number, number, st.none() | st.floats(0, 9), maybe)
results = st.builds(
    CompactResult, sections, text, st.lists(text, max_size=2), st.lists(text, max_size=2), st.none() | reports,
    st.sampled_from(["rules", "model", "mechanical"]), text, st.none() | usages, maybe,
)  # fmt: skip
snapshots = st.builds(
    Snapshot, st.lists(plain | live | stand_in, max_size=4).map(tuple), maybe, st.none() | results,
    st.integers(0, 2**31),
)  # fmt: skip


@examples(80)
@given(snapshots)
def test_every_memory_comes_back_as_it_was(snapshot: Snapshot) -> None:
    """Whatever an item holds; the text is plain ASCII, so every database takes it."""
    written = dump_snapshot(snapshot)
    assert written.isascii()
    assert load_snapshot(written) == snapshot
    assert [type(item) for item in load_snapshot(written).items] == [type(item) for item in snapshot.items]


@examples(60)
@given(st.integers(0, 10**9))
def test_an_agent_goes_on_from_a_stored_memory_as_if_nothing_had_been(seed: int) -> None:
    """Signatures and the provider's ids of reasoning are sent again, and the next compaction knows the last result."""
    policy = parse_policy({"version": 1, "name": "p", "compaction": {"kind": "rule_based", "keep_recent": 3}})
    session = AgentSession(policy=policy.compaction)
    for item in random_memory(seed):
        more = (
            {"secret": f"sig {item.id}", "provider_id": f"rs_{item.id}"}
            if item.kind == Kind.REASONING
            else {}
        )
        fields = {name: getattr(item, name) for name in Item.__dataclass_fields__}
        session.add(LiveItem(**fields, **more))
    session.compact(policy.compaction)
    stored = load_snapshot(dump_snapshot(session.snapshot()))
    again = AgentSession(policy=policy.compaction)
    again.restore(stored)
    assert replace(again.snapshot(), version=0) == replace(session.snapshot(), version=0)
    for wire in ("openai_chat", "openai_responses", "anthropic"):
        assert again.next_context(wire).document == session.next_context(wire).document


def test_a_result_of_a_model_is_stored_whole() -> None:
    """Sections with their items, report, usage and the raw reply."""
    policy = parse_policy({"version": 1, "name": "p", "compaction": {"kind": "llm_summary", "max_items": 2}})
    model = ScriptedModel(['{"goal": "g", "pending": ["p"]}'])
    session = AgentSession(deps=Deps(model=model, new_id=CountingIds()), require_gain=False)
    for number in range(6):
        session.add(Kind.USER, f"question {number}")
    session.compact(policy.compaction)
    result = load_snapshot(dump_snapshot(session.snapshot())).last_result
    assert result == session.last_result
    assert result is not None
    assert (result.sections.goal, result.raw_reply) == ("g", '{"goal": "g", "pending": ["p"]}')
    assert result.usage is not None


@pytest.mark.parametrize(
    "wrong",
    [
        {"summary": ...},
        {"result": []},
        {"result": {"sections": 1}},
        {"result": "text"},
        {"items": [{"id": "a", "kind": "user", "live": {"colour": 1}}]},
        {"items": [{"id": "a", "kind": "user", "live": 3}]},
    ],
)
def test_a_memory_of_somebody_else_is_refused(wrong: dict) -> None:
    """What cannot be read is an error of its own, never half a memory."""
    known = {"v": 1, "items": [], "summary": None, "version": 0, "result": None} | wrong
    with pytest.raises(UnreadableRecord):
        load_snapshot(json.dumps({name: value for name, value in known.items() if value is not ...}))


def test_what_is_nested_without_end_is_refused() -> None:
    """A stored text that a parser gives up on is unreadable like any other."""
    with pytest.raises(UnreadableRecord):
        load_snapshot("[" * 100_000)
