"""Commands that failed: by exit code where the result says one, by the result's error mark elsewhere."""

from __future__ import annotations

import re
from dataclasses import dataclass

from contextlab.core.compaction import Line
from contextlab.core.evidence.record import Call, Record
from contextlab.core.evidence.words import same, short

WIDTH = 160
HEAD, TAIL = 400, 600
"""Characters at either end of a result in which its exit code is looked for."""
PASSED_LATER = " (later passed)"

_EXIT = (
    re.compile(r"\A\s*Exit code:? (-?\d{1,6})\b"),
    re.compile(r"^Process exited with code (-?\d{1,6})\b", re.MULTILINE),
    re.compile(r"<(?:returncode|exit_code)>\s*(-?\d{1,6})\s*</"),
    re.compile(r"\"(?:exit_code|exitCode|returncode)\"\s*:\s*(-?\d{1,6})\b"),
    re.compile(
        r"\[?(?:The )?command (?:completed|finished|exited|failed) with exit code:? (-?\d{1,6})",
        re.IGNORECASE,
    ),
    re.compile(
        r"^\[?(?:exit[ _]code|exit status|returncode)[:= ]+(-?\d{1,6})\]?\s*\Z", re.MULTILINE | re.IGNORECASE
    ),
)
_RUNNING = re.compile(r"Process running with session ID (\d+)")
_REFUSED = re.compile(
    r"\A\s*(?:<tool_use_error>\s*)?(?:The user doesn't want to (?:proceed|take this action)|User rejected)"
)
_TELLS = re.compile(
    r"\b(?:error|exception|failed|failure|fatal|panic|denied|refused|not found|no such|cannot|can't|unable|invalid|"
    r"undefined|missing|timed? ?out|traceback|abort\w*)\b|错误|失败|エラー|失敗|Fehler",
    re.IGNORECASE,
)
_TAG = re.compile(r"</?tool_use_error>")
_NOISE = re.compile(
    r"\A(?:exit code|chunk id|wall time|process exited|original token count|output:|traceback \()",
    re.IGNORECASE,
)
_LOOKING = re.compile(r"(?:rg|grep|egrep|ag|git grep|git diff|diff|test|\[|which|command -v|pgrep|cmp)\b|\[ ")
"""Commands whose exit code 1 is an answer: nothing found, or different."""
_FAILURE = re.compile(r"\A(?:exit -?\d+|failed): (.+?)(?: — .*)?\Z", re.DOTALL)


@dataclass(slots=True, frozen=True)
class Run:
    """A command that was run, with how it ended. `code` is None where the log does not say."""

    command: str
    call: Call
    code: int | None
    failed: bool


def runs(record: Record) -> list[Run]:
    """Every shell command with its outcome; what is typed into a running one belongs to it."""
    found: list[Run] = []
    sessions: dict[str, str] = {}
    for call in record.calls:
        command = command_of(call) or sessions.get(str(call.arguments.get("session_id")), "")
        if not command or call.result is None:
            continue
        code = exit_code(call.output)
        if started := _RUNNING.search(call.output[:HEAD]):
            sessions[started.group(1)] = command
        failed = code != 0 if code is not None else call.failed
        if code == 1 and _LOOKING.match(command):
            failed = False
        found.append(Run(command, call, code, failed and not refused(call)))
    return found


def failed_commands(record: Record, earlier: list[Line]) -> list[Line]:
    """Commands and other calls that failed, the last failure of each; those that passed later say so."""
    lines: dict[str, Line] = {key_of(line.text): line for line in earlier}
    shell = {run.call.item.id: run for run in runs(record)}
    for call in record.calls:
        run = shell.get(call.item.id)
        what = short(run.command, WIDTH) if run else _named(call)
        key = same(what)
        if run.failed if run else (call.failed and not refused(call)):
            lines.pop(key, None)
            lines[key] = Line(_told(run, what, call), call.ids)
        elif key in lines and call.result is not None and not lines[key].text.endswith(PASSED_LATER):
            lines[key] = Line(lines[key].text + PASSED_LATER, (*lines[key].items, call.result.id))
    return sorted(lines.values(), key=lambda line: not line.text.endswith(PASSED_LATER))


def key_of(text: str) -> str:
    """What two lines about one command have in common."""
    found = _FAILURE.match(text.removesuffix(PASSED_LATER))
    return same(found.group(1) if found else text)


def command_of(call: Call) -> str:
    """The command line of a call, empty for a call that is none."""
    if call.text("path", "file_path", "old_str", "old_string"):
        return ""  # editors have an argument `command`, too
    given = call.arguments.get("command", call.arguments.get("cmd", call.arguments.get("script")))
    if isinstance(given, list) and given and all(isinstance(part, str) for part in given):
        return str(given[-1] if len(given) == 3 and given[1].startswith("-") else " ".join(given))
    return given.strip() if isinstance(given, str) else ""


def exit_code(output: str) -> int | None:
    """The exit code that a result names, None where it names none."""
    for part in (output[:HEAD], output[-TAIL:]):
        for pattern in _EXIT:
            if found := pattern.search(part):
                return int(found.group(1))
    return None


def refused(call: Call) -> bool:
    """Whether a person did not let the call happen: no failure of the command."""
    return bool(_REFUSED.match(call.output[:HEAD]))


def _told(run: Run | None, what: str, call: Call) -> str:
    code = run.code if run else None
    why = _why(call.output)
    how = f"exit {code}" if code is not None else "failed"
    return f"{how}: {what}" + (f" — {why}" if why else "")


def _named(call: Call) -> str:
    about = call.text("file_path", "path", "filename", "query", "pattern", "url", "skill")
    return short(f"{call.tool} {about}".strip(), WIDTH)


def _why(output: str) -> str:
    """The line of a result that says best what went wrong: the last that names an error, else the last."""
    lines = [_TAG.sub("", line).strip() for line in output[-4000:].splitlines()]
    lines = [line for line in lines if line and not _NOISE.match(line)]
    telling = [line for line in lines if _TELLS.search(line[:400])]
    found = telling or lines
    return short(found[-1], WIDTH) if found else ""
