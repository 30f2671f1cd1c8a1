"""Facts of tool calls and their results: commands with how they ended, files read and edited, errors.

| from                            | fact                                                                          |
|---------------------------------|-------------------------------------------------------------------------------|
| a call with a command line      | command, with the exit code of its result; what its words name (tokens.py)     |
| a call with a path              | path                                                                          |
| what a call writes into a file  | settings of it only                                                           |
| a failed result                 | its lines that name an error                                                  |
| the output of a command         | lines that begin like an error                                                |
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import accumulate

from contextlab.core.audit.extract.found import Found
from contextlab.core.audit.kinds import COMMAND, ERROR, PATH
from contextlab.core.audit.language.normalise import path_parts
from contextlab.core.audit.language.pieces import marked
from contextlab.core.audit.language.words import content
from contextlab.core.audit.source import SourceItem
from contextlab.core.evidence.commands import exit_code
from contextlab.core.evidence.words import short

PATH_NAMES = ("file_path", "path", "filename", "notebook_path", "file", "target_file")
_OF_FILES = frozenset(PATH_NAMES)
_EDITED_BY = (*PATH_NAMES, "old_str", "old_string")
_OF_EDITORS = frozenset(_EDITED_BY)
_WRITTEN = ("new_string", "content", "file_text", "new_str", "insert_text", "patch", "input")
_COMMANDS = ("command", "cmd", "script")
EDITING = frozenset(
    "edit multiedit write notebookedit apply_patch str_replace create insert write_file edit_file create_file "
    "str_replace_editor str_replace_based_edit_tool update_file replace_in_file delete_file".split()
)
READING = frozenset("read view read_file open cat open_file notebookread".split())
_PATCHED = re.compile(r"^\*\*\* (?:Update|Add|Delete|Move to)(?: File)?: (.{1,300})$", re.MULTILINE)
_MARKS = ("rror", "ERR", "FAILED", "fatal:", "panic:", "xception:", "denied")
_ERROR_LINE = re.compile(
    r"\s*(?:\S{0,80}(?:Error|Exception)\b:? |(?:npm )?(?:ERR!|ERROR|error|fatal|panic|FAILED|E  )\b|error\[E\d+\]|"
    r"\S{1,160}:\d+(?::\d+)?:? (?:error|fatal)|.{0,60}\bERROR\b|.{0,60}\bERR_|.{0,60}(?:denied|エラー|错误))"
)
FAILS = re.compile(
    r"\b(?:error|exception|fail(?:ed|ure|ures|s)?|fatal|panic|denied|refused|not found|no such|cannot|can't|unable|"
    r"invalid|undefined|missing|timed out)\b|(?-i:[a-z]Error|Exception)\b|错误|失败|エラー|失敗",
    re.IGNORECASE,
)
FAILURES = (
    "error", "exception", "fail", "fatal", "panic", "denied", "refused", "not found", "no such", "cannot", "can't",
    "unable", "invalid", "undefined", "missing", "timed out", "错误", "失败", "エラー", "失敗",
)  # fmt: skip
"""One of these stands in every text, in one case, that tells of a failure."""
_TALLY = re.compile(
    r"(?i:exit code)|[\W_]*(?:\d+ \w+|[A-Z ]{3,40}\W+\Z|no errors?)|[\W_]{4}|[^\n]*\b(?:PASSED|passed|ok)\b"
)
"""Lines that count or head errors without naming one."""
_DIGITS = re.compile(r"\d+")
_TAGS = re.compile(r"</?tool_use_error>")
_CODES = re.compile(
    r"\b(?:E[A-Z]*_[A-Z0-9_]+|ERR_[A-Z0-9_]+|[A-Z]{1,5}\d{3,5}|[A-Z]\w*(?:Error|Exception))\b"
)
HEAD, TAIL, LINES = 2_000, 4_000, 6
"""Characters at either end of a failed result that are read for errors, and how many lines are taken."""


def command_line(call: SourceItem) -> str:
    """The command line of a call, empty for one that has none."""
    arguments = call.arguments
    if not _OF_EDITORS.isdisjoint(arguments) and call.argument(*_EDITED_BY):
        return ""
    given = next((arguments[name] for name in _COMMANDS if name in arguments), "")
    if isinstance(given, list) and given and all(isinstance(part, str) for part in given):
        return str(given[-1] if len(given) == 3 and given[1].startswith("-") else " ".join(given))
    return given.strip() if isinstance(given, str) else ""


def path_of(call: SourceItem) -> str:
    """The file that a call names, empty where it names none."""
    return "" if _OF_FILES.isdisjoint(call.arguments) else call.argument(*PATH_NAMES)


def written_by(call: SourceItem) -> str:
    """What a call writes."""
    return call.argument(*_WRITTEN)


def patched(call: SourceItem) -> list[str]:
    """The files of a patch."""
    if "*** " not in call.text:
        return []
    text = written_by(call) or (call.text if "*** Begin Patch" in call.text[:400] else "")
    if "*** " not in text:
        text = command_line(call)
        if "*** " not in text:
            return []
    return [
        name.strip() for name in _PATCHED.findall(text.replace("\\n", "\n") if "\n" not in text else text)
    ]


def is_editing(call: SourceItem) -> bool:
    """Whether a call changes the file that it names."""
    tool = _tool_of(call.tool)
    if tool in ("str_replace_editor", "str_replace_based_edit_tool", "edit") and "command" in call.arguments:
        return call.argument("command") != "view"
    return tool in EDITING


def is_reading(call: SourceItem) -> bool:
    """Whether a call reads the file that it names."""
    return _tool_of(call.tool) in READING or call.arguments.get("command") == "view"


@lru_cache(maxsize=512)
def _tool_of(name: str) -> str:
    """A tool's own name, without its server's."""
    return name.lower().rpartition("__")[2]


def code_of(text: str) -> int | None:
    """The exit code that a result names; most name none, and are not searched for one."""
    head, tail = text[:400], text[-600:]
    if "xit" in head or "xit" in tail or "eturncode" in head or "eturncode" in tail:
        return exit_code(text)
    return None


def command_facts(call: SourceItem, line: str, outcome: str, failed: bool) -> list[Found]:
    """The command of a call, its command line, with its exit code."""
    if not line:
        return []
    told = short(line, 160)
    code = code_of(outcome) if outcome else None
    ended = "" if code is None else str(code)
    if code is None and failed:
        ended = "failed"
    shown = (
        told if ended in ("", "0") else f"{told} (exit {ended})" if ended != "failed" else f"{told} (failed)"
    )
    start = max(0, call.text.find(line[:40]))
    return [Found(COMMAND, " ".join(line.split())[:400], ended, shown, start, start + len(line))]


def error_facts(item: SourceItem, reading: bool) -> list[Found]:
    """The errors that a result names."""
    text = item.text
    code = code_of(text)
    if item.failed or code not in (None, 0):
        return _lines(text)
    if reading:
        return []
    found: list[Found] = []
    seen: set[int] = set()
    for mark in _MARKS if text.isascii() else (*_MARKS, "エラー", "错误"):
        at = text.find(mark)
        tries = 0
        while at >= 0 and tries < 3 * LINES:
            tries += 1
            start = text.rfind("\n", 0, at) + 1
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            if (
                start not in seen
                and end - start < 2_000
                and not _TALLY.match(text[start : start + 120])
                and _ERROR_LINE.match(text, start, min(end, start + 240))
            ):
                seen.add(start)
                found.append(_error(text, start, end))
            at = text.find(mark, end)
        if len(found) >= LINES:
            break
    return found


def _lines(text: str) -> list[Found]:
    """The lines at both ends of a failed result that name an error; the last ones count most."""
    parts = [(0, len(text))] if len(text) <= HEAD + TAIL else [(0, HEAD), (len(text) - TAIL, len(text))]
    found: list[Found] = []
    for start, stop in reversed(parts):
        lines = text[start:stop].splitlines(keepends=True)
        starts = list(accumulate(map(len, lines[:-1]), initial=start)) if lines else []
        for number in reversed(_failing(text[start:stop], starts, start)):
            line, at = lines[number], starts[number]
            if 4 < len(line) < 2_000 and FAILS.search(line[:300]) and not _TALLY.match(line):
                found.append(_error(text, at, at + len(line)))
                if len(found) == LINES:
                    return found[::-1]
    return found[::-1]


def _failing(text: str, starts: list[int], begin: int) -> list[int]:
    """The numbers of the lines that may tell of a failure."""
    low = text.lower()
    if len(low) != len(text):
        return list(range(len(starts)))  # a letter became two: places are others
    return marked(low, FAILURES, [start - begin for start in starts])


def _error(text: str, start: int, end: int) -> Found:
    line = _TAGS.sub("", text[start:end]).strip()
    codes = _CODES.findall(line[:400])
    named = next((one for one in codes if one not in ("Error", "Exception", "ERROR")), "")
    words = content(line[:300]) | frozenset("=" + code.casefold() for code in codes if code == named)
    return Found(
        ERROR, named, _DIGITS.sub("0", line[:200]).casefold(), short(line, 200), start, end, words=words
    )  # fmt: skip


def path_found(text: str, name: str) -> Found | None:
    """A path that a call names."""
    if not path_parts(name) or len(name) > 400:
        return None
    start = max(0, text.find(name))
    return Found(PATH, name, "", name, start, start + len(name))
