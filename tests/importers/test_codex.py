"""Codex rollouts: turns, steps, usage, what is injected, what is repeated."""

from __future__ import annotations

import gzip

import pytest
import zstandard

from contextlab.core.events import Cleared, Link, Note, SessionStart, StepEvent, TurnEnd, TurnStart, Usage
from contextlab.core.items import Injected, Kind, Reason, Verdict
from tests.importers.codex_log import Rollout
from tests.importers.reading import lines, read


def small() -> Rollout:
    """Two turns, three steps."""
    log = Rollout()
    log.task("t1")
    log.say("developer", "<permissions instructions>\nread only", "<collaboration_mode># Default")
    log.say(
        "user",
        "# AGENTS.md instructions for /home/ada/shop\nbe brief",
        "<environment_context>\n<cwd>/home/ada/shop",
    )
    log.say("user", "which port does the shop use?")
    log.think()
    log.say("assistant", "I look at the settings.")
    log.call("c1", "cat settings.toml", "Process exited with code 0\nport = 8080")
    log.count(1000, cached=400, output=50)
    log.say("assistant", "Port 8080.")
    log.count(1100, cached=1000, output=5)
    log.done("t1")
    log.task("t2")
    log.say("user", "and the database?")
    log.say("assistant", "5432.")
    log.count(1200, cached=1100, output=5)
    log.done("t2")
    return log


def test_the_first_session_meta_names_the_session():
    """Id, folder, version and branch come from it; the title is the first real prompt."""
    log = Rollout("aaaa", git={"branch": "main"})
    log.task("t1")
    log.say("user", "hello\n there")
    meta = read(log.text()).session.meta
    assert (meta.native_id, meta.project, meta.version, meta.branch) == (
        "aaaa",
        "/home/ada/shop",
        "0.142.0",
        "main",
    )
    assert (meta.title, meta.title_origin, meta.model) == ("hello there", "prompt", "gpt-5.5")


def test_repeated_session_metas_change_nothing():
    """Of 29 session_meta records the first owns the identity (formats.md 4.15)."""
    log = small()
    for _ in range(28):
        log.meta("another", prompt="Another prompt.")
    made = read(log.text())
    assert list(made.sessions) == ["11111111-2222-3333-4444-555555555555"]
    assert made.texts("system")[0] == "You are Codex."
    assert made.report.merged == 28


def test_the_system_prompt_is_an_item_of_its_own():
    """base_instructions stands before everything, in no turn."""
    first = read(small().text()).items[0]
    assert (first.kind, first.text, first.label) == (Kind.SYSTEM, "You are Codex.", "base_instructions")


def test_developer_messages_are_instructions_or_injected_text():
    """Codex's own instructions are system items; what a hook puts in is injected; the parts share an entry."""
    log = Rollout()
    log.task("t1")
    log.say("developer", "<permissions instructions>\nx", "<apps_instructions>\ny")
    log.say("developer", "[hook] the output of a hook")
    made = read(log.text())
    permissions, apps, hook = made.items[1:]
    assert permissions.kind == apps.kind == Kind.SYSTEM
    assert permissions.entry == apps.entry
    assert (hook.kind, hook.injected) == (Kind.USER, Injected.CONTEXT)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("# AGENTS.md instructions for /home/ada/shop", Injected.CONTEXT),
        ("<environment_context>\n", Injected.CONTEXT),
        ("<skill>\n<name>x</name>", Injected.CONTEXT),
        ("<turn_aborted>\nThe user interrupted", Injected.SYNTHETIC),
        ("<user_shell_command>ls</user_shell_command>", Injected.COMMAND_OUTPUT),
        ("<subagent_notification>done", Injected.TASK),
        ("what is <skill> for?", None),
    ],
)
def test_injected_user_messages_are_told_by_how_they_begin(text, why):
    """They stand in the context and never open a turn."""
    log = Rollout()
    log.task("t1")
    log.say("user", text)
    item = read(log.text()).items[-1]
    assert item.injected == why
    assert item.opens_turn == (why is None)


def test_a_turn_is_a_task():
    """task_started begins it, task_complete ends it, and the first real prompt opens it."""
    made = read(small().text())
    assert [turn.id for turn in made.of(TurnStart)] == ["t1", "t2"]
    assert [end.status for end in made.of(TurnEnd)] == ["completed", "completed"]
    assert [item.text for item in made.items if item.opens_turn] == [
        "which port does the shop use?",
        "and the database?",
    ]


def test_a_prompt_in_the_middle_of_a_turn_starts_none():
    """A second prompt of one task was typed while the agent worked."""
    log = Rollout()
    log.task("t1")
    log.say("user", "first")
    log.say("assistant", "working")
    log.say("user", "also this")
    log.count(10)
    made = read(log.text())
    assert len(made.of(TurnStart)) == 1
    assert made.item("also this").injected == Injected.MIDTURN
    assert made.items[-1].text == "also this", "it follows the step that it interrupted"


def test_without_task_records_a_prompt_starts_its_turn():
    """Old versions do not write task_started."""
    log = Rollout()
    for prompt in ("one", "two"):
        log.say("user", prompt)
        log.say("assistant", "answer to " + prompt)
        log.count(10 + len(log.records))
    made = read(log.text())
    assert [turn.trigger for turn in made.of(TurnStart)] == ["prompt", "prompt"]
    assert len(made.of(StepEvent)) == 2


def test_an_aborted_turn_says_so():
    """The step that was cut off keeps its parts and has no usage; the next turn starts a new step."""
    log = Rollout()
    log.task("t1")
    log.say("user", "go")
    log.say("assistant", "working")
    log.call("c1", answer="aborted by user after 29.7s")
    log.say("user", "<turn_aborted>\nThe user interrupted the previous turn on purpose.")
    log.event("turn_aborted", turn_id="t1", reason="interrupted")
    log.task("t2")
    log.say("user", "again")
    log.say("assistant", "done")
    log.count(50)
    made = read(log.text())
    first, second = made.session.timeline.steps
    assert (first.turn, first.prompt_tokens) == (1, None)
    assert (second.turn, second.prompt_tokens) == (2, 50)
    assert made.of(TurnEnd)[0].status == "aborted"
    assert "aborted by user after 29.7s" in made.context(2)


def test_a_step_begins_at_the_first_output_after_a_new_token_count():
    """Its context is what stands before; its results belong to the next step's."""
    made = read(small().text())
    steps = made.session.timeline.steps
    assert len(steps) == 3
    assert "which port does the shop use?" in made.context(1)
    assert not any("port = 8080" in text for text in made.context(1))
    assert any("port = 8080" in text for text in made.context(2))


def test_results_that_come_between_the_calls_of_one_step_follow_it():
    """Codex writes the result of a quick call before the step's next call."""
    log = Rollout()
    log.task("t1")
    log.call("c1", answer="one")
    log.call("c2", answer="two")
    log.count(100)
    made = read(log.text())
    kinds = [str(item.kind) for item in made.items[1:]]
    assert kinds == ["tool_call", "tool_call", "tool_result", "tool_result"]
    assert len(made.of(StepEvent)) == 1


def test_without_any_token_count_an_answered_call_ends_its_step():
    """A provider that reports no usage still gets one step for each call."""
    log = Rollout()
    log.task("t1")
    log.say("user", "go")
    for number in range(3):
        log.say("assistant", f"step {number}")
        log.call(f"c{number}")
    log.done("t1")
    made = read(log.text())
    assert len(made.of(StepEvent)) == 3
    assert all(step.prompt_tokens is None for step in made.session.timeline.steps)


def test_usage_is_the_last_call_without_cached_tokens_in_input():
    """input + cache_read is the whole prompt; the totals of the session are never used."""
    made = read(small().text())
    first = made.of(Usage)[0]
    assert (first.input, first.cache_read, first.cache_write, first.output) == (600, 400, None, 50)
    assert sum(step.prompt_tokens for step in made.session.timeline.steps) == 3300


def test_a_repeated_token_count_is_skipped():
    """Equal totals report nothing new (formats.md 4.17), in the middle of a step too."""
    log = Rollout()
    log.task("t1")
    log.say("assistant", "one")
    log.count(100, output=7)
    log.repeat()
    log.say("assistant", "two")
    log.repeat()
    log.call("c1")
    log.count(200, output=8)
    log.repeat()
    made = read(log.text())
    assert [(step.prompt_tokens, step.output) for step in made.session.timeline.steps] == [(100, 7), (200, 8)]
    assert made.report.duplicates == 3


def test_impossible_figures_are_unknown_and_named():
    """Negative counts are not known; more cached than input is said to be wrong."""
    log = Rollout()
    log.task("t1")
    log.say("assistant", "one")
    log.count(100, cached=300, output=-5)
    made = read(log.text())
    assert (made.of(Usage)[0].input, made.of(Usage)[0].output) == (0, None)
    assert "more cached input tokens" in made.report.warnings[0]


def test_the_window_is_the_steps_own():
    """The limit may change inside a session (formats.md 4.21)."""
    log = Rollout()
    log.task("t1", window=121_600)
    log.say("assistant", "one")
    log.count(100, window=121_600)
    log.say("assistant", "two")
    log.count(100, window=258_400)
    assert [step.limit for step in read(log.text()).session.timeline.steps] == [121_600, 258_400]


def test_a_call_that_the_provider_counts_without_output_is_a_step():
    """The summariser's own call has a token count and nothing else; no token is lost."""
    log = Rollout()
    log.task("t1")
    log.say("user", "go")
    log.count(5000, output=600)
    steps = read(log.text()).session.timeline.steps
    assert [(step.prompt_tokens, step.output) for step in steps] == [(5000, 600)]


def test_web_searches_need_no_result_and_do_not_collide():
    """They have no id at all (formats.md 4.16)."""
    log = Rollout()
    log.task("t1")
    for _ in range(2):
        log.item(
            "web_search_call", status="completed", action={"type": "search", "query": "port of postgres"}
        )
    log.count(10)
    made = read(log.text())
    first, second = [item for item in made.items if item.kind == Kind.TOOL_CALL]
    assert first.id != second.id
    assert (first.tool, first.needs_result) == ("web_search", False)
    assert made.session.calls_without_result == 0


def test_a_tool_search_answers_with_tools():
    """Its output record has no `output` (formats.md 4.16): the tools found are the result."""
    log = Rollout()
    log.task("t1")
    log.item("tool_search_call", call_id="s1", arguments={"query": "issues"})
    log.item("tool_search_output", call_id="s1", tools=[{"name": "github", "limit": 107505301260286111}])
    log.item("tool_search_call", call_id="s2", arguments={})
    log.item("tool_search_output", call_id="s2")
    made = read(log.text())
    found, nothing = made.texts("tool_result")
    assert '"name": "github"' in found
    assert "107505301260286111" in found
    assert nothing == ""
    assert (made.session.results_without_call, made.session.calls_without_result) == (0, 0)


def test_pictures_in_outputs_are_never_decoded():
    """A picture whose data a redactor broke is a picture of so many characters (formats.md 4.19)."""
    broken = "data:image/png;base64,iVBORw0K***REDACTED***not base64"
    log = Rollout()
    log.task("t1")
    log.item("function_call", name="view_image", arguments="{}", call_id="c1")
    parts = [{"type": "input_text", "text": "the page"}, {"type": "input_image", "image_url": broken}]
    log.item("function_call_output", call_id="c1", output=parts)
    result = read(log.text()).items[-1]
    assert result.text == "the page"
    assert [(one.type, one.mime, one.size) for one in result.media] == [("image", "image/png", len(broken))]


@pytest.mark.parametrize(
    ("output", "error"),
    [
        ("Chunk ID: 1\nProcess exited with code 1\nOutput:\nno", True),
        ("Chunk ID: 1\nProcess exited with code 0\nOutput:\nProcess exited with code 2", False),
        ('{"output":"no","metadata":{"exit_code":1}}', True),
        ({"content": "no", "success": False}, True),
        ("plain", None),
    ],
)
def test_a_result_failed_where_the_log_says_so(output, error):
    """The exit code above an output counts, words in the output do not."""
    log = Rollout()
    log.task("t1")
    log.item("function_call", name="shell", arguments="{}", call_id="c1")
    log.item("function_call_output", call_id="c1", output=output)
    assert read(log.text()).items[-1].error is error


def test_events_that_repeat_messages_are_not_counted_twice():
    """agent_message and user_message events stand beside the response items (formats.md 4.20)."""
    made = read(small().text())
    assert made.texts("assistant") == ["I look at the settings.", "Port 8080.", "5432."]
    assert made.report.ignored_types["agent_message"] == 3
    assert not made.report.unknown_types


def test_unknown_records_are_counted_once_noted_and_skipped():
    """Neither a new record type, nor a new item, nor a new event stops the import."""
    log = small()
    log.add("new_record", {"x": 1})
    log.item("new_item", x=1)
    log.item("new_item", x=2)
    log.event("new_event")
    made = read(log.text())
    assert made.report.unknown_types == {
        "new_record": 1,
        "response_item/new_item": 2,
        "event_msg/new_event": 1,
    }
    assert [note.code for note in made.of(Note)] == ["unknown_type"] * 3
    assert len(made.of(StepEvent)) == 3


def test_reasoning_says_how_much_is_encrypted():
    """The text is the summary, where there is one; the rest is a size."""
    log = Rollout()
    log.task("t1")
    log.item("reasoning", summary=[{"type": "summary_text", "text": "thinking"}], encrypted_content="x" * 90)
    item = read(log.text()).items[-1]
    assert (item.kind, item.text, item.opaque_chars) == (Kind.REASONING, "thinking", 90)


def test_a_rollback_drops_the_last_turns():
    """thread_rolled_back takes the last user messages with all that followed out of the context."""
    log = small()
    log.event("thread_rolled_back", num_turns=1)
    log.task("t3")
    log.say("user", "another way")
    log.say("assistant", "fine")
    log.count(10)
    made = read(log.text())
    [cleared] = made.of(Cleared)
    assert (cleared.verdict, cleared.reason) == (Verdict.DROPPED, Reason.ROLLED_BACK)
    context = made.context(4)
    assert "and the database?" not in context
    assert "5432." not in context
    assert "Port 8080." in context


def test_a_rollback_further_than_the_log_reaches_takes_all_turns():
    """The system prompt and the instructions stay."""
    log = small()
    log.event("thread_rolled_back", num_turns=99)
    log.task("t3")
    log.say("user", "fresh")
    log.say("assistant", "yes")
    log.count(10)
    context = read(log.text()).context(4)
    assert context[0] == "You are Codex."
    assert "which port does the shop use?" not in context


def test_a_fork_and_a_subagent_name_where_they_come_from():
    """forked_from_id links a fork; a subagent's source names its parent."""
    fork = read(Rollout("f", forked_from_id="p").text()).session.meta
    assert (fork.forked_from, fork.role) == ("p", None)
    spawn = {"parent_thread_id": "p", "depth": 1, "agent_nickname": "Ada", "agent_role": "explorer"}
    child = read(Rollout("c", source={"subagent": {"thread_spawn": spawn}}).text()).session.meta
    assert (child.parent, child.role, child.agent) == ("p", "subagent", "Ada")
    review = read(Rollout("r", source={"subagent": "review"}).text()).session.meta
    assert (review.role, review.agent, review.parent) == ("subagent", "review", None)


def test_the_result_of_a_spawn_links_the_child():
    """spawn_agent answers with the child's id."""
    log = Rollout()
    log.task("t1")
    log.item("function_call", name="spawn_agent", arguments="{}", call_id="c1")
    log.item("function_call_output", call_id="c1", output='{"agent_id":"child-1","nickname":"Ada"}')
    assert read(log.text()).of(Link) == [Link("child-1", "c1", "Ada")]


def test_records_without_an_envelope_are_read_too():
    """The oldest rollouts wrote the items themselves."""
    made = read(
        lines(
            {"id": "old-1", "timestamp": "2025-06-01T10:00:00Z", "instructions": "Be Codex."},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
            {"record_type": "state"},
            {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c1"},
            {"type": "function_call_output", "call_id": "c1", "output": "done"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "ok"}]},
        )
    )
    assert made.report.format == "codex"
    assert made.session.meta.native_id == "old-1"
    assert [str(item.kind) for item in made.items] == [
        "system",
        "user",
        "tool_call",
        "tool_result",
        "assistant",
    ]
    assert len(made.of(StepEvent)) == 2


def test_a_rollout_without_its_first_record_has_a_name_all_the_same(tmp_path):
    """The id in the file's name stands in."""
    path = tmp_path / "rollout-2026-01-01T10-00-00-0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000.jsonl"
    path.write_text("\n".join(small().text().splitlines()[1:]))
    made = read(path)
    assert list(made.sessions) == ["0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000"]
    assert isinstance(made.events[0][1], SessionStart)


@pytest.mark.parametrize("pack", [zstandard.ZstdCompressor().compress, gzip.compress])
def test_compressed_rollouts_read_the_same(pack):
    """A .jsonl.zst is told by its bytes and gives the same events."""
    text = small().text()
    assert read(pack(text.encode())).events == read(text).events


def test_the_same_bytes_give_the_same_events():
    """No clock and no random number is used."""
    text = small().text()
    assert read(text).events == read(text).events


def test_an_answer_repeated_word_for_word_is_two_items():
    """Ids come from the content and its occurrence where the log has none."""
    log = Rollout()
    log.task("t1")
    for number in range(3):
        log.say("assistant", "Still running.")
        log.count(10 + number)
    made = read(log.text())
    assert len({item.id for item in made.items}) == 4
    assert made.session.duplicates == 0
