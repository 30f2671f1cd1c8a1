"""How tests went: the closing lines of test runners in what commands put out, the last run of each command.

pytest, unittest, jest, vitest, mocha, go test, cargo test, maven, gradle, rspec, minitest, phpunit, dotnet, exunit,
bun, deno, TAP, ctest, swift, playwright.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from contextlab.core.compaction import Line
from contextlab.core.evidence.commands import Run, runs
from contextlab.core.evidence.record import Record
from contextlab.core.evidence.words import same, short

TAIL = 12_000
"""Characters at the end of an output in which closing lines are looked for."""
ARROW = " → "
NAMES = 5
WIDTH = 1_000
"""Characters that are told of how a run went."""

_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_FAILED = re.compile(
    r"^(?:FAILED (?P<pytest>[^\s(]\S*?)(?: - .*)?|[ \t]*--- FAIL: (?P<go>\S+).*|test (?P<cargo>\S+) \.\.\. FAILED|"
    r"(?:FAIL|ERROR): (?P<unittest>\w+ \([\w.]+\))|[ \t]*● (?P<jest>[^\n]{3,160})|"
    r"[ \t]*not ok \d+ -? ?(?P<tap>[^\n#]{1,160}))[ \t]*$",
    re.MULTILINE,
)


@dataclass(slots=True, frozen=True)
class Runner:
    """A test runner: its closing line, and what is told of it."""

    name: str
    pattern: re.Pattern[str]
    tell: Callable[[list[re.Match[str]]], str] = lambda found: found[-1][1].strip()


def _sums(*names: str) -> Callable[[list[re.Match[str]]], str]:
    """Figures by name, summed over all closing lines (a runner closes once for each package)."""

    def tell(found: list[re.Match[str]]) -> str:
        sums = {name: sum(int(match[name] or 0) for match in found) for name in names}
        return ", ".join(f"{number} {name}" for name, number in sums.items() if number or name == names[0])

    return tell


def _go(found: list[re.Match[str]]) -> str:
    failed = [match[2] for match in found if match[1] == "FAIL" and match[2]]
    passed = sum(match[1] == "ok" for match in found)
    told = f"{passed} package{'s' * (passed != 1)} ok"
    return told + (f", {len(failed)} failed ({', '.join(failed[:NAMES])})" if failed else "")


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)


_PYTEST = (
    r"(?:\d+ (?:passed|failed|errors?|skipped|xfailed|xpassed|deselected|warnings?|rerun)(?:, )?)+"
    r" in [\d.:]+ ?s(?:econds)?(?: \([\d:]+\))?"
)

RUNNERS = (
    Runner(
        "pytest",
        _compiled(
            rf"^(?:=+ ({_PYTEST}|no tests ran[^=\n]{{0,40}}) =+|({_PYTEST})|(no tests ran in [^=\n]{{0,40}}))$"
        ),
        lambda found: next(group for group in found[-1].groups() if group).strip(),
    ),
    Runner(
        "unittest",
        _compiled(r"^(Ran \d+ tests? in [\d.]+s\s+(?:OK(?: \([^)\n]*\))?|FAILED \([^)\n]*\)|NO TESTS RAN))"),
        lambda found: " ".join(found[-1][1].split()),
    ),
    Runner("vitest", _compiled(r"^[ \t]*Tests\s+(\d+ [^\n]{0,120}\(\d+\))[ \t]*$")),
    Runner("jest", _compiled(r"^Tests:\s+([^\n]{0,160}\btotal)[ \t]*$")),
    Runner(
        "go test",
        _compiled(r"^(ok|FAIL)[ \t]+(\S+)[ \t]+(?:[\d.]+s|\(cached\)|\[[^\]\n]*\])"),
        _go,
    ),
    Runner(
        "cargo test",
        _compiled(
            r"^test result: \w+\. (?P<passed>\d+) passed; (?P<failed>\d+) failed; (?P<ignored>\d+) ignored"
        ),
        _sums("passed", "failed", "ignored"),
    ),
    Runner(
        "mocha",
        _compiled(
            r"^[ \t]+(?:(?P<passing>\d+) passing(?: \([^)\n]*\))?|(?P<failing>\d+) failing|"
            r"(?P<pending>\d+) pending)[ \t]*$"
        ),
        _sums("passing", "failing", "pending"),
    ),
    Runner(
        "maven",
        _compiled(r"^(?:\[\w+\] )?(Tests run: \d+, Failures: \d+, Errors: \d+(?:, Skipped: \d+)?)[ \t]*$"),
    ),
    Runner("gradle", _compiled(r"^(\d+ tests completed(?:, \d+ \w+)*)[ \t]*$")),
    Runner("rspec", _compiled(r"^(\d+ examples?, \d+ failures?(?:, \d+ pending)?)[ \t]*$")),
    Runner(
        "minitest", _compiled(r"^(\d+ (?:runs|tests), \d+ assertions, \d+ failures, \d+ errors[^\n]{0,40})$")
    ),
    Runner(
        "exunit",
        _compiled(r"^((?:\d+ (?:doctests?|properties), )*\d+ tests?, \d+ failures?(?:, \d+ \w+)*)[ \t]*$"),
    ),
    Runner(
        "phpunit", _compiled(r"^(OK \(\d+ tests?, \d+ assertions?\)|Tests: \d+, Assertions: \d+[^\n]{0,80})$")
    ),
    Runner(
        "dotnet test",
        _compiled(
            r"^[ \t]*((?:Passed|Failed)!\s+- Failed:\s+\d+, Passed:\s+\d+[^\n]{0,60}?)(?:, Duration.*)?$"
        ),
    ),
    Runner(
        "bun test",
        _compiled(r"^[ \t]*(?:(?P<pass>\d+) pass|(?P<fail>\d+) fail)[ \t]*$"),
        _sums("pass", "fail"),
    ),
    Runner("deno test", _compiled(r"^((?:ok|FAILED) \| \d+ passed[^\n]{0,60})$")),
    Runner(
        "tap",
        _compiled(r"^(?:# |ℹ )(?:pass (?P<pass>\d+)|fail (?P<fail>\d+))[ \t]*$"),
        _sums("pass", "fail"),
    ),
    Runner("ctest", _compiled(r"^(\d+% tests passed, \d+ tests failed out of \d+)[ \t]*$")),
    Runner(
        "swift test", _compiled(r"^[ \t]*(Executed \d+ tests?, with \d+ failures?[^\n]{0,40}?) in [^\n]*$")
    ),
    Runner(
        "playwright",
        _compiled(
            r"^[ \t]+(?:(?P<passed>\d+) passed \([^)\n]*\)|(?P<failed>\d+) failed|(?P<flaky>\d+) flaky)[ \t]*$"
        ),
        _sums("passed", "failed", "flaky"),
    ),
)


def test_results(record: Record, earlier: list[Line]) -> list[Line]:
    """The outcome of the last run of each test command, in the order of those runs."""
    lines = {_key(line.text): line for line in earlier}
    for run in runs(record):
        told = outcome(run.call.output)
        if told:
            line = Line(_told(run, told), run.call.ids)
            lines.pop(_key(line.text), None)
            lines[_key(line.text)] = line
    return list(lines.values())


test_results.__test__ = False  # type: ignore[attr-defined]  # its name is what it is, it is no test


def outcome(output: str) -> str:
    """What the closing lines of a test run say, empty where there are none."""
    text = _COLOUR.sub("", output[-TAIL:]).replace("\r", "")
    for runner in RUNNERS:
        found = list(runner.pattern.finditer(text))
        if found:
            return f"{runner.name}: {runner.tell(found)}{_names(text)}"
    return ""


def _told(run: Run, told: str) -> str:
    return f"{short(run.command, 140)}{ARROW}{short(told, WIDTH)}"


def _names(text: str) -> str:
    """The names of tests that failed, a few of them."""
    names = dict.fromkeys(
        next(group for group in m.groups() if group).strip() for m in _FAILED.finditer(text)
    )
    if not names:
        return ""
    some = list(names)[:NAMES]
    more = f" and {len(names) - NAMES} more" if len(names) > NAMES else ""
    return "; failed: " + ", ".join(short(name, 120) for name in some) + more


def _key(text: str) -> str:
    command, _, told = text.rpartition(ARROW)
    return same(command) + "|" + told.partition(":")[0]
