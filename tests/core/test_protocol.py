"""Copies of a context in providers' formats: always valid, labelled where something was missing, nothing invented."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextlab.core import (
    Item,
    Kind,
    Reason,
    UnknownNameError,
    Verdict,
    replay,
    replay_recorded,
    verdicts_at,
)
from contextlab.core.items import Media
from contextlab.core.protocol import FORMATS, ExportItem, export, faults_of
from contextlab.core.replaying.stepwise import item_of
from contextlab.core.timeline import Timeline

from .sessions import random_timeline
from .test_replay import projector_for

WIRES = ("openai_chat", "openai_responses", "anthropic")


def export_items(timeline: Timeline, step: int, spans: list) -> list[ExportItem]:
    """All items before a step with their fates; texts are their ids."""
    upto = timeline.steps[step - 1].upto
    items = []
    for position, (verdict, reason) in enumerate(verdicts_at(spans, step, range(upto))):
        item: Item = item_of(timeline, position)
        items.append(
            ExportItem(
                item.id, item.kind, f"text {item.id}", item.entry, verdict, reason, item.tool, item.call_id,
                injected=item.injected, needs_result=item.needs_result, secret="s" if position % 3 else None,
            )
        )  # fmt: skip
    return items


@settings(max_examples=60, deadline=None)
@given(st.integers(min_value=0, max_value=2**32 - 1))
def test_every_copy_is_valid(seed: int) -> None:
    """Whatever the session, the policy and the step, a copy is one that the provider would accept."""
    timeline = random_timeline(seed, 12)
    for result in (replay(timeline, projector_for(seed)), replay_recorded(timeline)):
        for step in (1, 6, 12):
            items = export_items(timeline, step, result.spans)
            for wire in WIRES:
                assert faults_of(export(items, wire).document, wire) == []


def conversation() -> list[ExportItem]:
    """A prompt, a call with its result, an answer."""
    return [
        ExportItem("s", Kind.SYSTEM, "Be brief."),
        ExportItem("u", Kind.USER, "What is in a.txt?"),
        ExportItem("z", Kind.REASONING, "I should look.", "m", secret="signed", provider_id="rs_1"),
        ExportItem("k", Kind.TOOL_CALL, '{"path": "a.txt"}', "m", tool="read", call_id="c1"),
        ExportItem("r", Kind.TOOL_RESULT, "hello", call_id="c1"),
        ExportItem("a", Kind.ASSISTANT, "It says hello."),
    ]


def test_openai_chat() -> None:
    """Chat messages: calls in the assistant's message, results as tool messages, no reasoning."""
    assert export(conversation(), "openai_chat").document == {
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "What is in a.txt?"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "read", "arguments": '{"path": "a.txt"}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "hello"},
            {"role": "assistant", "content": "It says hello."},
        ]
    }


def test_openai_responses() -> None:
    """Responses items: reasoning goes back whole, directly before the call that it led to."""
    types = [item["type"] for item in export(conversation(), "openai_responses").document["input"]]
    assert types == ["message", "message", "reasoning", "function_call", "function_call_output", "message"]


def test_anthropic() -> None:
    """Anthropic messages: system apart, signed thinking first, the result in the next user message."""
    document = export(conversation(), "anthropic").document
    assert document["system"] == [{"type": "text", "text": "Be brief."}]
    assert [message["role"] for message in document["messages"]] == ["user", "assistant", "user", "assistant"]
    thinking, call = document["messages"][1]["content"]
    assert thinking == {"type": "thinking", "thinking": "I should look.", "signature": "signed"}
    assert call == {"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "a.txt"}}


def test_events_and_json() -> None:
    """Our own formats carry what was sent, or everything with its fate."""
    items = conversation()
    items[0].verdict, items[0].reason = Verdict.DROPPED, Reason.MAX_ITEMS
    lines = export(items, "contextlab_events", session="x").document
    assert lines[0] == {"format": "contextlab-events", "version": 1, "session": {"id": "x"}}
    assert [line["id"] for line in lines[1:]] == ["u", "z", "k", "r", "a"]
    everything = export(items, "json").document
    assert (everything[0]["verdict"], everything[0]["reason"]) == ("dropped", "max_items")
    assert json.loads(json.dumps(everything)) == everything


@pytest.mark.parametrize("wire", WIRES)
def test_the_prompt_of_the_current_turn_comes_back(wire: str) -> None:
    """A copy has the prompt of the current turn even where the projection left it out, and says so."""
    items = conversation()
    items[1].verdict = Verdict.DROPPED
    copy = export(items, wire)
    assert "What is in a.txt?" in json.dumps(copy.document)
    assert copy.repairs == ["brought back the prompt of the current turn: u"]


@pytest.mark.parametrize("wire", WIRES)
def test_faults_of_the_source_get_labels(wire: str) -> None:
    """A call without a result and a result without a call are labelled, not hidden and not sent bare."""
    items = [
        ExportItem("u", Kind.USER, "go"),
        ExportItem("k", Kind.TOOL_CALL, "{}", tool="read", call_id="c1"),
        ExportItem("r", Kind.TOOL_RESULT, "late", call_id="nobody"),
    ]
    copy = export(items, wire)
    assert faults_of(copy.document, wire) == []
    words = json.dumps(copy.document)
    assert "no result of this tool call is recorded" in words
    assert "not in this context: nobody" in words
    assert len(copy.repairs) == 2


@pytest.mark.parametrize("wire", WIRES)
def test_parallel_results_come_together(wire: str) -> None:
    """Results of one batch follow it together, though the log has a user's words between them."""
    items = [
        ExportItem("u", Kind.USER, "both"),
        ExportItem("k1", Kind.TOOL_CALL, "{}", "m", tool="a", call_id="A"),
        ExportItem("k2", Kind.TOOL_CALL, "{}", "m", tool="b", call_id="B"),
        ExportItem("r1", Kind.TOOL_RESULT, "ra", call_id="A"),
        ExportItem("w", Kind.USER, "meanwhile"),
        ExportItem("r2", Kind.TOOL_RESULT, "rb", call_id="B"),
    ]
    copy = export(items, wire)
    assert faults_of(copy.document, wire) == []
    assert copy.repairs == []
    words = json.dumps(copy.document)
    assert words.index("ra") < words.index("rb") < words.index("meanwhile")


@pytest.mark.parametrize("wire", WIRES)
def test_cleared_reasoning_is_left_out(wire: str) -> None:
    """Cleared reasoning cannot be sent: signatures would not match."""
    items = conversation()
    items[2].verdict, items[2].text = Verdict.REASONING_CLEARED, "[reasoning cleared]"
    copy = export(items, wire)
    assert "reasoning cleared" not in json.dumps(copy.document)
    assert copy.repairs == ["left out cleared reasoning: z"]


def test_ids_used_twice_are_told_apart() -> None:
    """Logs use call ids again; a copy has each once, and each result at its call."""
    items = [ExportItem("u", Kind.USER, "go")]
    for number in (1, 2):
        items.append(ExportItem(f"k{number}", Kind.TOOL_CALL, "{}", tool="read", call_id="same"))
        items.append(ExportItem(f"r{number}", Kind.TOOL_RESULT, f"result {number}", call_id="same"))
    messages = export(items, "openai_chat").document["messages"]
    results = [
        (message["tool_call_id"], message["content"]) for message in messages if message["role"] == "tool"
    ]
    assert results == [("same", "result 1"), ("same_2", "result 2")]


@pytest.mark.parametrize(("mode", "role"), [("safe", "user"), ("reference", "system")])
def test_a_summary_is_labelled(mode: str, role: str) -> None:
    """A summary is sent as a labelled user message in safe mode, as a system message in reference mode."""
    copy = export([ExportItem("s", Kind.SUMMARY, "so far")], "openai_chat", mode)
    (message,) = copy.document["messages"]
    assert message["role"] == role
    assert message["content"].startswith("[summary of the conversation so far]") == (mode == "safe")


def test_odd_contents() -> None:
    """Media are named, arguments that are no object are handed over as logged, odd names are made acceptable."""
    items = [
        ExportItem("u", Kind.USER, "", media=(Media("image", "image/png"),)),
        ExportItem("k", Kind.TOOL_CALL, "*** patch", tool="mcp.fs/read file", call_id="a:1"),
        ExportItem("w", Kind.TOOL_CALL, "cats", tool="web_search", call_id="w", needs_result=False),
    ]
    messages = export(items, "anthropic").document["messages"]
    assert messages[0]["content"] == [{"type": "text", "text": "[image: image/png]"}]
    call, search = messages[1]["content"]
    assert (call["id"], call["name"]) == ("a_1", "mcp_fs_read_file")
    assert call["input"] == {"arguments_as_logged": "*** patch"}
    assert search["text"] == "[web_search call, answered by the provider] cats"


def test_first_message_is_the_users() -> None:
    """A context that begins with the assistant gets a labelled first message where the provider asks for one."""
    copy = export([ExportItem("a", Kind.ASSISTANT, "hello")], "anthropic")
    assert copy.document["messages"][0]["content"][0]["text"].startswith("[earlier context")
    assert copy.repairs == ["stood in for the user message that must come first"]


INVALID = [
    ("openai_chat", {"messages": [{"role": "tool", "tool_call_id": "x", "content": ""}]}, 1),
    ("openai_chat", {"messages": [{"role": "assistant", "content": None, "tool_calls": [{"id": "x"}]}]}, 1),
    (
        "openai_chat",
        {"messages": [{"role": "assistant", "content": None, "tool_calls": [{"id": "x"}, {"id": "x"}]},
                      {"role": "user", "content": ""}]},
        3,
    ),
    ("openai_responses", {"input": [{"type": "function_call_output", "call_id": "x"}]}, 1),
    ("openai_responses", {"input": [{"type": "reasoning"}]}, 1),
    ("openai_responses", {"input": [{"type": "function_call", "call_id": "x"}] * 2}, 2),
    ("anthropic", {"messages": [{"role": "assistant", "content": [{"type": "text", "text": " "}]}]}, 2),
    (
        "anthropic",
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "x"},
                                                   {"type": "tool_result", "tool_use_id": "x"}]},
                      {"role": "user", "content": []}]},
        4,
    ),
    ("anthropic", {"messages": [{"role": "user", "content": [{"type": "tool_use", "id": "x"}] * 2}]}, 3),
]  # fmt: skip


@pytest.mark.parametrize(("wire", "document", "count"), INVALID)
def test_validators_find_faults(wire: str, document: dict, count: int) -> None:
    """What a provider would refuse is found, fault by fault."""
    assert len(faults_of(document, wire)) == count


def test_unknown_format() -> None:
    """A format that does not exist is named, with those that do."""
    with pytest.raises(UnknownNameError, match="anthropic"):
        export([], "yaml")
    assert set(FORMATS) > set(WIRES)
