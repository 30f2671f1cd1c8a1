"""Real files against the counts of a plain parser, and what their own totals say; differences are explained."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from contextlab.core.events import Compaction, StepEvent
from contextlab.core.items import Kind
from tests.importers.reading import CORPUS, needs_corpus, read

pytestmark = [needs_corpus, pytest.mark.slow]

SYNTHETIC = {"instructions"}
MESSAGES = (Kind.SYSTEM, Kind.USER, Kind.ASSISTANT)


def counted(prefix: str) -> dict[str, dict[str, str]]:
    """The rows of counts.csv for one format."""
    with (CORPUS / "counts.csv").open() as stream:
        return {row["file"]: row for row in csv.DictReader(stream) if row["file"].startswith(prefix + "/")}


def present(prefix: str) -> list[str]:
    """The counted files of a format that are in this corpus."""
    if not CORPUS.is_dir():
        return []
    return sorted(name for name in counted(prefix) if (CORPUS / name).is_file())


def ours(path: Path) -> dict[str, int]:
    """Our counts of a file, over all its sessions, as the table counts: messages are entries that hold text."""
    made = read(path)
    entries = {
        (key, event.entry)
        for key, event in made.events
        if getattr(event, "kind", None) in MESSAGES and event.id not in SYNTHETIC
    }
    kinds = [item.kind for item in made.items]
    return {
        "messages": len(entries),
        "tool_calls": kinds.count(Kind.TOOL_CALL),
        "results": kinds.count(Kind.TOOL_RESULT),
        "results_without_call": sum(one.results_without_call for one in made.sessions.values()),
        "calls_without_result": sum(one.calls_without_result for one in made.sessions.values()),
        "compactions": len(made.of(Compaction)),
    }


def theirs(row: dict[str, str]) -> dict[str, int]:
    """The table's counts; a cell that is empty was not counted."""
    names = (
        "messages",
        "tool_calls",
        "results",
        "results_without_call",
        "calls_without_result",
        "compactions",
    )
    return {name: int(row[name]) for name in names if row[name] != ""}


WEB_SEARCHES = {"codex/entityprocess-agentv/1f-4427577930-0.jsonl": 3}
"""Four web searches without an id are one call to a parser that counts by id (docs/formats/codex.md)."""


@pytest.mark.parametrize("name", present("codex"))
def test_codex_counts_agree(name):
    """Messages, calls, results and compactions, and what lacks its partner."""
    expected = theirs(counted("codex")[name])
    expected["tool_calls"] += WEB_SEARCHES.get(name, 0)
    assert ours(CORPUS / name) == expected


@pytest.mark.parametrize("name", present("codex"))
def test_codex_usage_is_the_sessions_own_total(name):
    """The sum over steps is the last total that Codex itself wrote."""
    path = CORPUS / name
    totals = [
        record["payload"]["info"]["total_token_usage"]
        for record in map(json.loads, path.read_text().splitlines())
        if record["payload"].get("type") == "token_count" and record["payload"]["info"]
    ]
    steps = read(path).session.timeline.steps
    prompt = sum(step.prompt_tokens or 0 for step in steps)
    output = sum(step.output or 0 for step in steps)
    told = totals[-1]["input_tokens"], totals[-1]["output_tokens"]
    if "3c-162d1d8ad4-1" in name:
        # One call of this session was never counted by itself (formats.md 4.21).
        assert 0.98 < prompt / told[0] < 1
    else:
        assert (prompt, output) == told


@pytest.mark.parametrize("name", present("swe-agent") + present("mini-swe-agent"))
def test_trajectories_agree(name):
    """All messages and calls of SWE-agent and mini-swe-agent; each answer is a step."""
    expected = theirs(counted(name.split("/", 1)[0])[name])
    found = ours(CORPUS / name)
    # Here the table counts every entry of the list as a message, results too.
    found["messages"] = len({item.entry for item in read(CORPUS / name).items})
    assert {key: found[key] for key in expected} == expected


def test_tau_bench_agrees():
    """60 trajectories, each a session; calls with ids that come again keep their results."""
    path = CORPUS / "openai-chat" / "tau-bench" / "airline.json"
    value = json.loads(path.read_text())
    messages = sum(len(one["traj"]) for one in value)
    made = ours(path)
    assert len(read(path).sessions) == len(value) == 60
    # An answer with calls and no text is an entry without a text of its own.
    silent = sum(1 for one in value for m in one["traj"] if m["role"] == "assistant" and m["content"] is None)
    results = sum(1 for one in value for m in one["traj"] if m["role"] == "tool")
    assert made["messages"] == messages - silent - results
    assert (made["tool_calls"], made["results"], made["results_without_call"]) == (360, 360, 0)
    assert made["calls_without_result"] == 0


@pytest.mark.parametrize("name", present("openai-chat"))
def test_exchanges_hold_what_their_requests_and_responses_hold(name):
    """The table counts requests alone; with the responses, and each message once, the sums are ours."""
    path = CORPUS / name
    exchanges = json.loads(path.read_text())
    made = read(path)
    asked = [message for one in exchanges for message in one["request"]["messages"]]
    assert len(asked) == int(counted("openai-chat")[name]["messages"])
    assert sum(step.exact for one in made.sessions.values() for step in one.timeline.steps) == len(exchanges)
    roles = {message["role"] for message in asked}
    assert len(made.of(StepEvent)) >= len(exchanges)
    assert not made.report.skipped
    assert not made.report.unknown_types
    assert roles <= {"system", "developer", "user", "assistant", "tool"}


CALLS = ("tool_use", "server_tool_use", "mcp_tool_use", "function_call")


def wire(path: Path) -> dict[str, int]:
    """What went over the wire, each thing once: ids of calls and of results, contents of compactions."""
    seen: dict[str, set[str]] = {"tool_calls": set(), "results": set(), "compactions": set()}

    def look(block: object) -> None:
        if not isinstance(block, dict):
            return
        kind = str(block.get("type"))
        if kind == "compaction":
            seen["compactions"].add(block.get("content") or block["encrypted_content"])
        elif kind in CALLS:
            seen["tool_calls"].add(block.get("call_id") or block["id"])
        elif kind.endswith(("tool_result", "function_call_output")):
            seen["results"].add(block.get("call_id") or block["tool_use_id"])
        for part in block.get("content") if isinstance(block.get("content"), list) else ():
            look(part)

    for one in json.loads(path.read_text()):
        request, response = one["request"], one["response"]
        if isinstance(request, dict):
            asked = request.get("messages", request.get("input"))
            for block in asked if isinstance(asked, list) else ():
                look(block)
        if isinstance(response, dict):
            for block in (response.get("content") or []) + (response.get("output") or []):
                look(block)
    return {name: len(found) for name, found in seen.items()}


OTHERS_TOO = {
    # Recordings that hold exchanges with two providers: those with the other one are counted and left out.
    "anthropic-messages/pydantic-ai/test_anthropic_model_thinking_part_from_other_model.json",
    "anthropic-messages/pydantic-ai/test_anthropic_server_tool_pass_history_to_another_provider.json",
}


@pytest.mark.parametrize("name", present("anthropic-messages") + present("openai-responses"))
def test_exchanges_of_the_two_other_providers_hold_each_thing_once(name):
    """The table counts what each request repeats; we count each call, result and compaction once, responses too."""
    made, told = read(CORPUS / name), wire(CORPUS / name)
    assert not made.report.skipped
    assert sum(one.results_without_call for one in made.sessions.values()) == 0
    if "str" in {type(one["response"]).__name__ for one in json.loads((CORPUS / name).read_text())}:
        # Streams are checked by the tests of their importers.
        assert made.of(StepEvent)
    elif name not in OTHERS_TOO:
        found = ours(CORPUS / name)
        calls = sum(item.kind == Kind.TOOL_CALL and item.needs_result for item in made.items)
        assert calls == told["tool_calls"] + inside(made)
        assert (found["results"], found["compactions"]) == (
            told["results"] + inside(made),
            told["compactions"],
        )


PROVIDERS_OWN = {"code_interpreter", "deepwiki.ask_question"}
"""Calls of the Responses API that bring their answer inside (docs/formats/openai-responses.md)."""


def inside(made) -> int:
    """Results that stand inside the call of a provider's own tool."""
    if made.report.format != "openai-responses":
        return 0
    return sum(item.tool in PROVIDERS_OWN for item in made.items if item.kind == Kind.TOOL_CALL)


@pytest.mark.parametrize(
    ("line", "code"), [(154, "repeat"), (570, "opaque"), (394, "web_search"), (29, "tool_search")]
)
def test_the_irregular_lines_of_the_corpus_are_read_as_they_are_meant(line, code):
    """formats.md 4.16 to 4.18 in the file that rulings.md names for them."""
    path = CORPUS / "codex" / "entityprocess-agentv" / "1f-4427577930-0.jsonl"
    made = read(path)
    at = [item for item in made.items if item.place and item.place.line == line]
    if code == "repeat":
        assert made.report.duplicates == 3
    elif code == "opaque":
        [compaction] = made.of(Compaction)
        assert (compaction.place.line, compaction.opaque, compaction.post_tokens) == (570, True, 23_658)
        assert compaction.pre_tokens == 217_074
    elif code == "web_search":
        assert [(item.tool, item.needs_result) for item in at] == [("web_search", False)]
    else:
        assert at[0].kind == Kind.TOOL_RESULT
        assert at[0].text.startswith("[{")
