"""The agent of docs/live-agent.md, on an endpoint that is scripted."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from contextlab.core import faults_of, parse_policy
from tests.support.fake_openai import Exchange, FakeOpenAI, Way, calls, fails, says

EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "examples" / "live_agent.py"
TEXT = "".join(f"line {number} of a long file\n" for number in range(3_000))
ID = re.compile(r"uuid=([\w-]+)")


@pytest.fixture(scope="module")
def example() -> ModuleType:
    """The example as a module."""
    spec = importlib.util.spec_from_file_location("live_agent", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder with a long file."""
    (tmp_path / "long.txt").write_text(TEXT)
    return tmp_path


def agent_on(example: ModuleType, server: FakeOpenAI, folder: Path) -> Any:
    """An agent on this endpoint."""
    compaction = {**example.POLICY.document["compaction"], "msg_threshold": 7}
    policy = parse_policy({"version": 1, "name": "eager", "compaction": compaction})
    return example.Agent(server.url, "m", "sk-test-key", folder, policy)


def reloads(exchange: Exchange) -> None:
    """Calls the reload tool with the id that stands in the messages."""
    found = ID.findall(json.dumps(exchange.request.body["messages"]))
    calls("context_reload", {"working_context_offload_uuid": found[-1]}, "call_9")(exchange)


def run(
    example: ModuleType, folder: Path, script: list[Way], *turns: str
) -> tuple[list[str], list[Any], Any]:
    """Answers, requests and the agent after these turns."""
    with FakeOpenAI(*script) as server:
        agent = agent_on(example, server, folder)
        answers = [agent.turn(turn) for turn in turns]
    for request in server.requests:
        messages = {"messages": request.body["messages"]}
        assert faults_of(messages, "openai_chat") == []
    return answers, server.requests, agent


def test_it_calls_tools_until_it_has_an_answer(example: ModuleType, folder: Path) -> None:
    """Calls and results go back to the model in order, and its last words are the answer."""
    script = [
        calls("list_files", {"path": "."}),
        calls("read_file", {"path": "../x"}, "call_2"),
        says("One file."),
    ]
    answers, requests, _ = run(example, folder, script, "What is here?")
    assert answers == ["One file."]
    roles = [message["role"] for message in requests[-1].body["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "tool"]
    assert requests[1].body["messages"][-1]["content"] == "long.txt"
    assert requests[2].body["messages"][-1]["content"] == "Outside of the folder."


def test_what_was_put_aside_can_be_called_back(example: ModuleType, folder: Path) -> None:
    """A large result of an earlier turn becomes a preview; the reload tool gives the model all of it again."""
    first = [calls("read_file", {"path": "long.txt"}), says("It is long.")]
    later = [says("Well."), reloads, says("Line 2999 is the last.")]
    answers, requests, agent = run(example, folder, [*first, *later], "Read it", "And?", "The last line?")
    assert answers[-1] == "Line 2999 is the last."
    previewed = requests[3].body["messages"]
    assert "line 2999" not in json.dumps(previewed)
    assert ID.search(json.dumps(previewed))
    assert requests[-1].body["messages"][-1]["content"] == TEXT
    assert agent.session.last_result is not None


def test_a_prompt_that_is_too_long_is_compacted_once(example: ModuleType, folder: Path) -> None:
    """The provider's refusal leads to a compaction by hand, and the question is asked again."""
    too_long = fails(
        400, "This model's maximum context length is 8192 tokens. However, you requested 20000 tokens"
    )
    script = [calls("read_file", {"path": "long.txt"}), says("Long."), too_long, says("Shorter now.")]
    answers, requests, _ = run(example, folder, script, "Read it", "Go on")
    assert answers[-1] == "Shorter now."
    assert len(requests) == 4


def test_other_refusals_reach_the_person(example: ModuleType, folder: Path) -> None:
    """A key that is wrong is no reason to compact."""
    with FakeOpenAI(fails(401, "Incorrect API key")) as server:
        agent = agent_on(example, server, folder)
        with pytest.raises(Exception, match="Incorrect API key"):
            agent.turn("hi")
    assert len(server.requests) == 1
    assert not agent.session.busy


def test_it_runs_as_a_program(
    example: ModuleType, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Address, model and key come from the environment, prompts from the command line, /compact works."""
    monkeypatch.chdir(folder)
    with FakeOpenAI(says("Hello.")) as server:
        for name, value in (("BASE_URL", server.url), ("MODEL", "m"), ("API_KEY", "sk-x")):
            monkeypatch.setenv(f"OPENAI_{name}", value)
        monkeypatch.setattr(sys, "argv", ["live_agent.py", "hi", "/compact"])
        example.main()
    assert capsys.readouterr().out.splitlines() == ["Hello.", "nothing_to_summarise"]
