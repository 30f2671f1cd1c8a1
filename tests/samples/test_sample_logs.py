"""The sample logs: what they promise to a newcomer, and that they are what their sources say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import contextlab
from scripts.make_samples import sample_files

SAMPLES = Path(contextlab.__file__).parent / "samples"


@cache
def records(pattern: str) -> list[dict[str, Any]]:
    """The records of the one file that the pattern finds."""
    (path,) = SAMPLES.glob(pattern)
    return [json.loads(line) for line in path.read_text().splitlines()]


def claude() -> list[dict[str, Any]]:
    return records("claude-code/*/*.jsonl")


def texts(found: list[dict[str, Any]], kind: str) -> Iterator[tuple[int, str]]:
    for number, record in enumerate(found):
        if record["type"] == kind:
            yield number, json.dumps(record["message"]["content"], ensure_ascii=False)


def boundary(subtype: str) -> int:
    (found,) = [number for number, record in enumerate(claude()) if record.get("subtype") == subtype]
    return found


def test_the_sources_give_the_committed_bytes() -> None:
    """Whoever runs scripts/make_samples.py gets exactly the files that are in the package."""
    for name, text in sample_files().items():
        assert (SAMPLES / name).read_text() == text, f"{name} differs: run python -m scripts.make_samples"


def test_the_summary_changes_the_port() -> None:
    """The user says 8443 before the compaction, the summary says 8433, and the agent then uses 8433."""
    at = boundary("compact_boundary")
    summary = claude()[at + 1]["message"]["content"]
    assert claude()[at + 1]["isCompactSummary"] is True
    assert "8433" in summary
    assert "8443" not in summary
    assert any("port 8443" in text for number, text in texts(claude(), "user") if number < at)
    assert not any("8433" in text for number, text in texts(claude(), "assistant") if number < at)
    assert any(":8433" in text for number, text in texts(claude(), "assistant") if number > at)


def test_the_summary_loses_a_rule_that_is_broken_later() -> None:
    """Never to edit a migration is not in the summary; later one is edited, and the user objects."""
    at = boundary("compact_boundary")
    assert any(
        "never edit anything under migrations/" in text
        for number, text in texts(claude(), "user")
        if number < at
    )
    assert "migrations" not in claude()[at + 1]["message"]["content"]
    edits = [
        number
        for number, text in texts(claude(), "assistant")
        if '"name": "Edit"' in text and "migrations/0007" in text
    ]
    (edit,) = edits
    assert edit > at
    assert any("never edit those" in text for number, text in texts(claude(), "user") if number > edit)


def test_a_micro_compaction_names_results_of_the_session() -> None:
    """What it clears are results that were in the context."""
    at = boundary("microcompact_boundary")
    cleared = claude()[at]["microcompactMetadata"]["compactedToolIds"]
    before = "".join(text for number, text in texts(claude(), "user") if number < at)
    assert len(cleared) == 12
    assert all(f'"tool_use_id": "{call}"' in before for call in cleared)


def test_claude_usage_fits_a_window_and_a_cache() -> None:
    """Each prompt fits in 200,000 tokens, and no more is read from the cache than was sent before."""
    steps: dict[str, dict[str, int]] = {}
    for record in claude():
        if record["type"] == "assistant":
            steps[record["message"]["id"]] = record["message"]["usage"]
    previous = 0
    for usage in steps.values():
        prompt = (
            usage["input_tokens"] + usage["cache_read_input_tokens"] + usage["cache_creation_input_tokens"]
        )
        assert min(usage["input_tokens"], usage["cache_creation_input_tokens"], usage["output_tokens"]) > 0
        assert prompt < 200_000
        assert usage["cache_read_input_tokens"] <= max(previous, 15_820)
        previous = prompt
    assert 100 < len(steps) < 200
    assert claude()[boundary("compact_boundary")]["compactMetadata"]["preTokens"] > 160_000


def test_the_subagent_says_which_call_started_it() -> None:
    """Its companion file names a Task call of the main file."""
    (meta,) = SAMPLES.glob("claude-code/*/*/subagents/*.meta.json")
    call = json.loads(meta.read_text())["toolUseId"]
    assert any(f'"id": "{call}", "name": "Task"' in text for _, text in texts(claude(), "assistant"))


def test_codex_totals_are_the_sums_of_their_calls() -> None:
    """total_token_usage grows by last_token_usage, and stands still where the size after a compaction is told."""
    total, steps = 0, 0
    for record in records("codex/**/*.jsonl"):
        if record["payload"].get("type") != "token_count":
            continue
        info = record["payload"]["info"]
        if info["last_token_usage"]["input_tokens"]:
            total += info["last_token_usage"]["total_tokens"]
            steps += 1
        assert info["total_token_usage"]["total_tokens"] == total
    assert 40 <= steps <= 60


def test_the_codex_compaction_is_opaque() -> None:
    """It keeps the user's words and says nothing else that could be read."""
    (payload,) = [
        record["payload"] for record in records("codex/**/*.jsonl") if record["type"] == "compacted"
    ]
    assert payload["message"] == ""
    assert [entry["type"] for entry in payload["replacement_history"]] == ["message", "compaction"]


def test_the_readme_names_the_right_steps() -> None:
    """It says at which step the compaction is in force and at which the rule is broken."""
    ids: list[str] = []
    broken = compacted = 0
    for number, record in enumerate(claude()):
        compacted = len(ids) + 1 if number == boundary("compact_boundary") else compacted
        if record["type"] != "assistant":
            continue
        if record["message"]["id"] not in ids:
            ids.append(record["message"]["id"])
        content = json.dumps(record["message"]["content"])
        broken = len(ids) if '"name": "Edit"' in content and "migrations/0007" in content else broken
    words = " ".join((Path(contextlab.__file__).parents[1] / "README.md").read_text().split())
    assert f"at step {compacted} everything is replaced by a summary" in words
    assert f"at step {broken} it is broken" in words
