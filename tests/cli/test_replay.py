"""`contextlab replay`: a line for each step, one step with all its items, policies by name and by file."""

from __future__ import annotations

import json

import pytest

from contextlab.cli import main
from contextlab.core.documents.presets import PRESETS
from contextlab.core.policy import BUILTINS
from tests.importers.reading import LOGS, lines

COMPACTED = LOGS / "codex" / "compacted.jsonl"
STEP_KEYS = ["session", "step", "turn", "step_id", "model", "limit", "report"]
REPORT_KEYS = {
    "source_items", "projected_items", "dropped_items", "pinned_items", "cleared_items", "offloaded_items",
    "summarised_items", "source_entries", "projected_entries", "dropped_entries", "source_chars", "projected_chars",
    "source_tokens", "projected_tokens", "token_source", "calibrated_tokens", "band", "reported_input_tokens",
    "item_limit_applied", "character_limit_applied", "token_limit_applied", "over_budget", "source_faults", "notes",
}  # fmt: skip
ITEM_KEYS = [
    "id", "position", "entry", "kind", "tool", "call_id", "verdict", "reason", "tokens", "chars", "in_context",
    "replaced_by",
]  # fmt: skip


def replay(capsys: pytest.CaptureFixture[str], *words: object) -> list[dict]:
    """The objects that a replay prints."""
    assert main(["replay", *map(str, words), "--json"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_line_for_each_step_with_the_names_of_the_contract(capsys):
    """Steps in order, each with its report."""
    steps = replay(capsys, COMPACTED)
    assert [step["step"] for step in steps] == [1, 2, 3, 4, 5, 6]
    assert all(list(step) == STEP_KEYS for step in steps)
    assert all(set(step["report"]) >= REPORT_KEYS for step in steps)
    assert steps[0]["limit"] == 258_400
    assert [step["turn"] for step in steps] == [1, 1, 1, 1, 1, 2]
    assert steps[-1]["report"]["reported_input_tokens"] is None, "the aborted step was never counted"


def test_the_recorded_view_folds_what_the_log_compacted(capsys):
    """From the step after the compaction on, everything but the user's side stands in the summary."""
    steps = replay(capsys, COMPACTED)
    assert [step["report"]["summarised_items"] for step in steps] == [0, 0, 0, 0, 16, 16]
    assert steps[4]["report"]["source_items"] < steps[3]["report"]["source_items"]


def test_one_step_shows_every_item_with_its_fate(capsys):
    """Those left out too: what replaced them, and who stands where in the context."""
    [step] = replay(capsys, COMPACTED, "--step", 5)
    assert list(step) == [*STEP_KEYS, "items"]
    items = step["items"]
    assert all(list(item) == ITEM_KEYS for item in items)
    assert [item["position"] for item in items] == list(range(len(items)))
    order = [item["in_context"] for item in items if item["in_context"] is not None]
    assert order == list(range(step["report"]["projected_items"]))
    gone = [item for item in items if item["verdict"] == "summarised"]
    assert {item["replaced_by"] for item in gone} == {"compaction-1:summary"}
    assert {item["reason"] for item in gone} == {"compacted"}
    assert {item["tool"] for item in gone if item["kind"] == "tool_result"} == {"exec_command"}


def test_tokens_are_counted_or_labelled_estimated(capsys):
    """The same figures from the same words; only the label tells which they are."""
    counted = replay(capsys, COMPACTED)[0]["report"]
    estimated = replay(capsys, COMPACTED, "--estimate")[0]["report"]
    assert (counted["token_source"], estimated["token_source"]) == ("counted", "estimated")
    assert counted["source_chars"] == estimated["source_chars"]
    assert 0 < counted["source_tokens"] != estimated["source_tokens"] > 0


def test_where_nothing_can_count_estimates_say_so(capsys, monkeypatch):
    """A machine without the vocabulary is told why."""
    from contextlab.adapters import tokens

    def fail() -> None:
        raise OSError("no vocabulary")

    monkeypatch.setattr(tokens, "counter", fail)
    assert main(["replay", str(COMPACTED), "--json"]) == 0
    told = capsys.readouterr()
    assert "estimated, not counted (no vocabulary)" in told.err
    assert json.loads(told.out.splitlines()[0])["report"]["token_source"] == "estimated"


def test_a_policy_by_name(capsys):
    """The same session as it would have been sent under a built-in policy."""
    steps = replay(capsys, COMPACTED, "--policy", "type-aware")
    assert steps[-1]["report"]["summarised_items"] == 0, "a policy view replays the original items"
    assert steps[-1]["report"]["source_items"] > replay(capsys, COMPACTED)[-1]["report"]["source_items"]


@pytest.mark.parametrize("form", ["json", "toml"])
def test_a_policy_by_file(capsys, tmp_path, form):
    """JSON and TOML documents say the same."""
    path = tmp_path / f"policy.{form}"
    if form == "json":
        projector = {"kind": "default", "max_items": 3}
        path.write_text(json.dumps({"version": 1, "name": "three", "projector": projector}))
    else:
        path.write_text('version = 1\nname = "three"\n[projector]\nkind = "default"\nmax_items = 3\n')
    steps = replay(capsys, COMPACTED, "--policy", path)
    assert steps[-1]["report"]["item_limit_applied"] is True
    assert steps[-1]["report"]["dropped_items"] > 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--policy", "nope"], "there is no policy 'nope'"),
        (["--policy", "missing.json"], "policy missing.json: No such file"),
        (["--session", "nobody"], "there is no session 'nobody'"),
        (["--step", "99"], "has 6 steps, not a step 99"),
        (["--step", "0"], "not a step 0"),
    ],
)
def test_what_does_not_exist_is_wrong_usage(capsys, words, told):
    """Exit code 2, and a sentence that names it."""
    assert main(["replay", str(COMPACTED), *words, "--json"]) == 2
    out = capsys.readouterr()
    assert told in out.err
    assert out.out == ""


def test_a_policy_with_an_unknown_key_names_the_key(capsys, tmp_path):
    """The message says where in the document it is."""
    path = tmp_path / "p.json"
    path.write_text('{"version": 1, "name": "x", "projector": {"kind": "default", "maxItems": 3}}')
    assert main(["replay", str(COMPACTED), "--policy", str(path)]) == 2
    assert "maxItems" in capsys.readouterr().err


def test_several_sessions_are_told_apart(capsys):
    """Each line names its session; one of them can be chosen; a step needs the choice."""
    path = LOGS / "tau-bench" / "airline.json"
    names = [step["session"] for step in replay(capsys, path)]
    assert names == ["airline:3:0"] * 3 + ["airline:8:0"] * 3
    assert {step["session"] for step in replay(capsys, path, "--session", "airline:8:0")} == {"airline:8:0"}
    assert main(["replay", str(path), "--step", "1"]) == 2
    assert "choose one with --session" in capsys.readouterr().err
    [step] = replay(capsys, path, "--session", "airline:8:0", "--step", 2)
    assert step["session"] == "airline:8:0"


def test_a_file_that_cannot_be_read_ends_with_3(capsys, tmp_path):
    """The reason goes to standard error."""
    assert main(["replay", str(tmp_path / "nowhere.jsonl"), "--json"]) == 3
    assert "no such file" in capsys.readouterr().err


def test_for_people_there_are_tables(capsys):
    """A row for each step; for one step its figures and its items."""
    assert main(["replay", str(COMPACTED)]) == 0
    assert "calibrated" in capsys.readouterr().out
    assert main(["replay", str(COMPACTED), "--step", "5"]) == 0
    out = capsys.readouterr().out
    assert "compaction-1:summary" in out
    assert "summarised items: 16" in out


def test_special_tokens_in_a_text_are_text(capsys, tmp_path):
    """A log that speaks of <|endoftext|> is counted like any other."""
    path = tmp_path / "log.jsonl"
    path.write_bytes(
        lines(
            {"role": "user", "content": "the log says <|endoftext|> and <|im_start|>"},
            {"role": "assistant", "content": "ok"},
        )
    )
    [step] = replay(capsys, path)
    assert step["report"]["source_tokens"] >= 8
    assert step["report"]["token_source"] == "counted"


def test_a_limit_that_a_larger_prompt_disproves_is_unknown(capsys, tmp_path):
    """The provider took more than the log says fits."""
    path = tmp_path / "log.jsonl"
    path.write_bytes(
        lines(
            {"format": "contextlab-events", "version": 1, "session": {"id": "s"}},
            {"type": "step", "id": "a", "model": "unknown-model", "limit": 200_000},
            {"type": "usage", "step": "a", "input": 219_313},
        )
    )
    assert replay(capsys, path)[0]["limit"] is None


@pytest.mark.parametrize("name", [*BUILTINS, *PRESETS])
def test_every_policy_of_the_package_replays_by_its_name(capsys, name):
    """A line for each step under each of them; what they need a model for is marked, never asked."""
    steps = replay(capsys, COMPACTED, "--policy", name)
    assert [step["step"] for step in steps] == [1, 2, 3, 4, 5, 6]
    for step in steps:
        report = step["report"]
        assert (
            report["source_items"] == report["projected_items"] + report["dropped_items"] or report["notes"]
        )
