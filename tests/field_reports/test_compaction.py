"""Reports about compactions: torn pairs, lost rules, summaries that pile up, memory that is lost half way."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import ClassVar, Self

import pytest

from contextlab.core import Item, Kind, faults_of
from contextlab.core.agent.session_events import EventKind, SessionEvent
from contextlab.core.assembler import Assembler
from contextlab.core.compaction import CompactResult, Decision, Deps, Outcome, Snapshot
from contextlab.core.errors import CompactError
from contextlab.core.events import Compaction as CompactionEvent
from contextlab.core.events import ItemEvent, SessionStart, StepEvent
from contextlab.core.items import Verdict
from contextlab.core.memory import AgentMemory
from contextlab.core.recorded import RecordedReplayer
from contextlab.core.session import AgentSession
from contextlab.core.spans import verdicts_at
from contextlab.core.summarising.cut import Entries, safe_cut
from contextlab.core.summarising.outcomes import replaced_by_summary
from contextlab.core.testing import ScriptedModel

from .memories import entries, memory_of, session_of
from .reports import expected, given
from .summarizing import Summarizer, compacted, keeping


def stored(session: AgentSession) -> dict[str, Item]:
    """Memory by id."""
    return {item.id: item for item in session.memory.items}


class CutAt:
    """A policy that is told where to cut: what a stored index, or another tool, asks for."""

    kind: ClassVar[str] = "cut_at"
    needs_model: ClassVar[bool] = False

    def __init__(self, place: int) -> None:
        self.place = place

    @classmethod
    def from_options(cls, options: Mapping[str, object], mode: str) -> Self:
        return cls(0)

    def should_compact(self, snapshot: Snapshot) -> Decision:
        return Decision(False, "never")

    def compact(self, snapshot: Snapshot, deps: Deps) -> Outcome:
        known = Entries(snapshot.items)
        gone = {item.id for item in snapshot.items[: known.start(safe_cut(known, self.place))]}
        return replaced_by_summary(snapshot, gone, CompactResult(summary="summary text"), deps)


def test_pairing_06_a_cut_inside_a_batch_moves() -> None:
    """Index 3 lies between two results of one message: the cut goes in front of the message."""
    session = session_of("pairing-06")
    place = given("pairing-06")["policy"]["cutIndex"]
    assert session.compact(CutAt(place), require_gain=False).compacted
    left, checks = entries(session.memory.items), expected("pairing-06")
    assert len({message in left for message in checks["same_side"]}) == 1
    assert len(memory_of("pairing-06")) - len(session.memory.items) != place
    assert set(checks["kept"]) <= set(left)
    assert faults_of(session.next_context().document, checks["valid"]) == []


def test_pairing_06_a_cut_inside_a_batch_is_not_committed() -> None:
    """A stranger's policy that does cut there is refused, with both halves named."""

    class Blind(CutAt):
        def compact(self, snapshot: Snapshot, deps: Deps) -> Outcome:
            gone = {item.id for item in snapshot.items[: self.place + 1]}
            return replaced_by_summary(snapshot, gone, CompactResult(summary="s"), deps)

    session = session_of("pairing-06")
    before = session.snapshot()
    with pytest.raises(CompactError, match="would be separated"):
        session.compact(Blind(given("pairing-06")["policy"]["cutIndex"]), require_gain=False)
    assert session.snapshot() == before


def test_pairing_13_words_beside_a_result_are_kept_without_it() -> None:
    """A person's text that shares a message with a result stays when pinned; the result goes with its call."""
    items = memory_of("pairing-13")
    words = frozenset(item.id for item in items if item.kind == Kind.USER)
    session = session_of("pairing-13", deps=Deps(model=ScriptedModel(["s"]), pins=words))
    assert session.compact(keeping(given("pairing-13")["policy"]["keepRecent"]), require_gain=False).compacted
    checks = expected("pairing-13")
    document = session.next_context("anthropic").document
    assert checks["text_kept"] in json.dumps(document)
    assert "tool_result" not in json.dumps(document)
    assert faults_of(document, checks["valid"]) == []


def test_pairing_14_an_interrupted_call_has_a_stand_in_in_the_request_only() -> None:
    """The request has a labelled line for the missing result; memory is not touched, the report says it."""
    session = session_of(
        "pairing-14", deps=Deps(model=(model := Summarizer(given("pairing-14")["summarizer"])))
    )
    done = session.compact(keeping(given("pairing-14")["policy"]["keepRecent"]), require_gain=False)
    assert done.compacted
    (asked,) = model.asked
    lines = [json.loads(line) for line in asked.splitlines() if line.startswith('{"')]
    calls = [line["call_id"] for line in lines if line["kind"] == "tool_call"]
    results = {line["call_id"]: line["text"] for line in lines if line["kind"] == "tool_result"}
    assert calls == list(results) == ["T1"]
    assert "no result" in results["T1"]
    assert not [item for item in session.memory.items if item.kind == Kind.TOOL_RESULT]
    assert session.last_result is not None
    assert session.last_result.report is not None
    assert expected("pairing-14")["note_contains"] in " ".join(session.last_result.report.notes)


def test_pairing_16_rounds_do_not_count_anything_twice() -> None:
    """After three rounds one summary is visible, and each item was summarised once or is kept."""
    report, checks = given("pairing-16"), expected("pairing-16")
    session = session_of("pairing-16", deps=Deps(model=Summarizer(report["summarizer"])))
    covered: list[str] = []
    for chosen in report["rounds"]:
        outcome = session.compact(keeping(chosen["keepRecent"]), require_gain=False).outcome
        covered += outcome.covered if outcome is not None else ()
    shown = session.memory.prompt_items()
    assert sum(item.kind == Kind.SUMMARY for item in shown) == checks["markers_visible"]
    assert len(covered) == len(set(covered)) == checks["dropped_total_unique"]
    assert entries(session.memory.items) == checks["kept"]


def test_pinned_02_a_rule_in_the_middle_stays_word_for_word() -> None:
    """A pin is honoured wherever it stands, and keeps its place before what follows."""
    session, checks = compacted("pinned-02"), expected("pinned-02")
    before = {item.id: item for item in memory_of("pinned-02")}
    after = stored(session)
    assert after["m3"].text == before[checks["bytes_equal"]].text
    assert [name for name in after if name in checks["order"]] == checks["order"]
    assert faults_of(session.next_context().document, checks["valid"]) == []


def test_pinned_03_a_system_item_is_never_summarised() -> None:
    """The prompt of a subagent at the beginning of its memory stays there."""
    session, checks = compacted("pinned-03"), expected("pinned-03")
    name, place = checks["position"]
    assert session.memory.items[place].id == name == checks["bytes_equal"]
    assert session.next_context().messages[0]["content"] == given("pinned-03")["items"][0]["content"]


def test_live_request_05_memory_is_replaced_as_a_whole_or_not_at_all() -> None:
    """Writing the new memory fails: the old one stands, the caller is told, and so is every hook."""

    class Full(AgentMemory):
        def restore(self, snapshot: Snapshot) -> None:
            raise OSError("disk full")

    told: list[SessionEvent] = []
    memory = Full(memory_of("live_request-05"))
    summarizer = Summarizer(given("live_request-05")["summarizer"])
    session = AgentSession(memory=memory, deps=Deps(model=summarizer), hooks=[told.append])
    before = session.snapshot()
    with pytest.raises(CompactError, match="disk full"):
        session.compact(keeping(1), require_gain=False)
    assert session.snapshot() == before
    assert EventKind.COMPACT_FAILED in [event.kind for event in told]


def test_live_request_06_a_boundary_is_an_id() -> None:
    """A reminder that comes late is not summarised with what stood before the boundary: not live, not in a log."""
    report, checks = given("live_request-06"), expected("live_request-06")
    rows = report["items"] + [report["then_insert"]["item"]]
    items = [Item(row["_id"], Kind(row["role"]), row["content"]) for row in rows]
    session = AgentSession(deps=Deps(model=ScriptedModel(["s"])), memory=AgentMemory(items[:4]))
    outcome = session.compact(keeping(2), require_gain=False).outcome
    session.add(items[4])
    assert outcome is not None
    assert list(outcome.covered) == checks["compacted"]
    assert list(stored(session)) == [*checks["kept"], *checks["not_compacted"]]

    log = Assembler(SessionStart("s"))
    for item in items[:4]:
        log.feed(ItemEvent(item.id, item.kind, item.text, item.id))
    log.feed(ItemEvent("sum", Kind.SUMMARY, "s", "sum"))
    log.feed(CompactionEvent("k", summary="sum", keeps=tuple(checks["kept"])))
    log.feed(ItemEvent("s9", Kind.SYSTEM, "late reminder", "s9"))
    log.feed(StepEvent("step"))
    replayer = RecordedReplayer(log.timeline)
    assert len(list(replayer.run())) == 1
    places = [log.position_of(item.id) or 0 for item in items]
    fates = verdicts_at(replayer.spans(), 1, places)
    summarised = [
        item.id for item, (verdict, _) in zip(items, fates, strict=True) if verdict == Verdict.SUMMARISED
    ]
    assert summarised == checks["compacted"]
