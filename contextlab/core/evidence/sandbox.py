"""Where work was done, as last known: directory, branch, environment, services that were started, the last commit."""

from __future__ import annotations

import re

from contextlab.core.compaction import Line
from contextlab.core.evidence.commands import Run, runs
from contextlab.core.evidence.record import Record
from contextlab.core.evidence.words import short
from contextlab.core.items import Item, Kind

_WRITTEN = re.compile(r"(?:Working directory: |<cwd>|Current directory: )([^\n<)]{1,300})")
_CHANGED = re.compile(r"(?:\A|&&|;|\n)\s*cd\s+(\"[^\"\n]+\"|'[^'\n]+'|[^\s;&|]+)")
_BRANCH = re.compile(
    r"^(?:On branch |## |Switched to (?:a new )?branch '|Current branch: |\* )([\w./-]{1,120}?)(?:'|\.\.\.|\s|$)",
    re.MULTILINE,
)
_ASKS_BRANCH = re.compile(r"\bgit\b.*\b(?:status|checkout|switch|branch|worktree|pull|fetch)\b")
_VENV = re.compile(
    r"(?:source|\.)\s+(\S+/bin/activate)|\bconda activate (\S+)|\b(?:nvm use|pyenv shell|uv venv) ?(\S*)"
)
_SERVICE = re.compile(
    r"\bdocker[ -]compose\b.*\bup\b|\bnohup\b|\bsystemctl start\b|\bservice \S+ start\b|\bdocker run\b.* -d\b|"
    r"[^&]&\s*\Z"
)
_COMMIT = re.compile(r"^\[([^\]\n]{1,120}) ([0-9a-f]{7,40})\] ", re.MULTILINE)
SERVICE = "service started: "
WIDTH = 300


def sandbox_state(record: Record, earlier: list[Line]) -> list[Line]:
    """The last known state of each kind, on top of an earlier summary's."""
    found = {_key(line.text): line for line in earlier}
    runs_by_call = {run.call.item.id: run for run in runs(record)}
    for item in record.items:
        if item.kind in (Kind.USER, Kind.SYSTEM):
            _from_text(item, found)
        elif item.kind == Kind.TOOL_CALL and item.id in runs_by_call:
            _from_run(runs_by_call[item.id], found)
    return list(found.values())


def _from_text(item: Item, found: dict[str, Line]) -> None:
    if written := _WRITTEN.search(item.text[:20_000]):
        _put(found, "working directory: " + short(written[1], WIDTH), (item.id,))


def _from_run(run: Run, found: dict[str, Line]) -> None:
    call, ids = run.call, run.call.ids
    directory = call.text("workdir", "cwd", "working_directory")
    changed = _CHANGED.findall(run.command[:2000])
    if changed and not run.failed:
        directory = changed[-1].strip("\"'") if changed[-1].startswith(("/", '"/', "'/", "~")) else directory
    if directory:
        _put(found, f"working directory: {short(directory, WIDTH)}", ids)
    if run.failed:
        return
    if _ASKS_BRANCH.search(run.command[:400]) and (branch := _BRANCH.search(call.output[:4000])):
        _put(found, f"branch: {branch[1]}", ids)
    if commit := _COMMIT.search(call.output[:4000]):
        _put(found, f"branch: {commit[1].split(' ')[0]}", ids)
        _put(found, f"last commit: {commit[2]}", ids)
    if venv := _VENV.search(run.command[:2000]):
        named = next((one for one in venv.groups() if one), venv[0])
        _put(found, "environment: " + short(named, WIDTH), ids)
    if call.arguments.get("run_in_background") is True or _SERVICE.search(run.command[:1000]):
        _put(found, SERVICE + short(run.command, 120), ids)


def _put(found: dict[str, Line], text: str, ids: tuple[str, ...]) -> None:
    key = _key(text)
    if key not in found or found[key].text != text:
        found.pop(key, None)
        found[key] = Line(text, ids)


def _key(text: str) -> str:
    """Of one kind only the last is known; services are all told."""
    return text if text.startswith(SERVICE) else text.partition(": ")[0]
