"""`contextlab compact`: the contract's names, pins and steps, and refusals in words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from contextlab.cli import main
from tests.services.test_ingest import busy_log
from tests.support.fake_openai import FakeOpenAI, fails, says
from tests.support.odd_escapes import chat_log

MINE = {"version": 1, "name": "mine", "compaction": {"kind": "structured_summary", "max_items": 4}}
RESULT = {
    "goal", "completed", "pending", "decisions", "changed_artifacts", "failed_commands", "test_results",
    "user_confirmations", "sandbox_state", "open_questions", "read_files", "modified_files", "summary",
}  # fmt: skip
VERDICT = {
    "id", "position", "entry", "kind", "tool", "call_id", "verdict", "reason", "tokens", "chars", "in_context",
    "replaced_by",
}  # fmt: skip


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "s1.jsonl"
    path.write_bytes(busy_log().data)
    return path


@pytest.fixture
def policy(tmp_path: Path) -> Any:
    def write(**parts: Any) -> str:
        path = tmp_path / "mine.json"
        path.write_text(json.dumps(MINE | parts))
        return str(path)

    return write


def compact(capsys: Any, *words: str) -> dict[str, Any]:
    assert main(["compact", *words, "--json", "--estimate"]) == 0
    return json.loads(capsys.readouterr().out)


def test_answers_with_the_names_of_the_contract(capsys: Any, log: Path, policy: Any) -> None:
    """Every item before the step has a verdict; what is kept is numbered in the order of the memory."""
    answer = compact(capsys, str(log), "--policy", policy(), "--before-step", "12")
    assert list(answer) == ["session", "compacted", "reason", "method", "result", "report", "verdicts"]
    assert (answer["compacted"], set(answer["result"])) == (True, RESULT)
    assert answer["report"]["projected_tokens"] < answer["report"]["source_tokens"]
    assert set(answer["verdicts"][0]) == VERDICT
    assert set(answer["report"]) >= {
        "source_items",
        "token_source",
        "summarised_items",
        "source_faults",
        "notes",
    }
    assert (answer["reason"], answer["method"]) == (None, "mechanical")
    orders = [one["in_context"] for one in answer["verdicts"] if one["in_context"] is not None]
    assert orders == list(range(answer["report"]["projected_items"]))


def test_pins_and_entries_that_stay(capsys: Any, log: Path, policy: Any) -> None:
    """A pinned item is pinned, and more entries stay when asked for."""
    first = compact(capsys, str(log), "--policy", policy(), "--before-step", "12")
    name = next(one["id"] for one in first["verdicts"] if one["kind"] == "user")
    pinned = compact(
        capsys, str(log), "--policy", policy(), "--before-step", "12", "--pin", name, "--keep-recent", "8"
    )
    verdicts = {one["id"]: one["verdict"] for one in pinned["verdicts"]}
    assert verdicts[name] == "pinned"
    assert pinned["report"]["projected_items"] > first["report"]["projected_items"]


def test_nothing_to_do_says_so(capsys: Any, log: Path, policy: Any) -> None:
    """No result and a reason."""
    answer = compact(capsys, str(log), "--policy", policy(), "--before-step", "1")
    assert (answer["compacted"], answer["result"]) == (False, None)
    assert answer["reason"]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--policy", "nobody"], 2),
        (["--policy", "keep-all"], 2),
        (["--policy", "recorded"], 2),
        (["--policy", "llm-summary"], 2),
        (["--before-step", "99999"], 2),
        (["--pin", "nobody"], 2),
        (["--session", "nobody"], 2),
        (["--keep-recent", "-1"], 2),
        (["--instructions", "x" * 1_000_000], 2),
    ],
)
def test_wrong_usage(capsys: Any, log: Path, policy: Any, words: list[str], code: int) -> None:
    """Exit code 2, and words on standard error only."""
    given = words if "--policy" in words else ["--policy", policy(), *words]
    assert main(["compact", str(log), "--estimate", *given]) == code
    said = capsys.readouterr()
    assert said.out == ""
    assert "contextlab: " in said.err


def test_a_model_is_asked_only_when_allowed(capsys: Any, log: Path, policy: Any, monkeypatch: Any) -> None:
    """What a person wishes reaches it; one that fails leaves memory as it was, with exit code 2."""
    asks = {"kind": "llm_summary", "max_items": 4}
    with FakeOpenAI(says('{"goal": "ship it"}'), fails(401, "no")) as server:
        monkeypatch.setenv("CONTEXTLAB_MODEL_BASE_URL", server.url)
        monkeypatch.setenv("CONTEXTLAB_MODEL", "m")
        wish = ["--instructions", "mind the ports"]
        answer = compact(capsys, str(log), "--policy", policy(compaction=asks), "--allow-model", *wish)
        assert "mind the ports" in json.dumps(server.requests[0].body)
        assert (answer["method"], answer["result"]["goal"]) == ("model", "ship it")
        assert (
            main(["compact", str(log), "--estimate", "--policy", policy(compaction=asks), "--allow-model"])
            == 2
        )
    assert "memory is as it was" in capsys.readouterr().err


def test_people_get_lines(capsys: Any, log: Path, policy: Any) -> None:
    """Without --json: the figures and the summary."""
    assert main(["compact", str(log), "--estimate", "--policy", policy()]) == 0
    assert "compacted" in capsys.readouterr().out


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_half_a_character_in_a_command_is_told(
    capsys: Any, tmp_path: Path, policy: Any, words: list[str]
) -> None:
    """A log whose commands hold what no text can hold is compacted by rules, and the summary is printed."""
    log = tmp_path / "chat.json"
    log.write_text(chat_log())
    rules = policy(compaction={"kind": "rule_based", "keep_recent": 4})
    assert main(["compact", str(log), "--estimate", "--policy", rules, *words]) == 0
    assert "printf \ufffd \u2400 | xxd" in capsys.readouterr().out.replace("\\ufffd", "\ufffd")
