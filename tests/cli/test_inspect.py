"""`contextlab inspect`: the JSON that scripts rely on, exit codes, streams; no database and no Django."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from contextlab.cli import main
from tests.importers.codex_log import Rollout
from tests.importers.reading import LOGS

KEYS = [
    "file", "format", "sessions", "subagents", "turns", "steps", "items", "entries", "tool_calls", "tool_results",
    "results_without_call", "calls_without_result", "compactions", "micro_compactions", "usage", "skipped",
    "unknown_types", "warnings",
]  # fmt: skip


def inspect(capsys: pytest.CaptureFixture[str], *paths: object) -> tuple[int, list[dict]]:
    """Exit code and the objects."""
    code = main(["inspect", *map(str, paths), "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_one_object_for_each_file_with_exactly_these_keys(capsys):
    """The names of the contract, in its order."""
    code, answers = inspect(capsys, LOGS / "codex" / "short.jsonl", LOGS / "openai-chat" / "list.json")
    assert code == 0
    assert [list(answer) for answer in answers] == [KEYS, KEYS]
    assert [answer["format"] for answer in answers] == ["codex", "openai-chat"]


def test_the_figures_of_a_rollout(capsys):
    """A web search needs no result, a repeated token count adds nothing, the aborted step has no usage."""
    _, [answer] = inspect(capsys, LOGS / "codex" / "compacted.jsonl")
    assert answer["sessions"] == 1
    assert (answer["turns"], answer["steps"]) == (2, 6)
    assert (answer["tool_calls"], answer["tool_results"], answer["calls_without_result"]) == (6, 5, 0)
    assert (answer["compactions"], answer["micro_compactions"]) == (1, 0)
    assert answer["usage"] == {"input": 10_800, "cache_read": 457_000, "cache_write": None, "output": 880}


def test_unknown_usage_is_null(capsys):
    """A list of messages reports no tokens: null, never 0."""
    _, [answer] = inspect(capsys, LOGS / "openai-chat" / "list.json")
    assert answer["usage"] == dict.fromkeys(("input", "cache_read", "cache_write", "output"))


def test_main_sessions_and_subagents_are_counted_apart(capsys):
    """A subagent's file has no main session."""
    _, [answer] = inspect(capsys, LOGS / "codex" / "subagent.jsonl")
    assert (answer["sessions"], answer["subagents"]) == (0, 1)


def test_lines_that_were_not_read_are_listed(capsys, tmp_path):
    """Line and reason, unknown types with their number; the rest of the file counts."""
    log = Rollout()
    log.task("t1")
    log.say("user", "hi")
    log.add("new_record", {})
    path = tmp_path / "log.jsonl"
    path.write_text(log.text() + "42\n{broken\n")
    code, [answer] = inspect(capsys, path)
    assert code == 0
    assert answer["skipped"][0] == {"line": 7, "reason": "not an object"}
    assert answer["skipped"][1]["line"] == 8
    assert answer["unknown_types"] == {"new_record": 1}
    assert answer["turns"] == 1


def test_a_folder_is_read_file_by_file(capsys):
    """Every log below it, under its own path; one bad file stops nothing."""
    code, answers = inspect(capsys, LOGS / "codex")
    assert code == 0
    assert [Path(answer["file"]).name for answer in answers] == [
        "compacted-again.jsonl.zst", "compacted.jsonl", "short.jsonl", "subagent.jsonl",
    ]  # fmt: skip


def test_a_file_that_cannot_be_read_has_an_error_and_nothing_else(capsys, tmp_path):
    """Beside a good file the exit code is 0; alone it is 3."""
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(b"")
    code, answers = inspect(capsys, bad, LOGS / "codex" / "short.jsonl", tmp_path / "nowhere.jsonl")
    assert code == 0
    assert list(answers[0]) == ["file", "error"]
    assert "is empty" in answers[0]["error"]
    assert "no such file" in answers[2]["error"]
    assert inspect(capsys, bad) == (3, [answers[0]])


def test_an_unknown_format_names_the_guess_and_the_way_out(capsys, tmp_path):
    """Gemini's format has no importer."""
    path = tmp_path / "session.json"
    path.write_text('{"sessionId": "s", "projectHash": "h", "messages": []}')
    code, [answer] = inspect(capsys, path)
    assert code == 3
    assert "Gemini CLI" in answer["error"]
    assert "contextlab-events" in answer["error"]


def test_standard_input_is_a_file_named_dash(capsys, monkeypatch):
    """`-` reads from a pipe."""
    data = (LOGS / "codex" / "short.jsonl").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    code, [answer] = inspect(capsys, "-")
    assert (code, answer["file"], answer["format"]) == (0, "-", "codex")


def test_an_empty_folder_reads_nothing(capsys, tmp_path):
    """An empty list on standard output, a word on standard error, exit code 3."""
    assert main(["inspect", str(tmp_path), "--json"]) == 3
    told = capsys.readouterr()
    assert told.out == "[]\n"
    assert "no logs" in told.err


def test_without_a_path_the_usage_is_wrong():
    """argparse's exit code is ours."""
    with pytest.raises(SystemExit) as stopped:
        main(["inspect"])
    assert stopped.value.code == 2


def test_for_people_there_is_a_table(capsys, tmp_path):
    """Columns for the figures, a sentence for each thing that went wrong."""
    bad = tmp_path / "bad.json"
    bad.write_text("{}")
    assert main(["inspect", str(LOGS / "codex"), str(bad)]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0].split()[:3] == ["file", "format", "sessions"]
    assert "457,000" in out
    assert "unknown format" in out


def test_the_database_free_commands_never_load_django():
    """In a process of its own: neither Django, Celery nor a tokenizer is imported for inspect."""
    log = LOGS / "codex" / "short.jsonl"
    program = (
        "import sys; from contextlab.cli import main; "
        f"codes = [main(['inspect', {str(log)!r}]), main(['replay', {str(log)!r}, '--estimate'])]; "
        "loaded = {'django', 'celery', 'openai', 'tiktoken'} & set(sys.modules); "
        "sys.exit(f'{codes} {loaded}' if any(codes) or loaded else 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", [["inspect", "--json"], ["replay"], ["replay", "--json"]])
def test_a_reader_that_goes_away_is_no_failure(command):
    """`contextlab ... | head -0`: no traceback, no exit code of failure."""
    words = [command[0], str(LOGS / "codex" / "compacted.jsonl"), *command[1:]]
    running = subprocess.Popen(
        [sys.executable, "-c", f"import sys; from contextlab.cli import main; sys.exit(main({words!r}))"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    running.stdout.close()
    errors = running.stderr.read().decode()
    running.stderr.close()
    assert (running.wait(timeout=60), errors) == (0, "")
