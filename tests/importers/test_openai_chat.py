"""OpenAI chat messages: lists, their dialects, and what each of them means."""

from __future__ import annotations

import json

import pytest

from contextlab.core.events import Note, StepEvent, TurnStart, Usage
from contextlab.core.items import Injected, Kind
from contextlab.importers.base import UnreadableFile
from tests.importers.reading import lines, read

CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Paris"}'}}
CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Weather in Paris?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "sunny"},
    {"role": "assistant", "content": "Sunny."},
    {"role": "user", "content": "Thanks"},
]


def as_document(value: object) -> bytes:
    """One JSON document of many lines."""
    return json.dumps(value, indent=1).encode()


@pytest.mark.parametrize(
    "data",
    [
        as_document(CHAT),
        json.dumps(CHAT).encode(),
        as_document({"messages": CHAT}),
        json.dumps({"messages": CHAT, "model": "gpt-5"}).encode(),
        lines(*CHAT),
        lines({"messages": CHAT}),
        b"\xef\xbb\xbf" + as_document(CHAT),
    ],
    ids=["list", "one line", "object", "object on a line", "messages as lines", "lists as lines", "BOM"],
)
def test_every_way_to_write_a_list_gives_the_same_session(data):
    """Bare list, {messages}, JSON Lines of messages or of lists."""
    made = read(data)
    assert made.report.format == "openai-chat"
    kinds = [str(item.kind) for item in made.items]
    assert kinds == ["system", "user", "tool_call", "tool_result", "assistant", "user"]
    assert (len(made.of(TurnStart)), len(made.of(StepEvent))) == (2, 2)
    assert (made.session.results_without_call, made.session.calls_without_result) == (0, 0)
    assert not made.report.skipped


def test_each_assistant_entry_is_a_step():
    """Its context is all that stands before it; what it says follows it."""
    made = read(as_document(CHAT))
    assert made.context(1) == ["Be brief.", "Weather in Paris?"]
    assert made.context(2) == ["Be brief.", "Weather in Paris?", '{"city": "Paris"}', "sunny"]
    assert made.of(Usage) == []


def test_lists_have_no_times_and_no_usage():
    """What the log does not have stays unknown: it is never the time of the import."""
    made = read(as_document(CHAT))
    assert {item.ts for item in made.items} == {None}
    assert all(step.prompt_tokens is None for step in made.session.timeline.steps)


def test_places_in_a_document_point_at_the_message():
    """Line, offset and length are those of the message's own bytes."""
    data = as_document({"before": [1, 2], "messages": CHAT})
    for item in read(data).items:
        place = item.place
        piece = json.loads(data[place.offset : place.offset + place.length])
        assert piece in CHAT
        assert data[: place.offset].count(b"\n") + 1 == place.line


def test_ids_that_come_again_pair_with_the_nearest_open_call():
    """Real agents use call ids again in one session (formats.md 4.22)."""
    again = [*CHAT[1:5], *CHAT[1:5]]
    session = read(as_document(again)).session
    calls = [at for at, kind in enumerate(session.timeline.kinds) if session.timeline.tools.get(at)]
    assert [session.timeline.pairs[at] for at in calls] == [at + 1 for at in calls]
    assert session.duplicates == 0


def test_tau_bench_is_a_session_for_each_trajectory():
    """A list of {task_id, trial, traj}: named by task and trial."""
    value = [{"task_id": task, "trial": 0, "reward": 1.0, "info": {}, "traj": CHAT} for task in (9, 10)]
    made = read(as_document(value), "airline.json")
    assert list(made.sessions) == ["airline:9:0", "airline:10:0"]
    assert [len(session.timeline.steps) for session in made.sessions.values()] == [2, 2]


def swe(**more: object) -> dict[str, object]:
    """A SWE-agent trajectory with function calls."""
    call = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
    again = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "cat"}'}}
    history = [
        {
            "role": "system",
            "content": "You are a programmer.",
            "agent": "main",
            "message_type": "system_prompt",
        },
        {"role": "user", "content": "Fix the issue.", "agent": "main", "message_type": "observation"},
        {
            "role": "assistant",
            "content": "Look.",
            "agent": "main",
            "tool_calls": [call],
            "message_type": "action",
        },
        {
            "role": "tool",
            "content": "a.py",
            "agent": "main",
            "tool_call_ids": ["c1"],
            "message_type": "observation",
        },
        {
            "role": "assistant",
            "content": "Read.",
            "agent": "main",
            "tool_calls": [again],
            "message_type": "action",
        },
        {
            "role": "tool",
            "content": "x = 1",
            "agent": "main",
            "tool_call_ids": ["c1"],
            "message_type": "observation",
        },
    ]
    return {"environment": "main", "trajectory": [], "history": history, "info": {}, **more}


def test_swe_agent_names_calls_in_a_list():
    """tool_call_ids pairs results with calls, ids that come again included (formats.md 4.23)."""
    made = read(as_document(swe()))
    assert (made.session.results_without_call, made.session.calls_without_result) == (0, 0)
    assert [item.call_id for item in made.items if item.kind == Kind.TOOL_RESULT] == ["c1", "c1"]
    assert len(made.of(TurnStart)) == 1


def test_swe_agent_observations_are_the_environments():
    """In a trajectory the user role after the first answer speaks for the environment: no turn, no person."""
    history = [
        {"role": "system", "content": "s", "agent": "primary"},
        {"role": "user", "content": "Fix it.", "agent": "primary"},
        {"role": "assistant", "content": "```\nls\n```", "agent": "primary"},
        {"role": "user", "content": "a.py\n(Open file: n/a)", "agent": "primary"},
        {"role": "assistant", "content": "```\nsubmit\n```", "agent": "primary"},
    ]
    made = read(as_document({"history": history, "trajectory": [], "environment": "x", "info": {}}))
    assert made.item("Fix it.").injected is None
    assert made.item("a.py").injected == Injected.SYNTHETIC
    assert len(made.of(TurnStart)) == 1


def test_totals_of_zero_are_unknown():
    """model_stats of 0 next to api calls that were made (formats.md 4.24)."""
    stats = {"tokens_sent": 0, "tokens_received": 0, "api_calls": 11, "instance_cost": 0}
    made = read(as_document(swe(info={"model_stats": stats})))
    assert made.of(Note) == []
    assert made.of(Usage) == []


def test_totals_of_the_session_are_told_as_such():
    """They belong to no step, so no step gets them."""
    stats = {"tokens_sent": 9000, "tokens_received": 300, "api_calls": 2}
    [note] = read(as_document(swe(info={"model_stats": stats}))).of(Note)
    assert "9000 sent, 300 received" in note.text


def test_a_trajectory_of_history_alone_is_read():
    """A .traj may hold nothing else (formats.md 4.24)."""
    made = read(as_document({"history": swe()["history"]}))
    assert len(made.of(StepEvent)) == 2


def test_demonstrations_are_no_steps():
    """is_demo entries stand in the context; no model was called for them."""
    value = swe()
    demo = [
        {"role": "user", "content": "Here is a demonstration", "agent": "main", "is_demo": True},
        {"role": "assistant", "content": "I do this", "agent": "main", "is_demo": True},
    ]
    value["history"][1:1] = demo
    made = read(as_document(value))
    assert len(made.of(StepEvent)) == 2
    assert made.item("Here is").injected == made.item("I do this").injected == Injected.META
    assert "I do this" in made.context(1)


def test_recorded_queries_are_the_exact_context():
    """With `query` in each step of a trajectory, what a history processor left out is known to be left out."""
    value = swe()
    history = value["history"]
    sent = [
        {key: part for key, part in one.items() if key not in ("agent", "message_type")} for one in history
    ]
    short = {**sent[3], "content": "Old environment output: (1 lines omitted)"}
    value["trajectory"] = [{"query": sent[:2]}, {"query": [sent[0], sent[1], sent[2], short]}]
    made = read(as_document(value))
    assert [step.exact for step in made.session.timeline.steps] == [True, True]
    assert made.context(2) == [
        "You are a programmer.",
        "Fix the issue.",
        "Look.",
        '{"command": "ls"}',
        short["content"],
    ]
    assert made.items[-1].text == "x = 1", "the last observation stands in the history only"


def test_mini_swe_agent_says_what_is_an_observation():
    """A trajectory_format document: user messages after the first answer are the environment's."""
    answer = {"model": "gpt-5-mini", "usage": {"prompt_tokens": 700, "completion_tokens": 30}}
    messages = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "Solve it."},
        {
            "role": "assistant",
            "content": "```bash\nls\n```",
            "extra": {"response": answer, "timestamp": 1767261600.0},
        },
        {"role": "user", "content": "<returncode>0</returncode>", "extra": {"returncode": 0}},
        {"role": "exit", "content": "Submitted", "extra": {"exit_status": "Submitted"}},
    ]
    info = {"config": {"model": {"model_name": "openai/gpt-5-mini"}}, "model_stats": {"api_calls": 1}}
    made = read(as_document({"info": info, "messages": messages, "trajectory_format": "mini-swe-agent-1.1"}))
    assert made.item("<returncode>").injected == Injected.SYNTHETIC
    [step] = made.session.timeline.steps
    assert (step.model, step.prompt_tokens, step.output, step.ts) == (
        "gpt-5-mini",
        700,
        30,
        "2026-01-01T10:00:00Z",
    )
    assert made.items[-1].kind == Kind.UI


def test_a_bare_mini_swe_agent_list_says_nothing_about_it():
    """Without its own keys a list is a list: each user message is a user's."""
    messages = [
        {"role": "user", "content": "Solve it."},
        {"role": "assistant", "content": "```\nls\n```"},
        {"role": "user", "content": "<returncode>0</returncode>"},
    ]
    assert len(read(as_document(messages)).of(TurnStart)) == 2


def test_agentdojo_calls_and_results_pair():
    """Functions by name with their arguments beside them, parts with `content`, errors as a text."""
    call = {"function": "send_money", "args": {"amount": 98.7}, "id": "t1", "placeholder_args": None}
    messages = [
        {"role": "user", "content": [{"type": "text", "content": "Pay the bill."}]},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "", "tool_call_id": "t1", "tool_call": call, "error": "ValidationError"},
    ]
    head = {"suite_name": "banking", "pipeline_name": "gpt-4o", "user_task_id": "user_task_0"}
    made = read(
        as_document({**head, "injection_task_id": None, "messages": messages, "duration": 1.0}), "x.json"
    )
    user, asked, answer = made.items
    assert user.text == "Pay the bill."
    assert (asked.tool, asked.text) == ("send_money", '{"amount": 98.7}')
    assert answer.error is True
    assert list(made.sessions) == ["x:gpt-4o:banking:user_task_0"]
    assert made.session.calls_without_result == 0


def test_legacy_functions_pair_by_name():
    """function_call and role function have no ids."""
    asked = {"role": "assistant", "content": None, "function_call": {"name": "weather", "arguments": "{}"}}
    answer = {"role": "function", "name": "weather", "content": "sunny"}
    made = read(as_document([{"role": "user", "content": "?"}, asked, answer, asked, answer]))
    assert (made.session.results_without_call, made.session.calls_without_result) == (0, 0)


def test_content_parts_share_an_entry_and_media_are_never_decoded():
    """Texts are items, pictures and files are named with type and size; data URLs stay unread."""
    url = "data:image/png;base64," + "AAAA" * 50
    parts = [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": url}},
        {"type": "input_audio", "input_audio": {"data": "UklGR", "format": "wav"}},
        {"type": "file", "file": {"file_data": "data:application/pdf;base64,JVBERi0", "filename": "a.pdf"}},
    ]
    made = read(as_document([{"role": "user", "content": parts}, {"role": "assistant", "content": "A cat."}]))
    user = made.items[:4]
    assert len({item.entry for item in user}) == 1
    media = [(one.type, one.mime, one.size) for item in user for one in item.media]
    assert media == [
        ("image", "image/png", len(url)),
        ("audio", "audio/wav", 5),
        ("file", "application/pdf", len("data:application/pdf;base64,JVBERi0")),
    ]
    assert [item.opens_turn for item in user] == [True, False, False, False]


def test_refusals_and_reasoning_are_items():
    """A refusal is what the assistant said; reasoning_content is reasoning."""
    answer = {"role": "assistant", "content": None, "refusal": "I cannot.", "reasoning_content": "hm"}
    made = read(as_document([{"role": "user", "content": "?"}, answer]))
    assert [(str(item.kind), item.text) for item in made.items[1:]] == [
        ("reasoning", "hm"),
        ("assistant", "I cannot."),
    ]


def test_structured_content_becomes_text_with_all_its_digits():
    """A tool's JSON is serialised, big numbers keep their digits (never rounded)."""
    answer = {"role": "tool", "tool_call_id": "c1", "content": {"order": 107505301260286111, "z": 1.0}}
    made = read(as_document([*CHAT[:3], answer]))
    assert made.items[-1].text == '{"order": 107505301260286111, "z": 1.0}'


def test_an_empty_message_keeps_its_place():
    """Nothing is lost because it says nothing."""
    made = read(as_document([{"role": "user", "content": ""}, {"role": "assistant", "content": ""}]))
    assert [item.text for item in made.items] == ["", ""]


def test_unknown_roles_and_values_cost_only_themselves():
    """A message that is none is counted, the others are read."""
    odd = [*CHAT, 42, {"role": "narrator", "content": "meanwhile"}, {"x": 1}]
    made = read(as_document(odd))
    assert len(made.items) == 6
    assert made.report.unknown_types == {"int": 1, "role narrator": 1, "role ": 1}


def test_a_damaged_document_keeps_what_stands_before_the_damage():
    """Cut off in the middle: the place is named, the messages before it are read."""
    made = read(as_document(CHAT)[:-60])
    assert [str(item.kind) for item in made.items][:4] == ["system", "user", "tool_call", "tool_result"]
    [(line, reason)] = made.report.skipped
    assert line > 10
    assert "damaged here or ends early" in reason


def test_numbers_that_are_none_do_not_lose_a_document():
    """NaN in a trajectory's statistics is null."""
    data = as_document(swe()).replace(b'"info": {}', b'"info": {"cost": NaN}')
    made = read(data)
    assert len(made.of(StepEvent)) == 2
    assert "NaN" in made.report.warnings[0]


def test_a_document_over_the_limit_says_what_to_do(monkeypatch):
    """A document is held in memory, so it has a limit; JSON Lines have none."""
    monkeypatch.setattr("contextlab.importers.documents.DOCUMENT_LIMIT", 100)
    with pytest.raises(UnreadableFile, match="write it as JSON Lines"):
        read(as_document(CHAT))
    assert len(read(lines(*CHAT)).items) == 6


def test_a_growing_list_keeps_its_session_and_ids():
    """A second import of a longer file knows the first one's items."""
    first = read(lines(*CHAT[:4]), "chat.jsonl")
    second = read(lines(*CHAT), "chat.jsonl")
    assert second.events[: len(first.events)] == first.events


def test_sister_formats_are_left_alone():
    """Anthropic's messages and OpenAI's Responses items have the same roles."""
    from contextlab.importers import openai_chat

    anthropic = {"model": "claude-opus-4-6", "system": "s", "messages": [{"role": "user", "content": "hi"}]}
    blocks = [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]}]
    items = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}]
    for value in (anthropic, blocks, items):
        assert openai_chat.sniff(as_document(value)) == 0
