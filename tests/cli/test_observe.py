"""`contextlab observe`: observations of a log as JSON that scripts can read, without a model or a database."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contextlab.cli import main

SAMPLES = Path(__file__).parents[2] / "contextlab" / "samples"
KEYS = set("type title subtitle narrative facts concepts files_read files_modified content_hash turn".split())


def test_a_session_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    """A sample session brings observations with the keys of the contract, each content once, and its economics."""
    assert main(["observe", str(SAMPLES / "claude-code"), "--json"]) == 0
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    answer = answers[0]
    assert set(answer) >= {"session", "observations", "summary", "skipped", "method", "economics"}
    assert all(set(one) == KEYS for one in answer["observations"])
    hashes = [one["content_hash"] for one in answer["observations"]]
    assert len(hashes) == len(set(hashes)) > 5
    rules = [one["title"] for one in answer["observations"] if one["type"] == "decision"]
    assert any("never edit anything under migrations/" in title for title in rules)
    assert (answer["method"], answer["skipped"]) == ("rules", False)
    costs = answer["economics"]
    assert costs["discovery_tokens"] == 0
    assert costs["savings_tokens"] == -costs["read_tokens"]
    assert costs["ratio"] > 1


def test_what_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An unknown session is wrong usage, an unreadable file is exit code 3, small talk is skipped with its reason."""
    chat = tmp_path / "chat.json"
    chat.write_text(
        json.dumps([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Hello!"}])
    )
    assert main(["observe", str(chat), "--session", "other", "--json"]) == 2
    assert "no session 'other'" in capsys.readouterr().err
    assert main(["observe", str(tmp_path / "nothing.jsonl"), "--json"]) == 3
    capsys.readouterr()
    assert main(["observe", str(chat), "--json", "--estimate"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["observations"], answer["summary"], answer["skipped"]) == ([], None, True)
    assert answer["economics"]["ratio"] is None
