"""Recorded requests and responses: the context is exactly what each request held."""

from __future__ import annotations

import json

from contextlab.core.events import Cleared, StepEvent, TurnStart, Usage
from contextlab.core.items import Verdict
from tests.importers.reading import Read, lines, read

SYSTEM = {"role": "system", "content": "Be brief."}


def user(text: str) -> dict[str, object]:
    """A user message."""
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, object]:
    """An assistant message."""
    return {"role": "assistant", "content": text}


def exchange(messages: list[object], answer: str, number: int = 1, **usage: object) -> dict[str, object]:
    """A request with its response."""
    message = {**assistant(answer), "refusal": None, "annotations": []}
    response = {"id": f"chatcmpl-{number}", "object": "chat.completion", "created": 1767261600 + number}
    response |= {"model": "gpt-5-2026", "choices": [{"index": 0, "message": message}]}
    if usage:
        response["usage"] = usage
    return {"method": "POST", "request": {"model": "gpt-5", "messages": messages}, "response": response}


def conversation(*exchanges: dict[str, object]) -> Read:
    """A file of exchanges."""
    return read(json.dumps(list(exchanges), indent=1))


def test_requests_that_go_on_are_one_session():
    """What the second request repeats is not said again."""
    first = exchange([SYSTEM, user("one")], "1", prompt_tokens=20, completion_tokens=2)
    more = [SYSTEM, user("one"), assistant("1"), user("two")]
    made = conversation(first, exchange(more, "2", 2, prompt_tokens=30, completion_tokens=3))
    assert list(made.sessions) == ["chatcmpl-1"]
    assert [item.text for item in made.items] == ["Be brief.", "one", "1", "two", "2"]
    steps = made.session.timeline.steps
    assert [(step.exact, step.model, step.prompt_tokens) for step in steps] == [
        (True, "gpt-5-2026", 20),
        (True, "gpt-5-2026", 30),
    ]
    assert steps[0].ts == "2026-01-01T10:00:01Z"


def test_cached_tokens_are_counted_apart():
    """prompt_tokens includes them; input does not."""
    details = {"cached_tokens": 183_936}
    made = conversation(
        exchange([user("x")], "y", prompt_tokens=184_704, completion_tokens=49, prompt_tokens_details=details)
    )
    [usage] = made.of(Usage)
    assert (usage.input, usage.cache_read, usage.cache_write, usage.output) == (768, 183_936, None, 49)
    assert made.session.timeline.steps[0].prompt_tokens == 184_704


def test_a_rewritten_request_drops_what_it_left_out():
    """An agent that compacts shows it only like this: items vanish and a summary stands in their place."""
    told = [SYSTEM, user("build it"), assistant("1"), user("go on"), assistant("2"), user("and on")]
    short = [SYSTEM, user("Summary: built with port 8080"), assistant("3"), user("finish")]
    made = conversation(exchange(told, "3"), exchange(short, "4", 2))
    assert len(made.sessions) == 1
    [cleared] = made.of(Cleared)
    assert (cleared.verdict, cleared.trigger) == (Verdict.DROPPED, "request")
    last = len(made.session.timeline.steps)
    assert sorted(made.context(last)) == sorted(["Be brief.", "Summary: built with port 8080", "3", "finish"])


def test_a_message_that_comes_back_is_the_same_item():
    """Left out of one request and sent again in the next."""
    one = [SYSTEM, user("a"), assistant("A"), user("b")]
    made = conversation(
        exchange(one, "B"),
        exchange([SYSTEM, assistant("B"), user("c")], "C", 2),
        exchange([*one, assistant("B"), user("c"), assistant("C"), user("d")], "D", 3),
    )
    assert len(made.sessions) == 1
    assert made.texts("user").count("b") == 1
    assert "b" in made.context(4)
    assert "b" not in made.context(3)


def test_an_unrelated_request_is_another_session():
    """Two agents that write into one log take turns without mixing."""
    log = [
        exchange([user("a1")], "x1", 1),
        exchange([user("b1")], "y1", 2),
        exchange([user("a1"), assistant("x1"), user("a2")], "x2", 3),
        exchange([user("b1"), assistant("y1"), user("b2")], "y2", 4),
    ]
    made = read(lines(*log))
    assert [len(session.timeline.steps) for session in made.sessions.values()] == [2, 2]
    assert list(made.sessions) == ["chatcmpl-1", "chatcmpl-2"]


def test_the_same_request_again_is_another_run():
    """Equal requests with different answers are no conversation."""
    made = conversation(exchange([user("a")], "x", 1), exchange([user("a")], "y", 2))
    assert len(made.sessions) == 2


def test_a_history_in_the_first_request_is_reconstructed():
    """Its answers were steps too, though nobody recorded them: not exact, usage unknown."""
    made = conversation(
        exchange([user("a"), assistant("A"), user("b")], "B", prompt_tokens=9, completion_tokens=1)
    )
    assert [(step.exact, step.prompt_tokens) for step in made.session.timeline.steps] == [
        (False, None),
        (True, 9),
    ]
    assert len(made.of(TurnStart)) == 2


def test_a_streamed_response_is_put_together():
    """Chunks of text and of a call's arguments become one message; its usage comes in the last chunk."""
    deltas = [
        {"role": "assistant", "content": "Let me "},
        {"content": "look."},
        {"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "weather", "arguments": ""}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"city": '}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": '"Paris"}'}}]},
    ]
    chunks = [
        {"id": "chatcmpl-9", "model": "gpt-5", "choices": [{"index": 0, "delta": delta}]} for delta in deltas
    ]
    chunks.append(
        {"id": "chatcmpl-9", "choices": [], "usage": {"prompt_tokens": 80, "completion_tokens": 12}}
    )
    stream = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
    made = conversation({"request": {"messages": [user("?")], "stream": True}, "response": stream})
    assert [(str(item.kind), item.text) for item in made.items[1:]] == [
        ("assistant", "Let me look."),
        ("tool_call", '{"city": "Paris"}'),
    ]
    assert made.session.timeline.steps[0].prompt_tokens == 80


def test_completion_logs_with_their_window_are_read():
    """Messages and response side by side, as proxies write them; context_window is the step's limit."""
    record = {
        **exchange([user("a")], "A"),
        "messages": [user("a")],
        "context_window": 200_000,
        "timestamp": 1767261600.5,
    }
    del record["request"]
    made = read(json.dumps(record))
    assert made.session.timeline.steps[0].limit == 200_000


def test_a_response_that_failed_is_a_request_without_an_answer():
    """The prompt is kept, no step is made up."""
    made = conversation(
        {"request": {"messages": [user("a")]}, "response": {"error": {"message": "overloaded"}}}
    )
    assert made.texts("user") == ["a"]
    assert made.of(StepEvent) == []


def test_several_choices_are_named():
    """The first is the one that went on; a warning says that there were others."""
    record = exchange([user("a")], "A")
    record["response"]["choices"].append({"index": 1, "message": assistant("B")})
    made = conversation(record)
    assert made.texts("assistant") == ["A"]
    assert "2 choices" in made.report.warnings[0]
