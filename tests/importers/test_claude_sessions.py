"""Sessions of a file: names, subagents in all layouts, summarisers, forks, compressed files."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
import zstandard

from contextlab.core.events import Link
from contextlab.importers.claude_code.threads import OPEN
from contextlab.importers.discover import discover
from tests.importers.claude_log import (
    CORPUS,
    Log,
    TurnStart,
    call,
    needs_corpus,
    read,
    read_path,
    read_source,
    text,
)

MAIN = "5f0c7a52-9d6e-4c1f-8b3a-2e4d6f8a0b1c"
OTHER = "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d"


def test_session_knows_where_it_ran() -> None:
    """Project, branch, version, model and beginning are taken from the first records that have them."""
    log = Log()
    log.user("Go", parent=None)
    log.answer("m1", text("Yes."))
    meta = log.read().main.meta
    assert (meta.native_id, meta.project, meta.branch, meta.version) == (
        "s1",
        "/home/dev/shop",
        "main",
        "2.1.12",
    )
    assert (meta.model, meta.started_at, meta.role) == (
        "claude-opus-4-5-20251101",
        "2026-03-01T10:00:01.000Z",
        None,
    )


def test_title_record_of_another_session_names_nothing() -> None:
    """A title is the session's own only where its leaf is in the file; else the first prompt names it."""
    log = Log()
    log.raw({"type": "summary", "summary": "Another talk", "leafUuid": "elsewhere"})
    log.raw({"type": "summary", "summary": "Our talk", "leafUuid": "u2"})
    log.user("Hello   there", parent=None)
    assert (log.read().main.meta.title, log.read().main.meta.title_origin) == ("Hello there", "prompt")
    log.answer("m1", text("Hello."))
    assert (log.read().main.meta.title, log.read().main.meta.title_origin) == ("Our talk", "summary")


def test_titles_given_by_name_win() -> None:
    """A name given by the person wins over one made by the client, and both over prompt and summary."""
    log = Log()
    log.user("Hello", parent=None)
    log.raw({"type": "custom-title", "customTitle": "Mine", "sessionId": "s1"})
    log.raw({"type": "ai-title", "aiTitle": "Machine's", "sessionId": "s1"})
    log.raw({"type": "summary", "summary": "Summary", "leafUuid": "u1"})
    meta = log.read().main.meta
    assert (meta.title, meta.title_origin) == ("Mine", "record")


def test_command_names_a_session_by_what_was_typed() -> None:
    """A session that begins with a slash command is called by the command and its arguments."""
    log = Log()
    log.user(
        "<command-message>review</command-message>\n<command-name>/review</command-name>\n"
        "<command-args>src  and tests</command-args>",
        parent=None,
    )
    assert log.read().main.meta.title == "/review src and tests"


def test_subagent_in_its_own_folder(tmp_path: Path) -> None:
    """A log in the subagents folder is a child of the session the folder belongs to, linked by its companion."""
    main = tmp_path / "s1.jsonl"
    child = tmp_path / "s1" / "subagents" / "agent-x.jsonl"
    child.parent.mkdir(parents=True)
    main.write_text(
        '{"type":"user","uuid":"a1","parentUuid":null,"sessionId":"s1","message":{"role":"user","content":"one"}}'
    )
    child.write_text(
        '{"type":"user","uuid":"x1","parentUuid":null,"sessionId":"s1","message":{"role":"user","content":"explore"}}'
    )
    child.with_name("agent-x.meta.json").write_text(
        '{"agentType":"Explore","toolUseId":"toolu_9","spawnDepth":1}'
    )
    metas = [read_source(source).main.meta for source in discover([tmp_path])]
    assert [(meta.native_id, meta.role, meta.parent) for meta in metas] == [
        ("s1", None, None),
        ("s1/agent-x", "subagent", "s1"),
    ]
    assert (metas[1].agent, metas[1].parent_call_id) == ("Explore", "toolu_9")


def test_flat_subagent_is_told_by_its_records() -> None:
    """A subagent's log beside its parent's is a child of the session that its records name."""
    log = Log(MAIN)
    log.user("Explore", parent=None, side=True, agentId="a1b2")
    log.answer("m1", text("Found."), side=True, agentId="a1b2")
    got = log.read(name="whatever.jsonl")
    assert got.keys == [f"{MAIN}/agent-a1b2"]
    assert (got.main.meta.parent, got.main.meta.role) == (MAIN, "subagent")
    assert len(got.of(TurnStart)) == 1


def test_broken_companion_is_no_harm(tmp_path: Path) -> None:
    """A companion that cannot be read leaves the subagent without a call, and readable."""
    path = tmp_path / "agent-x.jsonl"
    log = Log()
    log.user("Explore", parent=None, side=True)
    path.write_bytes(log.data)
    for broken in (b"", b"{", b"[1]", b'{"toolUseId": 7}', b"\xff"):
        path.with_name("agent-x.meta.json").write_bytes(broken)
        assert read_path(path).main.meta.parent_call_id is None


def test_inline_sidechain_is_a_child_session() -> None:
    """A subagent inside its parent's file is a session of its own, linked by the task that was given to it."""
    log = Log()
    log.user("Find it", parent=None)
    spawn = log.answer(
        "m1", call("t1", "Task", prompt="Look everywhere", subagent_type="Explore"), stop="tool_use"
    )
    log.user("Look everywhere", parent=None, side=True)
    log.answer("x1", text("It is here."), side=True, stop="end_turn")
    log.result("t1", "It is here.", parent=spawn)
    log.answer("m2", text("Found."), stop="end_turn")
    got = log.read()
    assert got.keys == ["s1", "s1/side-u3"]
    child = got.sessions["s1/side-u3"].meta
    assert (child.parent, child.role, child.agent, child.parent_call_id) == (
        "s1",
        "subagent",
        "Explore",
        "t1",
    )
    assert got.of(Link) == [Link("s1/side-u3", "t1", "Explore")]
    assert got.contexts()["m2"] == ["u1", "u2", "u5"]
    assert got.contexts("s1/side-u3") == {"x1": ["u3"]}


def test_parallel_inline_sidechains_are_kept_apart() -> None:
    """Subagents that ran at the same time, line by line between each other, are two sessions."""
    log = Log()
    log.user("Find both", parent=None)
    log.answer("m1", call("t1", "Task", prompt="A?"), call("t2", "Task", prompt="B?"), stop="tool_use")
    first = log.user("A?", parent=None, side=True)
    second = log.user("B?", parent=None, side=True)
    first = log.answer("x1", text("a1"), parent=first, side=True)
    second = log.answer("y1", text("b1"), parent=second, side=True)
    log.answer("x2", text("a2"), parent=first, side=True)
    got = log.read()
    assert [[item.text for item in got.items(key)] for key in got.keys[1:]] == [
        ["A?", "a1", "a2"],
        ["B?", "b1"],
    ]
    assert [(link.child, link.call_id) for link in got.of(Link)] == [
        ("s1/side-u3", "t1"),
        ("s1/side-u4", "t2"),
    ]


def test_inline_subagent_that_comes_back_after_a_long_silence_goes_on_where_it_was() -> None:
    """However many subagents ran in between, a late result answers its call and the next answer sees all before."""
    log = Log()
    log.user("Find them", parent=None)
    spawn = log.answer("m1", call("t0", "Task", prompt="A?"), stop="tool_use")
    log.user("A?", parent=None, side=True)
    asked = log.answer("x1", call("c1"), side=True)
    for number in range(2 * OPEN):
        log.user(f"And {number}?", parent=None, side=True)
        log.answer(f"y{number}", text("Yes."), side=True, stop="end_turn")
    result = log.result("c1", "late", parent=asked, side=True)
    log.answer("x2", text("Found."), parent=result, side=True)
    log.result("t0", "Found.", parent=spawn)
    got = log.read()
    assert len(got.keys) == 2 + 2 * OPEN
    key = got.keys[1]
    assert [item.text for item in got.items(key)][2:] == ["late", "Found."]
    assert got.contexts(key) == {"x1": ["u3"], "x2": ["u3", asked, result]}
    assert got.sessions[key].timeline.pairs[2] == 1
    assert not got.notes("orphan_result")


def test_sidechain_inside_the_main_path_leaves_the_path_whole() -> None:
    """Sidechain records between records of the main path belong to a child; the path goes on around them."""
    log = Log()
    log.user("Go", parent=None)
    log.answer("m1", call("t1"), stop="tool_use")
    log.result("t1")
    log.answer("x1", call("t2"), side=True)
    log.result("t2", side=True)
    log.answer("m2", text("Done."))
    got = log.read()
    assert got.contexts()["m2"] == ["u1", "u2", "u3"]
    assert len(got.keys) == 2


def test_running_subagents_are_linked_by_progress_and_result() -> None:
    """Progress of an agent and the result of its call name it: one link, told once."""
    log = Log()
    log.answer("m1", call("t1", "Task", prompt="x"), call("t2", "Agent", prompt="y"), parent=None)
    for _ in range(3):
        log.add(
            "progress", data={"type": "agent_progress", "agentId": "a7", "message": {}}, parentToolUseID="t1"
        )
    log.result("t2", "ok", toolUseResult={"status": "completed", "agentId": "a8", "content": []})
    assert log.read().of(Link) == [Link("s1/agent-a7", "t1"), Link("s1/agent-a8", "t2")]


def test_summariser_is_a_session_of_its_own_kind() -> None:
    """The log of a compaction's own model call has the role compaction, not that of a subagent."""
    log = Log()
    log.user("Summarise", parent="loose", side=True, agentId="acompact-70d8e7")
    log.user("a loose end", parent="loose too", side=True, agentId="acompact-70d8e7")
    got = log.read()
    assert got.main.meta.role == "compaction"
    assert len(got.notes("missing_parent")) == 1


def test_copied_records_keep_their_ids() -> None:
    """A fork that copies records into a new file shares their item ids, and says where they came from."""
    log = Log(MAIN)
    log.user("Go", parent=None)
    log.answer("m1", text("Yes."))
    original = log.read(name=f"{MAIN}.jsonl")
    fork = log.read(name=f"{OTHER}.jsonl")
    assert [item.id for item in fork.items()] == [item.id for item in original.items()]
    assert (fork.main.meta.native_id, fork.main.meta.forked_from) == (OTHER, MAIN)
    assert original.main.meta.forked_from is None


def test_fork_that_names_its_origin() -> None:
    """A record that says where it was copied from names the session it was forked from."""
    log = Log("s2")
    log.user("Go", parent=None, forkedFrom={"sessionId": "s1", "messageUuid": "u1"})
    assert log.read(name="s2.jsonl").main.meta.forked_from == "s1"


def test_compressed_log_is_read_like_any_other() -> None:
    """A log under zstd gives the same events as the plain one."""
    log = Log()
    log.user("Go", parent=None)
    log.answer("m1", text("Yes."))
    assert read(zstandard.compress(log.data)).events == log.read().events


def test_fields_of_wrong_types_do_not_cost_the_record() -> None:
    """A record whose cwd is a number and whose isMeta is a text is read without them."""
    log = Log()
    log.user("Go", parent=None, cwd=7, isMeta="yes", gitBranch=["main"], timestamp=12)
    got = log.read()
    assert got.items()[0].text == "Go"
    assert (got.main.meta.project, got.main.meta.branch, got.main.meta.started_at) == (None, None, None)
    assert got.report.skipped == []


@needs_corpus
@pytest.mark.parametrize(
    "session", ["8463c716-a2ea-4c14-9efa-87158ebd9f20", "fa812bfe-b295-4cca-9c2f-fdf01028cb46"]
)
def test_real_subagents_are_linked_to_their_calls(session: str) -> None:
    """Every subagent's log of a real session is the child of one of its calls."""
    main = read_path(CORPUS / "claude-code" / "marot-spotter" / f"{session}.jsonl")
    folder = CORPUS / "claude-code" / "marot-spotter" / session / "subagents"
    children = {read_path(path).main.meta.native_id for path in folder.glob("agent-a[0-9a-f]*.jsonl")}
    linked = {link.child: link.call_id for link in main.of(Link)}
    calls = {item.call_id for item in main.items() if item.kind == "tool_call"}
    assert {child for child in children if "acompact" not in child} <= set(linked)
    assert set(linked.values()) <= calls


@needs_corpus
def test_real_growing_session_is_one_session() -> None:
    """Five moments of one session: each earlier file's items are the first of every later one."""
    paths = sorted((CORPUS / "claude-code" / "entireio-cli-growing").glob("*.jsonl"))
    readings = [read_path(path) for path in paths]
    assert len({got.main.meta.native_id for got in readings}) == 1
    for earlier, later in pairwise(readings):
        ids = [item.id for item in earlier.items()]
        assert [item.id for item in later.items()][: len(ids)] == ids


def test_line_shapes_stay_json() -> None:
    """The helper of these tests writes what Claude Code writes: one object a line."""
    log = Log()
    log.user("Go", parent=None)
    assert json.loads(log.data)["type"] == "user"
