"""Compactions, cleared results, /clear and rewinds in Claude Code logs made by hand."""

from __future__ import annotations

from typing import Any

from contextlab.core.events import Cleared, Compaction
from contextlab.core.items import Kind, Reason, Verdict
from tests.importers.claude_log import Log, TurnStart, call, text


def working(log: Log) -> Log:
    """A first turn with a call and its result."""
    log.user("Set the port to 8081", parent=None)
    log.answer("m1", text("I set it."), call("t1", "Edit", path="conf"), stop="tool_use")
    log.result("t1", "edited")
    log.answer("m2", text("Done."), stop="end_turn")
    return log


def test_boundary_and_flag_are_one_compaction() -> None:
    """A boundary row and the flagged summary behind it count once; the summary is its text and no user turn."""
    log = Log()
    log.user("one", uuid="a1", parent=None)
    log.add(
        "system",
        "k1",
        subtype="compact_boundary",
        parent=...,
        compactMetadata={"trigger": "auto", "preTokens": 155000},
    )
    log.user("summary of work", uuid="k2", parent="k1", isCompactSummary=True)
    log.user("three", uuid="a3", parent="a2")
    got = log.read()
    (compaction,) = got.of(Compaction)
    assert (compaction.pre_tokens, compaction.summary) == (155000, "k2")
    assert [item.kind for item in got.items()] == ["user", "summary", "user"]
    assert [turn.id for turn in got.of(TurnStart)] == ["a1", "a3"]


def test_attachments_may_come_before_the_summary() -> None:
    """What the client attaches between a boundary and its summary does not part them: it is one compaction."""
    log = working(Log())
    log.boundary()
    log.add("attachment", attachment={"type": "file", "filename": "conf"})
    log.summary()
    log.answer("m3", text("Yes."))
    got = log.read()
    assert [compaction.summary for compaction in got.of(Compaction)] == ["u7"]
    assert got.contexts()["m3"] == ["u7", "u6"]


def test_boundary_without_metadata_is_unknown_not_zero() -> None:
    """A boundary that says nothing is a compaction of which nothing is known."""
    log = working(Log())
    log.boundary(compactMetadata=...)
    log.user("three", parent="a2")
    (compaction,) = log.read().of(Compaction)
    assert (compaction.pre_tokens, compaction.post_tokens, compaction.trigger, compaction.summary) == (
        None,
    ) * 4


def test_summary_without_boundary_is_a_compaction() -> None:
    """Versions that only flag the summary are understood: what stood before it is summarised."""
    log = working(Log())
    log.summary("The port is 8081.", parent=None)
    log.answer("m3", text("On with it."))
    got = log.read()
    (compaction,) = got.of(Compaction)
    assert compaction.summary == "u5"
    assert got.contexts()["m3"] == ["u5"]


def test_what_was_compacted_is_in_no_later_context() -> None:
    """After a compaction a step sees the summary and what followed it."""
    log = working(Log())
    log.boundary()
    log.summary()
    log.user("Go on")
    log.answer("m3", text("Yes."))
    got = log.read()
    assert got.contexts()["m2"] == ["u1", "u2", "u2:1", "u3"]
    assert got.contexts()["m3"] == ["u6", "u7"]
    assert got.main.compactions[0].summary == 5


def test_preserved_segment_stays() -> None:
    """Records that a compaction kept are named in it and stay in the context beside the summary."""
    log = working(Log())
    segment = {"headUuid": "u3", "tailUuid": "u4", "anchorUuid": "u6"}
    log.boundary(compactMetadata={"trigger": "manual", "preTokens": 9, "preservedSegment": segment})
    log.summary()
    log.user("Go on")
    log.answer("m3", text("Yes."))
    log.boundary()
    log.summary("Second.")
    log.answer("m4", text("Still here."))
    got = log.read()
    assert got.of(Compaction)[0].keeps == ("u3", "u4")
    assert got.contexts()["m3"] == ["u3", "u4", "u6", "u7"]
    assert got.contexts()["m4"] == ["u10"]


def test_preserved_messages_are_read_leniently() -> None:
    """Names of kept records are taken from a list or an object; strange metadata keeps nothing and breaks nothing."""
    for kept, expected in (
        (["u1", "gone"], ("u1",)),
        ({"uuids": ["u1"]}, ("u1",)),
        ({"allUuids": ["u1", 7]}, ("u1",)),
        ("u1", ()),
        ([[]], ()),
    ):
        log = working(Log())
        log.boundary(compactMetadata={"preservedMessages": kept, "preservedSegment": [], "preTokens": "many"})
        (compaction,) = log.read().of(Compaction)
        assert (compaction.keeps, compaction.pre_tokens) == (expected, None)


def micro(log: Log, *calls: str, **fields: Any) -> str:
    """A microcompact_boundary."""
    data = {"trigger": "auto", "preTokens": 50745, "tokensSaved": 26741, "compactedToolIds": list(calls)}
    return log.add("system", subtype="microcompact_boundary", microcompactMetadata=data, **fields)


def test_micro_compaction_clears_the_results_it_names() -> None:
    """Results named by their calls are cleared from the next step on; ids of another epoch are ignored."""
    log = working(Log())
    micro(log, "t1", "not-here")
    log.answer("m3", text("Yes."))
    got = log.read()
    (mark,) = got.of(Cleared)
    assert (mark.items, mark.verdict, mark.reason, mark.tokens_saved) == (
        ("u3",),
        Verdict.CLEARED,
        Reason.MICRO_COMPACTED,
        26741,
    )
    assert got.main.compactions[0].micro
    log.boundary()
    micro(log, "t1")
    assert log.read().of(Cleared)[-1].items == ()


def test_clear_drops_what_stood_before() -> None:
    """A root after the first begins anew: everything before it is dropped, context cleared."""
    log = working(Log())
    log.user("<command-name>/clear</command-name>", parent=None)
    log.user("A new topic")
    log.answer("m3", text("Yes."))
    got = log.read()
    (mark,) = got.of(Cleared)
    assert (mark.all_before, mark.verdict, mark.reason) == (True, Verdict.DROPPED, Reason.CONTEXT_CLEARED)
    assert got.contexts()["m3"] == ["u5", "u6"]


def test_results_that_nothing_descends_from_are_cleared() -> None:
    """Results at the start of a file that no step descends from are dropped when the first root comes."""
    log = Log()
    log.result("t8", "lost", parent=None)
    log.result("t9", "lost too", parent="gone")
    log.user("Hello", parent=None)
    log.answer("m1", text("Hello."))
    got = log.read()
    assert got.contexts()["m1"] == ["u3"]
    assert got.of(Cleared)[0].reason == Reason.CONTEXT_CLEARED


def test_rewind_drops_the_branch_that_was_left() -> None:
    """After a rewind a step sees the path it stands on; the branch that was left is dropped by name."""
    log = working(Log())
    log.user("Now the docs")
    log.answer("m3", text("Docs written."), stop="end_turn")
    log.user("No: the tests first", parent="u4")
    log.answer("m4", text("Tests written."), stop="end_turn")
    got = log.read()
    (mark,) = got.of(Cleared)
    assert (mark.items, mark.verdict, mark.reason) == (("u5", "u6"), Verdict.DROPPED, Reason.ABANDONED_BRANCH)
    assert got.contexts()["m4"] == ["u1", "u2", "u2:1", "u3", "u4", "u7"]


def test_rewind_back_brings_the_branch_back() -> None:
    """Going back to the branch that was left keeps it again, and drops the other."""
    log = working(Log())
    log.user("Docs")
    log.answer("m3", call("t2"), stop="tool_use")
    log.result("t2", "written")
    log.user("Tests", parent="u4")
    log.answer("m4", text("Tests written."))
    log.user("Docs after all", parent="u7")
    log.answer("m5", text("Good."))
    got = log.read()
    assert got.contexts()["m5"] == ["u1", "u2", "u2:1", "u3", "u4", "u5", "u6", "u7", "u10"]
    assert [(mark.verdict, mark.items) for mark in got.of(Cleared)] == [
        ("dropped", ("u5", "u6", "u7")),
        ("dropped", ("u8", "u9")),
        ("kept", ("u5", "u6", "u7")),
    ]


def test_rewind_over_a_compaction_brings_the_originals_back() -> None:
    """Going back to before a compaction restores what it summarised and leaves its summary behind."""
    log = working(Log())
    log.boundary()
    log.summary()
    log.answer("m3", text("From the summary."))
    log.user("Back to the start", parent="u4")
    log.answer("m4", text("As it was."))
    got = log.read()
    assert got.contexts()["m3"] == ["u6"]
    assert got.contexts()["m4"] == ["u1", "u2", "u2:1", "u3", "u4", "u8"]


def test_missing_parent_is_the_record_before() -> None:
    """A parent that is not in the file is replaced by the record before; a note says so."""
    log = working(Log())
    log.user("Go on", parent="elsewhere")
    log.answer("m3", text("Yes."))
    got = log.read()
    assert got.contexts()["m3"][-2:] == ["u4", "u5"]
    assert [note.text for note in got.notes("missing_parent")] == ["elsewhere"]


def test_records_that_name_no_parent_follow_each_other() -> None:
    """Where a writer leaves parentUuid out altogether, the order of lines is the path."""
    log = Log()
    for number in range(3):
        log.user(f"prompt {number}", parent=...)
        log.answer(f"m{number}", text("Yes."), parent=...)
    got = log.read()
    assert got.of(Cleared) == []
    assert len(got.contexts()["m2"]) == 5


def test_new_start_of_the_client_is_noted_once() -> None:
    """A new version and the session start that comes with it are one restart."""
    log = working(Log())
    log.add(
        "progress",
        data={"type": "hook_progress", "hookEvent": "SessionStart", "hookName": "SessionStart:resume"},
        version="2.1.30",
    )
    log.user("Back again", version="2.1.30")
    log.answer("m3", text("Hello again."), version="2.1.30")
    assert [note.text for note in log.read().notes("restart")] == ["new version 2.1.30"]


def test_summary_is_a_summary_not_the_user() -> None:
    """The words of a summary carry the kind summary, stand in an entry of their own and open no turn."""
    log = working(Log())
    log.boundary()
    log.summary([text("First part."), text("Second part.")])
    (item,) = [item for item in log.read().items() if item.kind == Kind.SUMMARY]
    assert (item.text, item.opens_turn, item.injected) == ("First part.\nSecond part.", False, None)
