"""Each preset does what the system that it names does: by its own defaults, at its own boundaries."""

from __future__ import annotations

import re

import pytest

from contextlab.core.compaction import Deps, Outcome, Snapshot
from contextlab.core.documents.presets import PRESETS
from contextlab.core.items import Item, Kind, Verdict
from contextlab.core.offload import InMemoryOffloadStore
from contextlab.core.policy import Policy, builtin
from contextlab.core.projection import Projection, Source
from contextlab.core.testing import CountingIds, ScriptedModel
from tests.core.talk import Talk


def seen(name: str, items: list[Item]) -> Projection:
    """What the model sees of a memory under a preset."""
    return builtin(name).projector.project(Source.of(items, _four))


def _four(text: str) -> int:
    return len(text) // 4


def sent(found: Projection) -> list[str]:
    return [item.id for item in found.items]


def due(name: str, items: list[Item]) -> bool:
    """Whether a preset compacts a memory by itself."""
    return builtin(name).decide(Snapshot(tuple(items)), Deps(count=_four)).due


def compact(name: str, items: list[Item], model: ScriptedModel | None = None, force: bool = False) -> Outcome:
    """What a preset does to a memory."""
    deps = Deps(model=model, new_id=CountingIds(), offloads=InMemoryOffloadStore(), count=_four, force=force)
    policy = builtin(name)
    assert policy.compaction is not None
    return policy.compaction.compact(Snapshot(tuple(items)), deps)


def chat(turns: int, size: int = 4) -> list[Item]:
    """Questions and answers."""
    talk = Talk()
    for _ in range(turns):
        talk.user("q" * size).says("a" * size)
    return talk.items


def work(turns: int, result: str = "done") -> list[Item]:
    """Turns of one tool call each."""
    talk = Talk()
    for turn in range(turns):
        talk.user(f"q{turn}").call("read", result, path=f"/f{turn}.py").says(f"a{turn}")
    return talk.items


def test_ai4j_default_keeps_the_beginning_and_the_newest() -> None:
    """At 40 entries nothing happens; at more the pinned first and the newest 39 are sent, with AI4J's note."""
    assert sent(seen("ai4j-default", chat(20))) == [item.id for item in chat(20)]
    items = chat(30)
    found = seen("ai4j-default", items)
    assert sent(found) == [items[0].id, *(item.id for item in items[-39:])]
    assert found.report.notes[0] == "maxItems applied: 40"
    large = chat(10, size=10_000)
    found = seen("ai4j-default", large)
    assert sent(found) == [item.id for item in (large[0], *large[-5:])]
    assert found.report.character_limit_applied


def test_ai4j_type_aware_clears_before_it_drops() -> None:
    """Old results and old reasoning become placeholders in AI4J's words; calls stay."""
    talk = Talk()
    talk._add("t", Kind.REASONING, "hm")
    items = talk.items + work(8)
    found = seen("ai4j-type-aware", items)
    assert found.report.notes == [
        "tier1 microcompact: cleared 3 old tool result(s), kept recent 5",
        "tier2 reasoning-trim: cleared 1 reasoning item(s)",
    ]
    texts = {item.id: item.text for item in found.items}
    assert texts["r1"] == "[tool result cleared: read(call-1)]"
    assert texts["r8"] == "done"
    assert texts["t1"] == "[reasoning cleared]"
    assert len(found.items) == len(items)


def test_ai4j_structured_is_due_above_its_limit_and_says_how_many() -> None:
    """Strictly above 50 entries; the summary is the mechanical one of AI4J, marker first."""
    assert not due("ai4j-structured", chat(25))
    items = [*chat(25), Item("u99", Kind.USER, "more")]
    assert due("ai4j-structured", items)
    outcome = compact("ai4j-structured", items)
    assert outcome.result is not None
    assert outcome.memory is not None
    assert outcome.result.summary.startswith("AI4J_COMPACT_SUMMARY")
    assert "Context projection: 50/51 items retained, 1 dropped." in outcome.result.summary
    assert outcome.memory.items[0].id == "u1"


def test_ai4j_coding_shortens_old_results_before_it_asks_a_model() -> None:
    """Over 111,616 tokens results but the newest three become previews of 240 characters; else a checkpoint."""
    words = "x" * 60_000
    items = work(8, words)
    assert due("ai4j-coding", items)
    assert not due("ai4j-coding", work(7, words))
    model = ScriptedModel()
    outcome = compact("ai4j-coding", items, model)
    assert outcome.result is not None
    assert outcome.memory is not None
    assert (outcome.result.strategy, outcome.result.method, model.calls) == (
        "tool-result-micro",
        "mechanical",
        [],
    )
    short = [
        item.id
        for item in outcome.memory.items
        if item.text.startswith("[tool result compacted to save context]")
    ]
    assert short == ["r1", "r2", "r3", "r4", "r5"]
    outcome = compact("ai4j-coding", chat(8, 60_000), model)
    assert outcome.result is not None
    assert (outcome.result.strategy, len(model.calls)) == ("checkpoint", 1)


def test_agents_flex_window_attaches_ten_turns_and_folds_the_older() -> None:
    """Ten turns; those but the newest two become question and final answer; at most 100 messages."""
    items = work(12)
    found = seen("agents-flex-window", items)
    expected = []
    for turn in range(3, 11):
        expected += [f"u{turn}", f"a{turn}"]
    for turn in (11, 12):
        expected += [f"u{turn}", f"c{turn}", f"r{turn}", f"a{turn}"]
    assert sent(found) == expected
    talk = Talk().user("go")
    for _ in range(60):
        talk.call("read")
    assert len(seen("agents-flex-window", talk.items).items) == 121, "the current turn is never cut"


def test_agents_flex_incremental_lets_a_summary_grow() -> None:
    """Due at ten turns that are not covered; the newest two stay, the rest is told to a model in one request."""
    assert not due("agents-flex-incremental", chat(9))
    assert due("agents-flex-incremental", chat(10))
    model = ScriptedModel()
    outcome = compact("agents-flex-incremental", chat(10), model, force=True)
    assert outcome.memory is not None
    assert [item.id for item in outcome.memory.items if item.kind == Kind.USER and item.text == "qqqq"] == [
        "u9",
        "u10",
    ]
    assert len(model.calls) == 1


def test_agentscope_counts_messages_inclusively_and_previews_large_texts() -> None:
    """Due at 100 messages or 98,304 tokens; a text over 5,120 characters becomes 200 of them and its tag."""
    assert not due("agentscope-auto-context", chat(49))
    assert due("agentscope-auto-context", chat(50))
    items = [Item("u0", Kind.USER, "w" * 6_000), Item("a0", Kind.ASSISTANT, "ok"), *chat(55)]
    outcome = compact("agentscope-auto-context", items, ScriptedModel())
    assert outcome.memory is not None
    text = outcome.memory.items[0].text
    assert text.startswith("w" * 200 + "...\n")
    assert re.search(r"<!-- CONTEXT_OFFLOAD: uuid=\S+ -->", text)
    assert [event.kind for event in outcome.events] == ["LARGE_MESSAGE_OFFLOAD_WITH_PROTECTION"]
    found = seen("agentscope-auto-context", items)
    assert found.fates[0].verdict == Verdict.OFFLOADED


def test_claude_code_micro_compaction_leaves_three_results() -> None:
    """Only the newest three tool results keep their body; no item leaves."""
    items = work(6)
    found = seen("claude-code-micro-compaction", items)
    cleared = [
        item.id for item, fate in zip(items, found.fates, strict=True) if fate.verdict == Verdict.CLEARED
    ]
    assert cleared == ["r1", "r2", "r3"]
    assert len(found.items) == len(items)


def test_openai_truncation_drops_the_oldest_of_what_does_not_fit() -> None:
    """Within 128,000 tokens nothing; else the first entry and an unbroken run of the newest."""
    fits = chat(10, 20_000)
    assert len(seen("openai-truncation", fits).items) == len(fits)
    items = chat(20, 20_000)
    found = seen("openai-truncation", items)
    assert found.report.token_limit_applied
    assert (found.report.projected_tokens or 0) <= 128_000
    names = [item.id for item in items]
    assert sent(found) == [names[0], *names[-(len(found.items) - 1) :]]


@pytest.mark.parametrize(("name", "calls"), [("rule-based", 0), ("llm-summary", 1)])
def test_ours_are_due_at_their_tokens(name: str, calls: int) -> None:
    """At 60,000 tokens; the newest 20 entries stay; only one of them asks a model."""
    assert not due(name, chat(14, 8_000))
    items = chat(15, 8_000)
    assert due(name, items)
    model = ScriptedModel()
    outcome = compact(name, items, model, force=True)
    assert outcome.memory is not None
    assert [item.id for item in outcome.memory.items] == [item.id for item in items[-20:]]
    assert len(model.calls) == calls
    assert builtin(name).needs_model is bool(calls)


@pytest.mark.parametrize("name", PRESETS)
def test_none_changes_what_it_is_given(name: str) -> None:
    """Memory is only read, and the same memory gives the same projection."""
    items = work(30, "w" * 7_000)
    before = [item.text for item in items]
    policy: Policy = builtin(name)
    first = policy.projector.project(Source.of(items, _four))
    again = policy.projector.project(Source.of(items, _four))
    assert [item.text for item in items] == before
    assert [item.text for item in first.items] == [item.text for item in again.items]
