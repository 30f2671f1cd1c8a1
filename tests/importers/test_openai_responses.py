"""OpenAI Responses: items, chains of responses, sealed compactions, streams, bad input."""

from __future__ import annotations

import json
from typing import Any

from contextlab.core.events import Compaction, Note, StepEvent, TurnStart, Usage
from contextlab.core.items import Kind
from tests.importers.reading import LOGS, lines, read

HERE = LOGS / "openai-responses"
URI = "https://api.openai.com/v1/responses"


def said(words: str) -> dict[str, Any]:
    """An output message."""
    return {"type": "message", "role": "assistant", "id": f"msg_{words}", "status": "completed",
            "content": [{"type": "output_text", "text": words}]}  # fmt: skip


def exchange(asked: Any, output: list[Any], number: int = 1, **request: Any) -> dict[str, Any]:
    """A recorded exchange."""
    usage = {"input_tokens": 100 * number, "input_tokens_details": {"cached_tokens": 64}, "output_tokens": 9,
             "output_tokens_details": {"reasoning_tokens": 4}}  # fmt: skip
    response = {
        "id": f"resp_{number}",
        "object": "response",
        "model": "gpt-5.5",
        "output": output,
        "usage": usage,
    }
    asked = {"model": "gpt-5.5", "input": asked, **request}
    return {"method": "POST", "uri": URI, "request": asked, "status": 200, "response": response}


def test_a_compaction_inside_a_response_seals_all_that_stood():
    """It is opaque, follows the answer, and what is sent before it again is ignored, as the provider does."""
    made = read(HERE / "compacted-inside.json")
    [compaction] = made.of(Compaction)
    assert (compaction.origin, compaction.opaque, compaction.trigger) == ("recorded", True, "auto")
    assert compaction.pre_tokens == 847
    steps = made.session.timeline.steps
    assert [step.input for step in steps] == [25, 435, 847, 552]
    assert made.context(4) == ["", "What is 2+2?"]
    assert [item.opaque_chars for item in made.items if item.kind == Kind.SUMMARY] == [900]


def test_a_compact_call_keeps_the_users_messages():
    """A step of its own with its usage; the user's messages and the instructions stay beside the sealed item."""
    made = read(HERE / "compact-call.json")
    [compaction] = made.of(Compaction)
    kept = [item.text for item in made.items if item.id in compaction.keeps]
    assert kept == ["You are a helpful assistant.", "Hello!", "How are you?"]
    assert made.session.timeline.steps[-1].input == 160
    assert (compaction.trigger, compaction.pre_tokens, compaction.opaque) == ("manual", 160, True)


def test_a_result_whose_call_stands_at_the_server_has_its_call():
    """Requests of one conversation are one session (formats.md 4.26): no orphan."""
    made = read(HERE / "history-at-the-server.json")
    assert made.session.results_without_call == 0
    assert made.texts(Kind.TOOL_CALL, Kind.TOOL_RESULT) == ["{}", "TOOL-PAI-5222"]
    assert len(made.context(2)) == len(made.context(1)) + 2
    assert [step.exact for step in made.session.timeline.steps] == [False, False]


def test_a_previous_response_is_what_stood_behind_it():
    """History and answer stay, instructions hold for one call only."""
    first = exchange("one?", [said("one")], 1, instructions="Be brief.")
    second = exchange("two?", [said("two")], 2, previous_response_id="resp_1", instructions="Be long.")
    third = exchange("three?", [said("three")], 3, previous_response_id="resp_2")
    made = read(json.dumps([first, second, third]))
    assert made.context(2) == ["one?", "one", "Be long.", "two?"]
    assert made.context(3) == ["one?", "one", "two?", "two", "three?"]


def test_going_on_from_an_earlier_response_leaves_the_later_one():
    """A fork at the server: what came after the named response is not in the context."""
    first = exchange("one?", [said("one")], 1)
    second = exchange("two?", [said("two")], 2, previous_response_id="resp_1")
    again = exchange("other?", [said("other")], 3, previous_response_id="resp_1")
    made = read(json.dumps([first, second, again]))
    assert made.context(3) == ["one?", "one", "other?"]


def test_a_history_that_is_not_in_the_file_is_said():
    """The named response was made before the file begins."""
    made = read(json.dumps([exchange("go on", [said("ok")], 1, previous_response_id="resp_0")]))
    [note] = made.of(Note)
    assert note.code == "missing_parent"
    assert "resp_0" in note.text


def test_a_response_is_one_step_with_all_its_items():
    """Reasoning, call, message: items and entries of their own, one step, usage with cached tokens apart."""
    output = [
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}],
         "encrypted_content": "x" * 40},
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "look", "arguments": "{}"},
    ]  # fmt: skip
    sent_back = [*output, {"type": "function_call_output", "call_id": "call_1", "output": "seen"}]
    first = exchange([{"role": "user", "content": "look"}], output, 1)
    second = exchange([{"role": "user", "content": "look"}, *sent_back], [said("done")], 2)
    made = read(json.dumps([first, second]))
    assert len(made.of(StepEvent)) == 2
    assert len({item.entry for item in made.items}) == len(made.items) == 5
    usage = made.of(Usage)[1]
    assert (usage.input, usage.cache_read, usage.output, usage.reasoning) == (136, 64, 9, 4)
    assert len(made.of(TurnStart)) == 1


def test_calls_that_the_provider_answers_bring_their_answer():
    """MCP and code: call and result; a search has none and needs none; tool lists are no context."""
    output = [
        {"type": "mcp_list_tools", "id": "l", "server_label": "wiki", "tools": [{"name": "ask"}]},
        {
            "type": "mcp_call",
            "id": "m",
            "server_label": "wiki",
            "name": "ask",
            "arguments": "{}",
            "output": "because",
        },
        {"type": "web_search_call", "id": "w", "action": {"query": "q"}, "status": "completed"},
        {
            "type": "code_interpreter_call",
            "id": "c",
            "code": "1+1",
            "outputs": [{"type": "logs", "logs": "2"}],
        },
    ]
    made = read(json.dumps([exchange("go", [*output, said("done")])]))
    calls = [(item.tool, item.needs_result) for item in made.items if item.kind == Kind.TOOL_CALL]
    assert calls == [("wiki.ask", True), ("web_search", False), ("code_interpreter", True)]
    assert made.session.results_without_call == made.session.calls_without_result == 0
    assert [item.label for item in made.items if item.kind == Kind.UI] == ["mcp_list_tools"]


def test_a_reference_repeats_an_item_and_an_unknown_one_is_said():
    """`item_reference` by id: the item is not entered again."""
    first = exchange("one?", [said("one")], 1)
    refers = [{"role": "user", "content": "one?"}, {"type": "item_reference", "id": "msg_one"},
              {"type": "item_reference", "id": "msg_gone"}, {"role": "user", "content": "two?"}]  # fmt: skip
    made = read(json.dumps([first, exchange(refers, [said("two")], 2)]))
    assert made.context(2) == ["one?", "one", "two?"]
    assert any("msg_gone" in warning for warning in made.report.warnings)


def test_a_stream_is_put_together():
    """The completed response, or the items that were done before the stream broke."""
    whole = exchange("a", [said("one")])
    events = [{"type": "response.created", "response": {**whole["response"], "output": [], "usage": None}},
              {"type": "response.output_item.done", "item": said("one")}]  # fmt: skip
    done = [{"type": "response.completed", "response": whole["response"]}]

    def streamed(parts: list[Any]) -> str:
        text = "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in parts)
        return json.dumps([{**whole, "response": text}])

    assert read(streamed([*events, *done])).of(Usage) == read(json.dumps([whole])).of(Usage)
    broken = read(streamed(events))
    assert broken.texts(Kind.ASSISTANT) == ["one"]
    assert broken.of(Usage) == []


def test_lists_of_items_are_read_and_consecutive_output_is_one_step():
    """What an agent keeps of a session: reasoning, call and message of one answer belong together."""
    items = [{"role": "user", "content": "go"}, {"type": "reasoning", "id": "r", "summary": []},
             {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
             {"type": "function_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "x"}]},
             said("done")]  # fmt: skip
    listed, each = read(json.dumps(items)), read(lines(*items))
    assert listed.report.format == each.report.format == "openai-responses"
    assert len(listed.of(StepEvent)) == len(each.of(StepEvent)) == 2


def test_what_is_unknown_is_counted_and_a_bad_line_costs_itself():
    """Types of tomorrow, requests of others, garbage."""
    odd = exchange(
        [{"type": "hologram", "id": "h"}, 5, None, {"role": "user", "content": [{"type": 9}]}], [None], 1
    )
    files = {
        "method": "POST",
        "uri": "https://api.openai.com/v1/files",
        "request": "--form",
        "response": {"id": "f"},
    }
    data = lines(odd) + b"[broken\n" + lines(files, exchange("b", [said("fine")], 2))
    made = read(data)
    assert made.report.unknown_types["hologram"] == 1
    assert made.report.ignored_types == {"api.openai.com/v1/files": 1}
    assert made.report.skipped_total == 1
    assert "fine" in made.texts(Kind.ASSISTANT)


def test_an_error_of_the_provider_is_said():
    """A failed response has no output: a note says why."""
    failed = exchange("a", [])
    failed["response"]["error"] = {"code": "server_error", "message": "try again"}
    assert any("try again" in note.text for note in read(json.dumps([failed])).of(Note))
