"""Anthropic Messages: requests and responses as sessions, compaction blocks, context edits, streams, bad input."""

from __future__ import annotations

import json
from typing import Any

import pytest

from contextlab.core.events import Cleared, Compaction, Note, SessionStart, StepEvent, TurnStart, Usage
from contextlab.core.items import Injected, Kind
from tests.importers.reading import LOGS, comparable, lines, read

HERE = LOGS / "anthropic-messages"
HALF = '{"cmd": "l'
URI = "https://api.anthropic.com/v1/messages"


def call(name: str, number: int, **arguments: Any) -> dict[str, Any]:
    """A tool_use block."""
    return {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": arguments}


def result(number: int, words: str) -> dict[str, Any]:
    """A tool_result block."""
    return {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": words, "is_error": False}


def user(*blocks: Any) -> dict[str, Any]:
    """A user message."""
    return {
        "role": "user",
        "content": [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks],
    }


def assistant(*blocks: Any) -> dict[str, Any]:
    """An assistant message."""
    return {**user(*blocks), "role": "assistant"}


def exchange(messages: list[Any], content: list[Any], number: int = 1, **more: Any) -> dict[str, Any]:
    """A recorded exchange; `edits` are those that the response says were applied."""
    edits = more.pop("edits", None)
    usage = more.pop("usage", {"input_tokens": 100 * number, "output_tokens": 7})
    response = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5"}
    response |= {"content": assistant(*content)["content"], "stop_reason": "end_turn", "usage": usage}
    if edits is not None:
        response["context_management"] = {"applied_edits": edits}
    request = {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": messages, **more}
    return {"method": "POST", "uri": URI, "request": request, "status": 200, "response": response}


def test_a_compaction_block_is_a_recorded_compaction_with_its_own_call():
    """The summariser's call is a step with its usage; all before the block is summarised; nothing is counted twice."""
    made = read(HERE / "compaction.json")
    [compaction] = made.of(Compaction)
    assert (compaction.origin, compaction.opaque, compaction.pre_tokens) == ("recorded", False, 55_196)
    assert made.texts(Kind.SUMMARY)[0].startswith("The user provided a very long context")
    steps = made.session.timeline.steps
    assert [step.input for step in steps] == [55_196, 220, 239]
    assert [step.output for step in steps] == [125, 8, 10]
    assert made.context(2)[0] == "You are a helpful assistant. Be very brief."
    assert len(made.context(2)) == 2
    assert made.context(3)[1:3] == [made.texts(Kind.SUMMARY)[0], "Hello! 👋"]


def test_a_streamed_compaction_is_the_same_as_a_whole_one():
    """Deltas of a compaction block and the iterations of the last usage."""
    made = read(HERE / "compaction-streamed.json")
    [compaction] = made.of(Compaction)
    assert compaction.pre_tokens == 55_196
    usages = made.of(Usage)
    assert [(one.input, one.cache_read, one.output) for one in usages] == [(100, 55_096, 83), (181, 0, 8)]
    assert not any(one.partial for one in usages)
    assert made.texts(Kind.ASSISTANT) == ["Hello! 👋"]


def test_a_request_that_begins_with_a_compaction_block_shows_it():
    """The block came from before the file; what stands before it is summarised."""
    block = {"type": "compaction", "content": "Summary: hello was said."}
    made = read(json.dumps([exchange([user("hello"), assistant(block, "Hi"), user("again")], ["yes"])]))
    [compaction] = made.of(Compaction)
    assert compaction.pre_tokens is None
    assert made.context(2) == ["Summary: hello was said.", "Hi", "again"]


def test_growing_requests_are_one_session_and_nothing_is_entered_twice():
    """Three requests of one agent: two calls, two results, three steps that are exact."""
    made = read(HERE / "tools.json")
    steps = made.session.timeline.steps
    assert [step.exact for step in steps] == [True] * 3
    assert len(made.texts(Kind.TOOL_CALL)) == len(made.texts(Kind.TOOL_RESULT)) == 2
    assert made.session.results_without_call == made.session.calls_without_result == 0
    assert len(made.of(TurnStart)) == 1


OLD = [user("go"), assistant(call("read", 1, path="a"), call("grep", 2, q="x"), call("read", 3, path="b")),
       user(result(1, "AAAA"), result(2, "BBBB"), result(3, "CCCC"))]  # fmt: skip
CLEARS = {"edits": [{"type": "clear_tool_uses_20250919", "exclude_tools": ["grep"]}]}
CLEARED_ONE = {"type": "clear_tool_uses_20250919", "cleared_tool_uses": 1, "cleared_input_tokens": 900}


def test_a_context_edit_clears_the_oldest_results_it_counts():
    """As many as the answer says, oldest first, not those of excluded tools; a micro-compaction on record."""
    edit = {**CLEARED_ONE, "cleared_tool_uses": 2}
    made = read(json.dumps([exchange(OLD, ["done"], edits=[edit], context_management=CLEARS)]))
    [cleared] = made.of(Cleared)
    assert cleared.tokens_saved == 900
    texts = {item.id: item.text for item in made.items}
    assert [texts[name] for name in cleared.items] == ["AAAA", "CCCC"]
    assert [row.micro for row in made.session.compactions] == [True]
    assert "BBBB" in made.context(2)
    assert "AAAA" not in made.context(2)


def test_an_edit_that_is_not_applied_again_brings_its_results_back():
    """Edits are applied to each request anew."""
    first = exchange(OLD, ["one"], 1, edits=[CLEARED_ONE], context_management=CLEARS)
    second = exchange([*OLD, assistant("one"), user("more")], ["two"], 2, edits=[])
    made = read(json.dumps([first, second]))
    assert "AAAA" not in made.context(2)
    assert "AAAA" in made.context(3)


def test_cleared_thinking_is_cleared_turn_by_turn():
    """clear_thinking counts turns; the newest keep theirs."""
    think = [{"type": "thinking", "thinking": f"thought {n}", "signature": "s" * 200} for n in (1, 2)]
    messages = [user("a"), assistant(think[0], "one"), user("b"), assistant(think[1], "two"), user("c")]
    edit = {"type": "clear_thinking_20251015", "cleared_thinking_turns": 1, "cleared_input_tokens": 50}
    made = read(json.dumps([exchange(messages, ["three"], edits=[edit])]))
    [cleared] = made.of(Cleared)
    texts = {item.id: item.text for item in made.items}
    assert [texts[name] for name in cleared.items] == ["thought 1"]


@pytest.mark.parametrize("number", [None, 99, -1, "two", 1.5])
def test_an_edit_that_cannot_be_placed_clears_nothing_and_says_so(number):
    """Without a number, or with one that is larger than what stands, no item gets a verdict."""
    edit = {**CLEARED_ONE, "cleared_tool_uses": number}
    made = read(json.dumps([exchange(OLD, ["done"], edits=[edit, "nonsense"], context_management=CLEARS)]))
    assert made.of(Cleared) == []
    assert any("900 tokens" in note.text and "does not say which" in note.text for note in made.of(Note))


def test_text_beside_results_opens_no_turn():
    """Agents put reminders there; nobody typed them at a turn's start."""
    messages = [*OLD[:2], user(result(1, "A"), "<system-reminder>careful</system-reminder>", "hurry up")]
    made = read(json.dumps([exchange(messages, ["done"])]))
    assert len(made.of(TurnStart)) == 1
    assert made.item("<system-reminder>").injected == Injected.META
    assert made.item("hurry up").injected == Injected.MIDTURN


def test_answers_sent_back_without_their_thinking_go_on_with_the_session():
    """Clients may leave thinking out: it is dropped from that step on, the session is the same."""
    think = {"type": "thinking", "thinking": "hm", "signature": "abc"}
    first = exchange([user("a")], [think, "one"], 1)
    second = exchange([user("a"), assistant("one"), user("b")], ["two"], 2)
    made = read(json.dumps([first, second]))
    assert len(made.sessions) == 1
    assert made.context(2) == ["a", "one", "b"]


def test_tools_of_the_provider_answer_inside_the_message():
    """Calls and results of MCP, search and fetch are items; a failed one is marked."""
    blocks = [
        {"type": "mcp_tool_use", "id": "m1", "name": "ask", "server_name": "wiki", "input": {"q": 1}},
        {"type": "mcp_tool_result", "tool_use_id": "m1", "content": [{"type": "text", "text": "because"}]},
        {"type": "server_tool_use", "id": "s1", "name": "web_fetch", "input": {"url": "u"}},
        {"type": "web_fetch_tool_result", "tool_use_id": "s1",
         "content": {"type": "web_fetch_tool_error", "error_code": "unavailable"}},
        {"type": "redacted_thinking", "data": "EncryptedStuff"},
    ]  # fmt: skip
    made = read(json.dumps([exchange([user("why")], [*blocks, "so"])]))
    assert [item.tool for item in made.items if item.kind == Kind.TOOL_CALL] == ["wiki.ask", "web_fetch"]
    results = [item for item in made.items if item.kind == Kind.TOOL_RESULT]
    assert (results[0].text, results[0].error) == ("because", None)
    assert results[1].error is True
    [thought] = [item for item in made.items if item.kind == Kind.REASONING]
    assert (thought.text, thought.opaque_chars) == ("", 14)
    assert made.session.results_without_call == 0


def test_token_counts_and_requests_of_others_are_no_calls():
    """Counting is no model call; what else went over the wire is counted in the report."""
    counting = {**exchange([user("a")], ["x"]), "uri": URI + "/count_tokens", "response": {"input_tokens": 5}}
    other = {"method": "GET", "uri": "https://example.com/health", "request": {}, "response": {}}
    made = read(json.dumps([counting, other, exchange([user("a")], ["x"])]))
    assert len(made.of(StepEvent)) == 1
    assert sum(made.report.ignored_types.values()) == 2
    assert not made.report.unknown_types


def test_an_error_of_the_provider_is_said_and_makes_no_step():
    """Overloaded: a note, no answer, no usage."""
    failed = exchange([user("a")], [])
    failed["response"] = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    made = read(json.dumps([failed]))
    assert made.of(StepEvent) == []
    assert [note.text for note in made.of(Note)] == ["the provider answered: Overloaded"]


def test_an_interrupted_stream_keeps_what_arrived():
    """Half a call, no end: the text stays as it is and the usage is partial."""
    events = [
        {"type": "message_start", "message": {"id": "msg_9", "type": "message", "role": "assistant",
         "model": "claude-opus-4-5", "content": [], "usage": {"input_tokens": 3, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "t", "name": "bash"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": HALF}},
    ]  # fmt: skip
    stream = "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events)
    made = read(json.dumps([{**exchange([user("a")], []), "response": stream + "data: {broken\n\n"}]))
    assert made.texts(Kind.TOOL_CALL) == [HALF]
    assert made.of(Usage)[0].partial


def test_a_bad_line_costs_that_line_only():
    """JSON Lines with garbage, a number, a half record and odd values between two exchanges."""
    good = exchange([user("a")], ["one"], 1)
    odd = exchange([None, 7, {"role": 3}, {"role": "user", "content": {"x": 1}}], [None, {"type": None}], 2)
    data = lines(good) + b"{nonsense\n42\n" + lines(odd) + b'{"request": {"messages": ['
    made = read(data)
    assert "one" in made.texts(Kind.ASSISTANT)
    assert made.report.skipped_total == 1
    assert any("none and were left out" in warning for warning in made.report.warnings)


def test_any_usage_is_survived():
    """Strings, negatives and floats are not known; nothing becomes 0."""
    odd = exchange(
        [user("a")], ["x"], usage={"input_tokens": "many", "output_tokens": -1, "iterations": {"a": 1}}
    )
    made = read(json.dumps([odd]))
    assert made.of(Usage) == []
    assert made.session.timeline.steps[0].input is None


def test_lists_of_messages_and_single_messages_are_read():
    """A saved `messages` list, its lines, and one response alone."""
    listed = read(json.dumps(OLD))
    assert (listed.report.format, len(listed.texts(Kind.TOOL_RESULT))) == ("anthropic-messages", 3)
    each = read(lines(*OLD))
    assert [item.text for item in each.items] == [item.text for item in listed.items]
    alone = read(json.dumps(exchange([], ["hello"])["response"]))
    assert alone.texts(Kind.ASSISTANT) == ["hello"]
    assert alone.of(SessionStart)[0].model == "claude-sonnet-4-5"


def test_cassettes_and_proxies_wrap_the_same():
    """Bodies as JSON text, as `string`, as objects: the events are equal."""
    plain = exchange([user("a")], ["one"])
    text = {"request": {"method": "POST", "uri": URI, "body": json.dumps(plain["request"])},
            "response": {"status": 200, "body": {"string": json.dumps(plain["response"])}}}  # fmt: skip
    wrapped = {"version": 1, "interactions": [text]}
    assert list(comparable(read(json.dumps(wrapped)).events)) == list(
        comparable(read(json.dumps([plain])).events)
    )


def test_the_same_bytes_give_the_same_events():
    """Ids come from the content."""
    path = HERE / "compaction.json"
    assert read(path).events == read(path).events
