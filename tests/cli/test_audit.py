"""`contextlab audit`: the names of the contract, the sample's planted damage, exit codes for scripts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import contextlab
from contextlab.cli import main
from tests.importers.reading import LOGS

SAMPLE = next(Path(contextlab.__file__).parent.glob("samples/claude-code/*/*.jsonl"))
OPAQUE = LOGS / "codex" / "compacted.jsonl"
FACT = ["kind", "text", "verdict", "became", "source_item", "summary_place", "weight"]
KINDS = {
    "path", "path_line", "url", "command", "error", "identifier", "commit", "ticket", "version", "port", "quantity",
    "setting", "decision", "open_question", "rule", "user_correction",
}  # fmt: skip
VERDICTS = {"kept", "changed", "partial", "dropped", "resupplied", "cannot_tell"}


def audit(capsys: pytest.CaptureFixture[str], *words: object) -> dict:
    """The one object that an audit of one session prints."""
    assert main(["audit", *map(str, words), "--json"]) == 0
    [line] = capsys.readouterr().out.splitlines()
    return json.loads(line)


def test_the_names_of_the_contract(capsys):
    """Scripts find every name that the contract promises, and only its kinds and verdicts."""
    answer = audit(capsys, SAMPLE)
    assert answer["session"] == SAMPLE.stem
    [one] = answer["compactions"]
    assert one["origin"] == "recorded"
    assert one["step"] == 66
    assert one["items_summarised"] == 209
    assert len(one["summary_items"]) == 1
    assert all(list(fact)[: len(FACT)] == FACT for fact in one["facts"])
    assert {fact["kind"] for fact in one["facts"]} <= KINDS
    assert {fact["verdict"] for fact in one["facts"]} <= VERDICTS
    assert all({"kind", "fact", "step", "item"} <= set(after) for after in one["consequences"])


def test_the_changed_port_and_the_lost_rule_of_the_sample_are_found(capsys):
    """8443 became 8433; the lost rule was broken at step 81 and the user said it again at step 84."""
    [one] = audit(capsys, SAMPLE)["compactions"]
    changed = [fact for fact in one["facts"] if fact["verdict"] == "changed"]
    assert changed
    assert all("8443" in fact["text"] and "8433" in fact["became"] for fact in changed)
    lost = [fact for fact in one["facts"] if fact["kind"] == "rule" and fact["verdict"] == "dropped"]
    assert [("migrations/" in fact["text"]) for fact in lost] == [True]
    told = {(after["kind"], after["step"]) for after in one["consequences"] if "migrations/" in after["fact"]}
    assert {("rule_broken", 81), ("user_repeated", 84)} <= told
    assert one["facts"][0]["weight"] >= 60, "what matters stands first"


def test_the_findings_say_it_in_one_sentence_each(capsys):
    """A person reads what was lost, where it was broken and when it was corrected."""
    titles = [finding["title"] for finding in audit(capsys, SAMPLE)["findings"]]
    assert titles[0].startswith(
        "Rule lost at compaction 1, broken at step 81, corrected by the user at step 84: "
    )
    assert (
        titles[1]
        == "port 8443 became 8433 at compaction 1, used at step 66, corrected by the user at step 78"
    )


def test_an_encrypted_summary_is_never_called_lost(capsys):
    """Nobody can read it, so nothing is said to be dropped or changed."""
    [one] = audit(capsys, OPAQUE)["compactions"]
    assert {fact["verdict"] for fact in one["facts"]} <= {"kept", "cannot_tell"}
    assert main(["audit", str(OPAQUE), "--fail-on", "lost-rule,changed-value,rule-broken"]) == 0


@pytest.mark.parametrize("kind", ["lost-rule", "changed-value", "rule-broken"])
def test_fail_on_makes_a_finding_an_exit_code(capsys, kind):
    """A pipeline stops at what it asks for, and only at that."""
    assert main(["audit", str(SAMPLE), "--json", "--fail-on", kind]) == 1
    assert json.loads(capsys.readouterr().out)["session"] == SAMPLE.stem
    assert main(["audit", str(LOGS / "openai-chat" / "list.json"), "--json", "--fail-on", kind]) == 0


def test_wrong_usage_and_unreadable_files_have_codes_of_their_own(capsys, tmp_path):
    """2 for a kind or a session that does not exist, 3 where nothing could be read; the reason on standard error."""
    assert main(["audit", str(SAMPLE), "--fail-on", "lost-rules"]) == 2
    assert "lost-rules" in capsys.readouterr().err
    assert main(["audit", str(SAMPLE), "--session", "nobody"]) == 2
    assert "nobody" in capsys.readouterr().err
    (tmp_path / "x.bin").write_bytes(b"\0\1\2")
    assert main(["audit", str(tmp_path / "x.bin")]) == 3


def test_people_get_lines(capsys):
    """Without --json the counts and the findings, in words."""
    assert main(["audit", str(SAMPLE)]) == 0
    out = capsys.readouterr().out
    assert "compaction 1 before step 66: 209 items left, facts: " in out
    assert "high    port 8443 became 8433" in out
