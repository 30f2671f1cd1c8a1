"""Changed files with counts: from the arguments of editing tools, and from patches. Calls that failed change nothing.

| form                              | counted                                                                  |
|-----------------------------------|--------------------------------------------------------------------------|
| a path with a whole content       | written, its lines added                                                 |
| a path with an old and a new text | an edit; the lines of the new text added, those of the old one removed    |
| a path with a list of edits       | each of them                                                             |
| a patch (`*** Begin Patch`)       | each file that it names, its + and - lines; moved and deleted ones as such |
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from contextlab.core.compaction import Line
from contextlab.core.evidence.commands import command_of, exit_code, refused
from contextlab.core.evidence.record import Call, Record
from contextlab.core.summarising.file_tracking import is_path

_PATHS = ("file_path", "path", "filename", "filepath", "file", "notebook_path", "target_file")
_OLD = ("old_string", "old_str", "old_text", "search", "oldText")
_NEW = ("new_string", "new_str", "new_text", "replace", "insert_text", "new_source", "replacement", "newText")
_WHOLE = ("content", "file_text", "contents", "text", "code_edit")
_EDITING = re.compile(
    r"write|edit|create|replace|insert|patch|save|append|update|modify|delete|remove|move", re.IGNORECASE
)
_VIEWING = ("view", "read", "open", "list", "search", "find", "grep", "undo_edit")
_FILE = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$")
_MOVE = re.compile(r"^\*\*\* Move to: (.+)$")
_COUNTS = re.compile(r"\A(?P<path>.+) \((?P<what>[^()]*)\)\Z", re.DOTALL)
_EDITS, _LINES = re.compile(r"(\d+) edits?"), re.compile(r"\+(\d+) −(\d+) lines")


@dataclass(slots=True)
class Artifact:
    """A file with what was done to it."""

    path: str
    items: tuple[str, ...] = ()
    written: bool = False
    edits: int = 0
    added: int = 0
    removed: int = 0
    fate: str = ""
    """deleted, or moved to somewhere."""

    @classmethod
    def read(cls, line: Line) -> Artifact:
        """The artifact of a line that this module wrote earlier; of another's the path is all there is."""
        found = _COUNTS.match(line.text)
        if not found:
            return cls(line.text, line.items)
        what = found["what"]
        one = cls(found["path"], line.items, written="written" in what)
        if edits := _EDITS.search(what):
            one.edits = int(edits[1])
        if lines := _LINES.search(what):
            one.added, one.removed = int(lines[1]), int(lines[2])
        one.fate = next((part for part in what.split(", ") if part.startswith(("deleted", "moved"))), "")
        return one

    def line(self) -> Line:
        """As a line."""
        parts = ["written"] if self.written else []
        if self.edits:
            parts.append(f"{self.edits} edit{'s' * (self.edits != 1)}")
        if self.added or self.removed:
            parts.append(f"+{self.added} −{self.removed} lines")
        parts += [self.fate] if self.fate else []
        return Line(f"{self.path} ({', '.join(parts)})" if parts else self.path, self.items)


@dataclass(slots=True, frozen=True)
class Change:
    """What one call did to one file."""

    path: str
    written: bool = False
    edits: int = 0
    added: int = 0
    removed: int = 0
    fate: str = ""


def changed_artifacts(
    record: Record, earlier: list[Line], leaving: Container[str] | None = None
) -> list[Line]:
    """Every file that was changed, in order of its last change, on top of an earlier summary's counts.

    `leaving`: only calls with these ids are counted. Those that stay are counted when they leave: what is stored of
    them now would be added to them then.
    """
    found = {one.path: one for one in map(Artifact.read, earlier)}
    for call in record.calls:
        if leaving is not None and call.item.id not in leaving:
            continue
        if call.failed or call.result is None or refused(call) or exit_code(call.output) not in (None, 0):
            continue
        for change in changes_of(call):
            one = found.pop(change.path, None) or Artifact(change.path)
            one.written = one.written or change.written
            one.edits += change.edits
            one.added += change.added
            one.removed += change.removed
            one.fate = change.fate
            one.items = (*one.items, call.item.id)[-6:]
            found[change.path] = one
    return [one.line() for one in found.values()]


def changes_of(call: Call) -> Iterator[Change]:
    """What a call changes, as its arguments say."""
    if (patch := _patch_in(call)) is not None:
        yield from _of_patch(patch)
        return
    action = call.text("command")
    path = call.text(*_PATHS)
    if not is_path(path) or action in _VIEWING:
        return
    if not _EDITING.search(action or call.tool):
        return
    edits = call.arguments.get("edits")
    if isinstance(edits, list):
        pairs = [_texts(one) for one in edits if isinstance(one, Mapping)]
    else:
        pairs = [_texts(call.arguments)]
    yield from _of_texts(path, call, [pair for pair in pairs if pair is not None])


def _of_texts(path: str, call: Call, pairs: list[tuple[str, str]]) -> Iterator[Change]:
    if pairs:
        added = sum(_lines(new) for _, new in pairs)
        yield Change(path, edits=len(pairs), added=added, removed=sum(_lines(old) for old, _ in pairs))
    elif whole := call.text(*_WHOLE):
        yield Change(path, written=True, added=_lines(whole))
    elif re.search(r"delete|remove", call.tool, re.IGNORECASE):
        yield Change(path, fate="deleted")
    elif re.search(r"edit|write|create|patch", call.tool, re.IGNORECASE):
        yield Change(path, edits=1)


def _texts(given: Mapping[str, Any]) -> tuple[str, str] | None:
    """Old and new text of an edit, None where there is neither."""
    old = next((given[name] for name in _OLD if isinstance(given.get(name), str)), None)
    new = next((given[name] for name in _NEW if isinstance(given.get(name), str)), None)
    return None if old is None and new is None else (old or "", new or "")


def _patch_in(call: Call) -> str | None:
    given = call.text("patch", "input", "patchText", "diff")
    for text in (given, command_of(call), call.item.text if not call.arguments else ""):
        if "*** Begin Patch" in text:
            return text
    return None


def _of_patch(patch: str) -> Iterator[Change]:
    path, did, added, removed, fate = "", "", 0, 0, ""
    for line in [*patch.splitlines(), "*** Update File: "]:
        begins = _FILE.match(line) or (line == "*** Update File: ")
        if begins and path:
            yield Change(path, did == "Add", int(did == "Update"), added, removed, fate)
        if found := _FILE.match(line):
            did, path, added, removed = found[1], _path(found[2]), 0, 0
            fate = "deleted" if did == "Delete" else ""
        elif found := _MOVE.match(line):
            fate = f"moved to {_path(found[1]) or 'elsewhere'}"
        elif line.startswith("+"):
            added += 1
        elif line.startswith("-"):
            removed += 1


def _path(text: str) -> str:
    """A path of a patch, empty where it can be none."""
    path = text.strip()
    return path if is_path(path) else ""


def _lines(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n") and bool(text))
