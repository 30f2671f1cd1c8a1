"""What the records of a Claude Code log become: kinds, texts, turns, steps, usage, queued words."""

from __future__ import annotations

from typing import Any

import pytest

from contextlab.core.events import TurnEnd
from contextlab.core.items import Injected, Kind, Media
from tests.importers.claude_log import USAGE, ItemEvent, Log, Read, StepEvent, TurnStart, call, read, text

EMPTY = dict.fromkeys(USAGE)


def one(content: Any, **fields: Any) -> tuple[list[ItemEvent], Read]:
    """The items of a single user record."""
    log = Log()
    log.user(content, parent=None, **fields)
    got = log.read()
    return got.items(), got


def test_blocks_become_items_of_their_kinds() -> None:
    """Each content block is one item; the parts of an answer share an entry, also over several lines."""
    log = Log()
    log.user("Go", parent=None)
    signed = {"type": "thinking", "thinking": "hm", "signature": "c2lnbmF0dXJl"}
    log.answer("m1", signed, {"type": "redacted_thinking", "data": "AAAA"}, text("I look."))
    log.answer("m1", call("t1", "Read", file_path="/a"), stop="tool_use")
    log.result("t1", "content of a")
    items = log.read().items()
    assert [(item.id, item.kind, item.entry) for item in items] == [
        ("u1", "user", "u1"),
        ("u2", "reasoning", "m1"),
        ("u2:1", "reasoning", "m1"),
        ("u2:2", "assistant", "m1"),
        ("u3", "tool_call", "m1"),
        ("u4", "tool_result", "u4"),
    ]
    assert [item.opaque_chars for item in items] == [0, 12, 4, 0, 0, 0]
    assert (items[4].tool, items[4].call_id, items[4].text) == ("Read", "t1", '{"file_path": "/a"}')


def test_arguments_stay_as_logged() -> None:
    """A call's arguments are the log's own JSON text: digits, order and spacing are not touched."""
    arguments = b'{"b":107505301260286111, "a":1e22,"z":1.0,"big":123456789012345678901234567890}'
    line = (
        b'{"type":"assistant","uuid":"u1","parentUuid":null,"sessionId":"s1","message":{"id":"m1","role":"assistant",'
        b'"content":[{"type":"tool_use","id":"t1","name":"Order","input":' + arguments + b"}]}}\n"
    )
    assert read(line).items()[0].text == arguments.decode()


def test_unknown_block_keeps_its_json() -> None:
    """A block of a type that is not known is an item with its JSON as text and its type as label."""
    log = Log()
    log.answer("m1", text("a"), {"type": "hologram", "depth": 3}, parent=None)
    item = log.read().items()[1]
    assert (item.kind, item.text, item.label) == ("assistant", '{"type": "hologram", "depth": 3}', "hologram")


def test_structured_result_counts_as_text() -> None:
    """A result of other parts than text is not empty: its JSON is its text."""
    log = Log()
    log.answer("m1", call("t1"), parent=None)
    log.result("t1", [{"type": "json", "rows": [1, 2, 3]}])
    assert log.read().items()[1].text == '[{"type": "json", "rows": [1, 2, 3]}]'


def test_pictures_are_media_and_never_decoded() -> None:
    """An image is an item of its own with type and size; its base64 is not text, not even where it is broken."""
    picture = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "not base64!"},
    }
    items, got = one([picture, text("What is this?")])
    assert items[0].media == (Media("image", "image/png", 11),)
    assert (items[0].text, items[1].opens_turn) == ("", True)
    assert got.main.meta.title == "What is this?"


def test_offloaded_result_names_its_original() -> None:
    """A preview of an offloaded result names the original relative to the log, from a subagent's log as well."""
    preview = (
        "<persisted-output>\nOutput too large (141KB). Full output saved to: "
        "/home/dev/.claude/projects/-home-dev-shop/s1/tool-results/t1.txt\n\n"
        "Preview (first 2KB):\n...\n</persisted-output>"
    )
    log = Log()
    log.answer("m1", call("t1"), parent=None)
    log.result("t1", preview)
    assert log.read().items()[1].original == "s1/tool-results/t1.txt"
    inside = log.read(relative="s1/subagents/agent-x.jsonl")
    assert inside.items()[1].original == "../tool-results/t1.txt"
    assert "Preview" in inside.items()[1].text


@pytest.mark.parametrize(
    ("words", "fields", "injected", "label"),
    [
        ("<task-notification>\n<task-id>b1</task-id>", {}, Injected.TASK, "task_notification"),
        ("<local-command-caveat>Caveat: ...", {"isMeta": True}, Injected.META, "local_command_caveat"),
        (
            "<command-name>/model</command-name>\n<command-args></command-args>",
            {},
            Injected.COMMAND_OUTPUT,
            "local_command",
        ),
        (
            "<local-command-stdout>Set model</local-command-stdout>",
            {},
            Injected.COMMAND_OUTPUT,
            "local_command_output",
        ),
        ("<bash-input>ls</bash-input>", {}, Injected.COMMAND_OUTPUT, "bash_input"),
        ("[Request interrupted by user]", {}, Injected.SYNTHETIC, "interrupted"),
        ("<system-reminder>\nhook</system-reminder>", {}, Injected.CONTEXT, "system_reminder"),
        ("<ide_opened_file>The user opened a file", {}, Injected.CONTEXT, "ide"),
        ("Base directory for this skill: /x", {"isMeta": True}, Injected.META, "meta"),
    ],
)
def test_injected_words_begin_no_turn(
    words: str, fields: dict[str, Any], injected: Injected, label: str
) -> None:
    """What the client puts in with role user is marked as such: it is in context, and no turn begins with it."""
    (item,), got = one(words, **fields)
    assert (item.kind, item.injected, item.label, item.opens_turn) == (Kind.USER, injected, label, False)
    assert got.of(TurnStart) == []
    assert got.main.meta.title is None


def test_prompt_and_command_begin_turns() -> None:
    """A real prompt begins a turn, and so does a slash command that expands to one; the rest belongs to them."""
    log = Log()
    log.user([text("<ide_selection>lines</ide_selection>"), text("Fix   this\nplease")], parent=None)
    log.answer("m1", text("Done."), stop="end_turn")
    log.add("system", subtype="turn_duration", durationMs=1200)
    log.user(
        "<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>all</command-args>"
    )
    log.user("Review everything.", isMeta=True)
    got = log.read()
    assert [(turn.id, turn.trigger) for turn in got.of(TurnStart)] == [("u1", "prompt"), ("u4", "command")]
    assert [item.id for item in got.items() if item.opens_turn] == ["u1:1", "u4"]
    assert [(end.id, end.status) for end in got.of(TurnEnd)] == [("u1", "completed")]
    assert (got.main.meta.title, got.main.meta.title_origin) == ("Fix this please", "prompt")


def test_words_beside_a_result_are_of_the_same_turn() -> None:
    """Text in a record of results reached the model in the middle of a turn and begins none."""
    log = Log()
    log.user("Go", parent=None)
    log.answer("m1", call("t1"))
    log.user([{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}, text("and hurry")])
    got = log.read()
    assert got.items()[3].injected == Injected.MIDTURN
    assert len(got.of(TurnStart)) == 1


def test_usage_of_one_answer_counts_once() -> None:
    """Two lines of one message id with different uuids are one request: its cache writes count once."""
    usage = {
        "input_tokens": 4,
        "cache_creation_input_tokens": 15178,
        "cache_read_input_tokens": 0,
        "output_tokens": 1,
    }
    log = Log()
    log.answer("msg_D", text("x"), parent=None, usage=usage)
    log.answer("msg_D", call("T2", "Glob", pattern="README*"), usage=usage)
    got = log.read()
    (step,) = got.main.timeline.steps
    assert (step.input, step.cache_read, step.cache_write, step.prompt_tokens) == (4, 0, 15178, 15182)
    assert [item.kind for item in got.items()] == ["assistant", "tool_call"]


def test_unknown_usage_is_unknown() -> None:
    """Missing, null and impossible figures are not known; they are never zero."""
    log = Log()
    log.answer("m1", text("a"), parent=None, usage=None)
    log.answer("m2", text("b"), usage={**USAGE, "input_tokens": -138000, "output_tokens": None})
    log.answer("m3", text("c"), usage={**USAGE, "input_tokens": "many", "cache_read_input_tokens": 2**70})
    first, second, third = log.read().main.timeline.steps
    assert first.prompt_tokens is None
    assert (second.input, second.output, second.cache_read) == (None, None, 5000)
    assert (third.input, third.cache_read, third.cache_write) == (None, None, 100)


def test_late_chunk_joins_its_step() -> None:
    """A chunk that comes after the next answer began still belongs to its own step, with its usage."""
    log = Log()
    log.user("Go", parent=None)
    first = log.answer("m1", text("a"), usage={**USAGE, "output_tokens": 1})
    log.answer("m2", text("b"), stop="end_turn")
    log.answer("m1", call("t1"), parent=first, usage={**USAGE, "output_tokens": 77}, stop="tool_use")
    got = log.read()
    assert [step.id for step in got.of(StepEvent)] == ["m1", "m2"]
    assert got.items()[-1].step == "m1"
    steps = got.main.timeline.steps
    assert [(step.output, step.usage_partial) for step in steps] == [(77, False), (40, False)]


def test_answer_without_message_id_is_a_step_of_its_own() -> None:
    """Where the message has no id the record's uuid names the step."""
    log = Log()
    log.answer(None, text("a"), parent=None)
    log.answer(None, text("b"))
    assert [step.id for step in log.read().of(StepEvent)] == ["u1", "u2"]


def queue(log: Log, operation: str, content: str | None = None) -> None:
    """A queue-operation line."""
    line = {
        "type": "queue-operation",
        "operation": operation,
        "timestamp": "2026-03-01T10:00:30Z",
        "sessionId": "s1",
    }
    log.raw(line if content is None else {**line, "content": content})


def test_queued_words_stand_before_the_next_step() -> None:
    """Words typed while the agent worked and taken in the middle of its turn stand behind the results."""
    log = Log()
    log.user("Go", parent=None)
    log.answer("m1", call("t1"), stop="tool_use")
    queue(log, "enqueue", "the branch name")
    queue(log, "remove")
    log.result("t1", "ok")
    log.answer("m2", text("Renamed."), stop="end_turn")
    got = log.read()
    words = [(item.text, item.injected) for item in got.items()]
    assert words[2:4] == [("ok", None), ("the branch name", Injected.QUEUED)]
    assert len(got.contexts()["m2"]) == 4
    assert got.items()[3].id == log.read().items()[3].id


def test_commands_and_tasks_of_the_queue_are_no_words() -> None:
    """A slash command or a background task's JSON that leaves the queue is not what a person said."""
    log = Log()
    log.user("Go", parent=None)
    queue(log, "enqueue", '{"task_id":"b1","description":"Run tests"}')
    queue(log, "enqueue", "/model")
    queue(log, "remove")
    queue(log, "remove")
    assert len(log.read().items()) == 1


def test_dequeued_words_are_the_record_that_follows() -> None:
    """A dequeued prompt has a user record: it is read once, and its turn is marked as queued."""
    log = Log()
    log.user("Go", parent=None)
    log.answer("m1", text("Done."), stop="end_turn")
    queue(log, "enqueue", "next task")
    queue(log, "dequeue")
    log.user("next task")
    queue(log, "remove")
    got = log.read()
    assert [(turn.id, turn.trigger) for turn in got.of(TurnStart)] == [("u1", "prompt"), ("u3", "queued")]
    assert len(got.items()) == 3


def test_queued_attachment_is_not_read_twice() -> None:
    """Newer versions attach queued words: the attachment is the record, the queue line is not a second one."""
    log = Log()
    log.user("Go", parent=None)
    log.answer("m1", call("t1"), stop="tool_use")
    queue(log, "enqueue", "stop that")
    queue(log, "remove")
    log.result("t1", "ok")
    log.add("attachment", attachment={"type": "queued_command", "prompt": "stop that"})
    log.add("attachment", attachment={"type": "task_reminder", "itemCount": 2})
    items = log.read().items()
    assert [(item.text, item.injected, item.label) for item in items[3:]] == [
        ("stop that", Injected.QUEUED, "queued_command"),
        ('{"type": "task_reminder", "itemCount": 2}', Injected.ATTACHMENT, "task_reminder"),
    ]


def test_texts_that_newer_versions_take_from_the_queue_have_attachments() -> None:
    """Where a version attaches what it delivers, a text that only left the queue was cancelled or went to an agent."""
    log = Log()
    log.user("Go", parent=None)
    log.add("attachment", attachment={"type": "skill_listing", "content": "- one"})
    log.answer("m1", call("t1"), stop="tool_use")
    for words in ("cancelled", "delivered"):
        queue(log, "enqueue", words)
    log.add("attachment", attachment={"type": "queued_command", "prompt": [text("delivered")]})
    queue(log, "remove", "delivered")
    queue(log, "remove", "cancelled")
    log.add("attachment", attachment={"type": "queued_command", "prompt": "<task-notification>done"})
    assert [(item.text, item.injected) for item in log.read().items()[3:]] == [
        ("delivered", Injected.QUEUED),
        ("<task-notification>done", Injected.TASK),
    ]


def test_unknown_types_are_counted_and_keep_their_place() -> None:
    """A type that is not known is counted and noted once; what hangs on it keeps its path."""
    log = Log()
    log.user("Go", parent=None)
    log.add("hologram")
    log.add("hologram")
    log.answer("m1", text("Done."))
    got = log.read()
    assert got.report.unknown_types == {"hologram": 2}
    assert [note.text for note in got.notes("unknown_type")] == ["hologram"]
    assert got.contexts()["m1"] == ["u1"]


def test_texts_can_be_stored() -> None:
    """NUL becomes a visible symbol and half a surrogate pair the replacement character, in every field."""
    log = Log()
    log.user("a\x00b \ud800", parent=None, cwd="/home/\x00dev")
    log.answer("m\x00", call("t\x001", "Ba\x00sh", text="x\x00"), uuid="u\x002")
    got = log.read()
    assert got.items()[0].text == "a\u2400b \ufffd"
    assert got.main.meta.project == "/home/\u2400dev"
    for _, event in got.events:
        for name in event.__slots__:
            value = getattr(event, name)
            if isinstance(value, str):
                assert "\x00" not in value
                value.encode("utf-8")


def test_very_long_ids_are_hashed() -> None:
    """An id that no column could hold is replaced by its hash, the same each time."""
    log = Log()
    log.user("Go", parent=None, uuid="u" * 5000)
    log.answer("m1", text("Done."))
    got = log.read()
    assert len(got.items()[0].id) < 64
    assert got.contexts()["m1"] == [got.items()[0].id]
    assert got.notes("missing_parent") == []


def test_records_without_uuid_are_told_apart() -> None:
    """Records without ids get them from their bytes and their number, the same at every reading."""
    line = b'{"type":"user","sessionId":"s1","message":{"role":"user","content":"yes"}}\n'
    ids = [item.id for item in read(line * 2).items()]
    assert len(set(ids)) == 2
    assert ids == [item.id for item in read(line * 2).items()]
