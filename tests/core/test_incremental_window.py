"""The policy of a growing summary over a window of turns."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextlab.core import Item, Kind, PolicyError, Verdict
from contextlab.core.committing.commit import faults_of_outcome
from contextlab.core.compaction import Deps, Outcome, Snapshot
from contextlab.core.errors import EmptySummary
from contextlab.core.items import Reason
from contextlab.core.language_model import ModelError
from contextlab.core.policies.incremental_window import IncrementalWindow
from contextlab.core.session import AgentSession
from contextlab.core.testing import ScriptedModel
from tests.core.test_turn_window import SEEDS, memory, talk

EXCERPT = {"compressor": {"kind": "text_excerpt"}}


def compacted(items: list[Item], policy: IncrementalWindow | None = None, **more: object) -> Outcome:
    """What a policy gives for items, with a model that is asked or not."""
    deps = Deps(model=ScriptedModel())
    return (policy or IncrementalWindow(1)).compact(Snapshot(tuple(items)), deps)


@settings(max_examples=80, deadline=None)
@given(SEEDS, st.integers(min_value=0, max_value=3), st.booleans())
def test_what_comes_out_may_be_committed(seed: int, recent: int, fold: bool) -> None:
    """Any memory: every item has a fate, pins and pairs stay, the open prompt stays, the snapshot is not changed."""
    items = [item for item in memory(seed) if item.kind not in (Kind.UI, Kind.SUMMARY)]
    policy = IncrementalWindow.from_options(
        {"keep_recent_turns": recent, "compact_completed_tool_turns": fold, **EXCERPT}, "safe"
    )
    snapshot, before = Snapshot(tuple(items)), copy.deepcopy(items)
    try:
        outcome = policy.compact(snapshot, Deps())
    except EmptySummary:
        return  # nothing was said in what would be covered
    assert items == before
    assert set(outcome.fates) == {item.id for item in items}
    if outcome.result is not None:
        assert faults_of_outcome(snapshot, outcome, Deps()) == []
        report = outcome.result.report
        assert report is not None
        assert report.source_items == report.projected_items + report.summarised_items + report.dropped_items


def test_the_summary_grows_and_covers_each_item_once() -> None:
    """The second compaction gives the model the first summary and the new turns, not the old ones."""
    model = ScriptedModel()
    session = AgentSession(policy=IncrementalWindow(1), deps=Deps(model=model), require_gain=False)
    for number in range(1, 4):
        session.add(Kind.USER, f"question {number}")
        session.add(Kind.ASSISTANT, f"answer {number}")
        session.compact(session.policy)
    assert [item.text for item in session.memory.items] == ["question 3", "answer 3"]
    assert session.memory.summary == "SUM2"
    first, second = (call[-1].content for call in model.calls)
    assert ("question 1" in first, "question 1" in second) == (True, False)
    assert ("SUM" in second, "question 2" in second) == (True, True)


def test_tool_turns_are_folded_before_the_model_reads_them() -> None:
    """What lies between question and answer is dropped, not summarised, and the files in it are remembered."""
    items = talk("u:q1", "c:1", "r:1", "a:a1", "u:q2")
    items[1].tool, items[1].text = "read_file", '{"path": "src/a.py"}'
    outcome = compacted(items)
    assert outcome.result is not None
    assert [fate.verdict for fate in outcome.fates.values()] == [
        Verdict.SUMMARISED, Verdict.DROPPED, Verdict.DROPPED, Verdict.SUMMARISED, Verdict.KEPT
    ]  # fmt: skip
    assert outcome.fates[items[1].id].reason == Reason.TOOL_TURN_COMPACTED
    assert outcome.result.read_files == ["src/a.py"]
    assert (outcome.result.method, outcome.result.raw_reply) == ("model", "SUM")
    assert outcome.result.usage is not None


def test_a_turn_that_waits_for_a_result_stays_whole() -> None:
    """The result may still come; the turns around it are covered."""
    items = talk("u:q1", "a:a1", "u:q2", "c:1", "u:q3", "a:a3", "u:q4")
    outcome = compacted(items)
    assert outcome.memory is not None
    assert [item.text for item in outcome.memory.items] == ["q2", "1", "q4"]


def test_pins_are_not_material() -> None:
    """What is pinned stays in memory with its pair, and the model does not read it again and again."""
    items = talk("u:q1", "c:1", "r:1", "a:fact", "u:q2")
    items[3].pinned = True
    model = ScriptedModel()
    snapshot = Snapshot(tuple(items))
    outcome = IncrementalWindow(1).compact(snapshot, Deps(model=model, pins=frozenset([items[2].id])))
    assert outcome.memory is not None
    assert [item.id for item in outcome.memory.items] == [items[i].id for i in (1, 2, 3, 4)]
    assert "fact" not in model.calls[0][-1].content


def test_nothing_to_cover_asks_nobody() -> None:
    """One turn, or only pins before it: no call, no result, a reason."""
    pinned = talk("u:q1", "u:q2")
    pinned[0].pinned = True
    for items in ([], talk("u:q1", "a:a1"), pinned):
        model = ScriptedModel()
        outcome = IncrementalWindow(1).compact(Snapshot(tuple(items)), Deps(model=model))
        assert (outcome.result, bool(outcome.reason), model.calls) == (None, True, [])


def test_it_is_due_by_turns() -> None:
    """More turns than it lets stand outside the summary."""
    items = talk("u:q1", "a:a1", "u:q2")
    assert not IncrementalWindow(max_pending_turns=2).should_compact(Snapshot(tuple(items))).due
    assert IncrementalWindow(max_pending_turns=1).should_compact(Snapshot(tuple(items))).due


def test_a_failure_is_raised_and_options_are_checked() -> None:
    """Without a model there is no summary; a wrong option is named; without a model's compressor none is needed."""
    items = talk("u:q1", "a:a1", "u:q2")
    with pytest.raises(ModelError, match="model"):
        IncrementalWindow(1).compact(Snapshot(tuple(items)), Deps())
    with pytest.raises(PolicyError, match=r"compaction\.compressor\.max_characters"):
        IncrementalWindow.from_options({"compressor": {"kind": "text_excerpt", "max_characters": 0}}, "safe")
    plain = IncrementalWindow.from_options({"keep_recent_turns": 1, **EXCERPT}, "safe")
    assert (plain.needs_model, IncrementalWindow.needs_model, IncrementalWindow().needs_model) == (
        False,
        True,
        True,
    )
    outcome = plain.compact(Snapshot(tuple(items)), Deps())
    assert outcome.result is not None
    assert (outcome.result.summary, outcome.result.method) == ("q1\na1", "mechanical")
