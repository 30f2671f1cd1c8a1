"""Commands that failed, tests that ran, and where: from results as the agents log them."""

from __future__ import annotations

import pytest

from contextlab.core.compaction import Line
from contextlab.core.evidence.commands import PASSED_LATER, failed_commands
from contextlab.core.evidence.record import Record
from contextlab.core.evidence.sandbox import sandbox_state
from contextlab.core.evidence.test_results import outcome, test_results
from tests.core.talk import Talk


def failures(talk: Talk, *earlier: Line) -> list[str]:
    """The failures that are told."""
    return [line.text for line in failed_commands(Record(talk.items), list(earlier))]


@pytest.mark.parametrize(
    ("result", "error", "told"),
    [
        ("Exit code 2\nmake: *** No rule\nError: no target", True, "exit 2: make — Error: no target"),
        (
            "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 127\nOutput:\nzsh: command not found",
            None,
            "exit 127: make — zsh: command not found",
        ),
        ("<returncode>1</returncode>\n<output>\nfatal: no\n</output>", None, "exit 1: make — fatal: no"),
        ('{"output": "x", "metadata": {"exit_code": 3}}', None, "exit 3: make"),
        ("boom\n[The command completed with exit code 5.]", None, "exit 5: make"),
        ("Permission denied", True, "failed: make — Permission denied"),
    ],
)
def test_exit_codes_as_agents_log_them(result: str, error: bool | None, told: str) -> None:
    """A failed command is told with its exit code, its command line, and the line that names the error."""
    assert failures(Talk().shell("make", result, error))[0].startswith(told)


@pytest.mark.parametrize(
    ("command", "result"),
    [
        ("make", "Exit code: 0\nOutput:\nError: only words"),
        ("make", "all good, exit code was 1 in the docs"),
        ("rg needle", "Exit code 1\n"),
        ("git diff --quiet", "Exit code 1"),
    ],
)
def test_what_is_no_failure(command: str, result: str) -> None:
    """Code 0, words about errors, and a search that found nothing are no failures."""
    assert failures(Talk().shell(command, result)) == []


def test_a_command_that_passed_later_says_so() -> None:
    """The same command succeeding later is noted, with both results as sources, and comes after it in weight."""
    talk = Talk().shell("make", "Exit code 1\nError: a", error=True).shell("make", "Exit code: 0")
    talk.shell("make lint", "Exit code 1\nError: b", error=True)
    lines = failed_commands(Record(talk.items), [])
    assert [line.text.endswith(PASSED_LATER) for line in lines] == [True, False]
    assert lines[0].items == ("c1", "r1", "r2")


def test_an_earlier_failure_is_settled_by_what_came_since() -> None:
    """A failure that an earlier summary tells is marked when its command passes now."""
    earlier = Line("exit 1: make — Error: a", ("x",))
    assert failures(Talk().shell("make", "Exit code: 0"), earlier) == [
        f"exit 1: make — Error: a{PASSED_LATER}"
    ]


def test_other_tools_fail_by_their_mark() -> None:
    """A tool's result that is marked as an error is told; a call that the person refused is none."""
    talk = Talk().call("Edit", "<tool_use_error>String not found</tool_use_error>", True, file_path="/a.py")
    talk.call("Bash", "The user doesn't want to proceed with this tool use.", True, command="rm x")
    assert failures(talk) == ["failed: Edit /a.py — String not found"]


def test_input_for_a_running_command_belongs_to_it() -> None:
    """A session that a command began carries its name on."""
    talk = Talk().call("exec_command", "Process running with session ID 9", cmd="npm test")
    talk.call("write_stdin", "Process exited with code 1\nError: x", session_id=9, chars="")
    assert failures(talk) == ["exit 1: npm test — Error: x"]


RUNNERS = [
    ("=== 2 failed, 10 passed, 1 warning in 1.23s ===", "pytest: 2 failed, 10 passed, 1 warning in 1.23s"),
    ("12 passed in 0.31s", "pytest: 12 passed in 0.31s"),
    (
        "FAILED tests/a.py::test_x - boom\n= 1 failed in 0.1s =",
        "pytest: 1 failed in 0.1s; failed: tests/a.py::test_x",
    ),
    ("Ran 3 tests in 0.002s\n\nFAILED (failures=1)", "unittest: Ran 3 tests in 0.002s FAILED (failures=1)"),
    ("Ran 3 tests in 0.002s\n\nOK", "unittest: Ran 3 tests in 0.002s OK"),
    ("Tests:       1 failed, 4 passed, 5 total\nTime: 2s", "jest: 1 failed, 4 passed, 5 total"),
    (" Test Files  1 passed (1)\n      Tests  4 passed (4)", "vitest: 4 passed (4)"),
    ("ok  \tpkg/a\t0.1s\nok  \tpkg/b\t(cached)", "go test: 2 packages ok"),
    (
        "--- FAIL: TestX (0.0s)\nFAIL\tpkg/b\t0.2s\nok  \tpkg/a\t0.1s\nFAIL",
        "go test: 1 package ok, 1 failed (pkg/b); failed: TestX",
    ),
    (
        (
            "test a::b ... FAILED\ntest result: FAILED. 3 passed; 1 failed; 0 ignored\n"
            "test result: ok. 2 passed; 0 failed; 1 ignored"
        ),
        "cargo test: 5 passed, 1 failed, 1 ignored; failed: a::b",
    ),
    ("  7 passing (30ms)\n  1 failing\n", "mocha: 7 passing, 1 failing"),
    (
        "[INFO] Tests run: 9, Failures: 0, Errors: 0, Skipped: 1",
        "maven: Tests run: 9, Failures: 0, Errors: 0, Skipped: 1",
    ),
    ("5 tests completed, 2 failed", "gradle: 5 tests completed, 2 failed"),
    ("10 examples, 0 failures", "rspec: 10 examples, 0 failures"),
    ("OK (5 tests, 9 assertions)", "phpunit: OK (5 tests, 9 assertions)"),
    (
        "Passed!  - Failed:     0, Passed:     5, Skipped: 0",
        "dotnet test: Passed!  - Failed:     0, Passed:     5, Skipped: 0",
    ),
    ("3 doctests, 20 tests, 0 failures", "exunit: 3 doctests, 20 tests, 0 failures"),
    (" 5 pass\n 1 fail\nRan 6 tests", "bun test: 5 pass, 1 fail"),
    ("# tests 3\n# pass 2\n# fail 1", "tap: 2 pass, 1 fail"),
    ("100% tests passed, 0 tests failed out of 4", "ctest: 100% tests passed, 0 tests failed out of 4"),
    ("\x1b[32m12 passed\x1b[0m in 0.31s", "pytest: 12 passed in 0.31s"),
]


@pytest.mark.parametrize(("output", "told"), RUNNERS)
def test_closing_lines_of_test_runners(output: str, told: str) -> None:
    """A runner's closing line tells how tests went, with the names of a few that failed."""
    assert outcome(f"collecting\n{output}\n") == told


@pytest.mark.parametrize("output", ["", "3 errors found", "ok then", "2 passed the exam", "Tests: none"])
def test_what_is_no_test_run(output: str) -> None:
    """Other outputs tell nothing of tests."""
    assert outcome(output) == ""


def test_the_last_run_of_a_command_counts() -> None:
    """Of runs of one command the last is told, with its call and result; it replaces an earlier summary's."""
    talk = (
        Talk()
        .shell("pytest -q", "1 failed in 0.1s")
        .shell("go test ./...", "ok  \ta\t0.1s")
        .shell("pytest -q", "2 passed in 0.1s")
    )
    earlier = [Line("pytest -q → pytest: 9 failed in 1s", ("x",))]
    lines = test_results(Record(talk.items), earlier)
    assert [line.text for line in lines] == [
        "go test ./... → go test: 1 package ok",
        "pytest -q → pytest: 2 passed in 0.1s",
    ]
    assert lines[1].items == ("c3", "r3")


def test_where_work_was_done() -> None:
    """Directory, branch, environment, services and the last commit are told as last known."""
    talk = Talk().user("<cwd>/old</cwd>\nhello").shell("cd /srv/app && ls", "x")
    talk.shell("git checkout -b fix", "Switched to a new branch 'fix'").shell("source .venv/bin/activate", "")
    talk.shell("npm run dev", "", run_in_background=True).shell("git commit -m x", "[fix 1a2b3c4] x")
    assert [line.text for line in sandbox_state(Record(talk.items), [Line("branch: old", ("x",))])] == [
        "working directory: /srv/app",
        "branch: fix",
        "environment: .venv/bin/activate",
        "service started: npm run dev",
        "last commit: 1a2b3c4",
    ]
